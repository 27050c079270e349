use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::systems::{Set, System, Tier};
use synth::artifact::Changes;
use synth::document::digest;
use synth::kind::{NamedPolicy, Rules as _, VerbResult};
use synth::multiresource::MultiresourceKind;
use synth::multiresource::artifact::{Objective, Preemption};
use synth::multiresource::bound::lower_bound;
use synth::multiresource::optimum::{Ended, OptimumLimits, Problem, optimum};
use synth::multiresource::simulator::{Contender, Run};
use synth::multiresource::synthesis::{
    CandidateLog, ChoiceLog, ChoiceOptions, Families, Steadiness, SynthesisOptions,
};
use synth::multiresource::verbs::family::PolicySearch;
use synth::multiresource::verbs::solve::{SolveRequest, Solved, solve};
use synth::simulation::sweep::Information;
use synth::simulation::{Estimate, Health, Ranking, Settings};

pub(super) const CHOICE: &str = "choice";

/// The number of events of the first run is divided by `FIRST`. There is no second run if a policy
/// is unstable, if it is slower than the best policy by at least `BEHIND`, or if it has not
/// converged and the mean time in the system is more than `FAR` times as long as the minimum.
const FIRST: u64 = 10;
const BEHIND: f64 = 1.25;
const FAR: f64 = 2.0;

/// If a policy has lost, this is checked again with other seeds and with `AGAIN` times the events.
pub(super) const AGAIN: u64 = 4;

/// A policy has lost if it is certainly worse by more than this value.
const MATTERS: f64 = 0.02;

/// Separates the random streams of the measurements from those of the synthesis.
const APART: u64 = 1000;

const ROWS: usize = 4_000;

/// The parameters of a measurement. Work is a number of events or updates, and not a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Conditions {
    pub bench: String,
    pub set: Set,
    pub preemption: Preemption,
    /// The number of First-Fit events for the selection. If this is 0, there is no selection.
    pub budget: u64,
    pub events: u64,
    /// The maximum number of updates of a state in the dynamic program.
    pub updates: u64,
    /// The seed for the selection. The seed for the runs is different.
    pub seed: u64,
    /// The additional policies, and the digest of each policy file.
    pub policies: Vec<(String, Option<String>)>,
}

/// The result for a single system, which is a line of the output.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Line {
    pub system: String,
    pub tier: Tier,
    pub digest: String,
    pub about: String,
    pub load: f64,
    /// The bounds on the optimum from the dynamic program, if it has converged in the exact tier.
    pub optimum: Option<[f64; 2]>,
    /// The lower bound that is proved without the dynamic program, as a time.
    pub bound: f64,
    pub runs: Vec<PolicyRun>,
    /// The longer runs of the policies that seem to have lost and of the better ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<PolicyRun>,
    /// The families from which the policy was selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<FamilyResult>,
    pub terms: Conditions,
}

/// The best policy of a single family, using the runs of the selection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct FamilyResult {
    pub family: String,
    /// The mean response time divided by that of the selected policy, if it has converged.
    pub ratio: Option<f64>,
}

/// The result for a policy on this system.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct PolicyRun {
    pub policy: String,
    /// The name of its rule. For the selected policy, this is the rule that was selected.
    pub rule: String,
    /// The information about jobs that is used by the policy.
    pub knows: Information,
    /// Whether the run has converged, or `None` if the policy could not be run.
    pub health: Option<Health>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The mean response time if the run has converged, as a time.
    pub response: Option<Estimate>,
    /// The mean of each of the replications.
    pub replications: Vec<Option<f64>>,
    /// The mean time in the system in the second half of the run, using Little's law.
    pub stay: f64,
    pub events: u64,
}

impl Conditions {
    /// Returns `true` if this is the selected policy or one of the additional policies.
    pub(super) fn entered(&self, policy: &str) -> bool {
        policy == CHOICE || self.policies.iter().any(|(own, _)| own == policy)
    }
}

impl Line {
    /// Returns the longest run of a policy, and the runs that it is compared with.
    pub(super) fn considered<'a>(&'a self, own: &'a PolicyRun) -> (&'a PolicyRun, &'a [PolicyRun]) {
        let again = self.again.iter().find(|ran| ran.policy == own.policy);
        match again.filter(|_| self.terms.entered(&own.policy)) {
            Some(longer) => (longer, &self.again),
            None => (own, &self.runs),
        }
    }

    /// Returns the best policy that this policy has lost to, with the lower end of the ratio.
    pub(super) fn lost<'a>(&'a self, own: &'a PolicyRun) -> Option<(&'a PolicyRun, Option<f64>)> {
        let (own, runs) = self.considered(own);
        let mean = |ran: &PolicyRun| ran.response.map_or(f64::INFINITY, |own| own.mean);
        ahead(runs, own).into_iter().max_by(|a, b| {
            let by_least = a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0));
            by_least.then(mean(b.0).total_cmp(&mean(a.0)))
        })
    }
}

impl PolicyRun {
    /// If the policy is significantly slower, this returns the lower end of the ratio of the means.
    pub(super) fn surely_behind(&self, other: &PolicyRun) -> Option<f64> {
        let both = [self, other].map(|own| (own.policy.as_str(), &own.replications[..]));
        let ranking = Ranking::new(&both);
        let pair = ranking.pair(both[0].0, both[1].0)?;
        (pair.slower == self.policy && pair.apart).then_some(pair.least)
    }
}

pub(super) fn measure(
    system: &System,
    terms: &Conditions,
    changes: Changes,
    interrupt: &Arc<AtomicBool>,
    listener: Listener<'_>,
) -> VerbResult<Line> {
    let fleet = &system.fleet;
    let preemption = match fleet.one_server() {
        Some(_) => terms.preemption,
        None => Preemption::None,
    };
    let (bounds, (runs, again), families) = std::thread::scope(|scope| {
        let bounds = scope.spawn(|| bounds(system, preemption, terms, interrupt));
        let (entrants, families) =
            entrants(system, preemption, terms, changes, interrupt, listener);
        let settings = Settings {
            seed: terms.seed + APART,
            events: terms.events,
            precision: 0.0,
            common_sizes: true,
            percentiles: false,
            interrupt: interrupt.clone(),
            ..Settings::default()
        };
        let runs = run(&entrants, system, &settings, terms, listener);
        listener(&format!("{}: lower bound", system.name));
        let bounds = bounds.join().map_err(|_| "there is no lower bound")?;
        VerbResult::Ok((bounds, runs, families))
    })?;
    Ok(Line {
        system: system.name.clone(),
        tier: system.tier,
        digest: digest(&system.text),
        about: system.about.clone(),
        load: system.load,
        optimum: bounds.0,
        bound: bounds.1,
        runs,
        again,
        families,
        terms: terms.clone(),
    })
}

fn bounds(
    system: &System,
    preemption: Preemption,
    terms: &Conditions,
    interrupt: &AtomicBool,
) -> (Option<[f64; 2]>, f64) {
    let fleet = &system.fleet;
    let limits = OptimumLimits {
        states: 5_000_000,
        updates: terms.updates,
        ..OptimumLimits::default()
    };
    let server = fleet.one_server().filter(|_| system.tier == Tier::Exact);
    let problem = Problem::mean(preemption);
    let found = server.and_then(|s| optimum(s, problem, &limits, interrupt, |_| ()).ok());
    let closed = found.filter(|found| found.ended == Ended::Close);
    let is_over = || interrupt.load(Ordering::Relaxed);
    let bound = lower_bound(fleet, Objective::Mean, preemption, ROWS, &is_over);
    (
        closed.map(|own| [own.lower, own.upper_in_box]),
        bound.map_or(0.0, |own| own.bound),
    )
}

pub(super) type Listener<'a> = &'a mut dyn FnMut(&str);

type Entrant = (String, Result<Contender, String>);

/// Returns the policies to compare, and the families of the selection. In addition to the selected
/// policy, there is the policy that is found by analysis, and all rules that only know the types.
fn entrants(
    system: &System,
    preemption: Preemption,
    terms: &Conditions,
    changes: Changes,
    interrupt: &Arc<AtomicBool>,
    listener: Listener<'_>,
) -> (Vec<Entrant>, Vec<FamilyResult>) {
    let fleet = &system.fleet;
    let mut families = Vec::new();
    let mut synthesized = |sought, budget| {
        let request = SolveRequest {
            options: SynthesisOptions::new(preemption),
            sought,
            choice: ChoiceOptions {
                interrupt: interrupt.clone(),
                ..ChoiceOptions::new(Families::All, budget, terms.seed)
            },
        };
        let mut said = |what: &str| listener(&format!("{}: {what}", system.name));
        match solve(fleet, &request, &mut said) {
            Ok(Solved::Policy(found)) => {
                families.extend(found.1.choice.iter().flat_map(alone));
                Ok(Contender::from(found.0.artifact().policy.clone()))
            }
            Ok(Solved::NoPolicy(why)) => Err(why),
            Ok(_) => Err("no policy was found".into()),
            Err(why) => Err(why.to_string()),
        }
    };
    let mut entrants = Vec::new();
    if terms.budget > 0 {
        let chosen = synthesized(PolicySearch::Among(Families::All), terms.budget);
        entrants.push((CHOICE.to_owned(), chosen));
    }
    if let Ok(analysed) = synthesized(PolicySearch::Analysed, 1) {
        entrants.push((analysed.name().into(), Ok(analysed)));
    }
    let may = |rule: &Contender| preemption == Preemption::Full || !rule.preempts();
    let rules = Contender::rules().iter();
    let rules = rules.filter_map(|rule| Contender::named(rule.name, fleet).ok());
    let rules = rules.filter(|rule| may(rule) && rule.build_policy(fleet).is_ok());
    let rules = rules.filter(|rule| rule.information_about(fleet) == Information::Means);
    entrants.extend(rules.map(|rule| (rule.name().into(), Ok(rule))));
    for (name, _) in &terms.policies {
        // A policy that is for another system or that is more powerful is ignored.
        let policy = NamedPolicy::<MultiresourceKind>::resolve(name, Some(fleet), changes).ok();
        let fits = |own: &NamedPolicy<_>| MultiresourceKind::fits(own, fleet).is_ok();
        let policy = policy.filter(|own| may(&own.rule) && fits(own));
        entrants.retain(|(own, _)| own != name);
        entrants.extend(policy.map(|own| (own.name, Ok(own.rule))));
    }
    (entrants, families)
}

fn alone(choice: &ChoiceLog) -> Vec<FamilyResult> {
    let alone = |(n, own): (usize, &CandidateLog)| FamilyResult {
        family: own.name.clone(),
        ratio: match own.outcome {
            Steadiness::Steady if n == 0 => Some(1.0),
            Steadiness::Steady => own.ratio.map(|ratio| ratio.mean).or(own.at_least),
            _ => None,
        },
    };
    choice.candidates.iter().enumerate().map(alone).collect()
}

/// Runs all policies with the same jobs. After the short runs, there are full runs of the policies
/// that may be the best. If a policy seems to have lost, this is checked using longer runs.
fn run(
    entrants: &[Entrant],
    system: &System,
    settings: &Settings,
    terms: &Conditions,
    listener: Listener<'_>,
) -> (Vec<PolicyRun>, Vec<PolicyRun>) {
    let mut simulate = |own: &Entrant, events, later| {
        listener(&format!("{}: simulating {}", system.name, own.0));
        let settings = Settings {
            events,
            seed: settings.seed + later,
            ..settings.clone()
        };
        ran(own, system, &settings)
    };
    let first = settings.events.div_ceil(FIRST);
    let mut runs: Vec<PolicyRun> = entrants.iter().map(|own| simulate(own, first, 0)).collect();
    let settled = runs.iter().filter(|ran| ran.response.is_some());
    let mean = |ran: &PolicyRun| ran.response.map_or(f64::NAN, |own| own.mean);
    let best = settled.min_by(|a, b| mean(a).total_cmp(&mean(b))).cloned();
    let is_stable = |ran: &&PolicyRun| !matches!(ran.health, None | Some(Health::Unstable));
    let stays = runs.iter().filter(is_stable).map(|ran| ran.stay);
    let least = stays.fold(f64::INFINITY, f64::min);
    let may_win = |ran: &PolicyRun| match ran.health {
        None | Some(Health::Unstable) => false,
        Some(Health::Unsettled) => ran.stay <= FAR * least,
        Some(Health::Settled) => {
            let behind = best.as_ref().and_then(|best| ran.surely_behind(best));
            behind.is_none_or(|ratio| ratio <= BEHIND)
        }
    };
    for (ran, entrant) in runs.iter_mut().zip(entrants) {
        if may_win(ran) || entrant.0 == CHOICE {
            *ran = simulate(entrant, settings.events, 0);
        }
    }
    let suspects = apparent_losers(&runs, terms);
    let again = entrants.iter();
    let again = again.filter(|own| suspects.contains(&own.0.as_str()));
    let again = again.map(|own| simulate(own, AGAIN * settings.events, 1));
    let again = again.collect();
    (runs, again)
}

pub(super) fn apparent_losers<'a>(runs: &'a [PolicyRun], terms: &Conditions) -> Vec<&'a str> {
    let mut suspects = Vec::new();
    for own in runs.iter().filter(|own| terms.entered(&own.policy)) {
        let ahead = ahead(runs, own);
        suspects.extend(ahead.iter().map(|(other, _)| other.policy.as_str()));
        suspects.extend((!ahead.is_empty()).then_some(own.policy.as_str()));
    }
    suspects
}

fn ran((policy, contender): &Entrant, system: &System, settings: &Settings) -> PolicyRun {
    let rule = contender.as_ref();
    let run = rule.map_err(Clone::clone).and_then(|rule| {
        let run = rule.simulate_on(&system.fleet, settings, |_| ());
        run.map_err(|why| why.to_string())
    });
    let knows = rule.map(|rule| rule.information_about(&system.fleet));
    let failure = run.as_ref().err().cloned();
    let run = run.ok();
    let rate = system.fleet.envelope().total_arrival_rate();
    let stay = |run: &Run| {
        let late = run.types.iter().flat_map(|own| &own.late);
        late.sum::<f64>() / run.replications.len().max(1) as f64 / rate
    };
    PolicyRun {
        policy: policy.clone(),
        rule: match rule {
            Ok(Contender::Policy(policy)) => policy.followed().name().into(),
            Ok(rule) => rule.name().into(),
            Err(_) => String::new(),
        },
        knows: knows.unwrap_or_default(),
        health: run.as_ref().map(|run| run.health),
        failure,
        response: run.as_ref().and_then(|run| run.mean_response),
        stay: run.as_ref().map_or(0.0, stay),
        events: run.as_ref().map_or(0, |run| run.events),
        replications: run.map_or(Vec::new(), |run| run.replications),
    }
}

/// Returns the policies that are certainly faster by `MATTERS` without using more information, with
/// the lower end of the ratio. If this policy has not converged, all converged policies are faster.
pub(super) fn ahead<'a>(
    runs: &'a [PolicyRun],
    own: &PolicyRun,
) -> Vec<(&'a PolicyRun, Option<f64>)> {
    let settled = rivals(runs, own).map(|(ran, _)| ran);
    if own.response.is_none() {
        return settled.map(|ran| (ran, None)).collect();
    }
    let surely = settled.filter_map(|ran| {
        let least = own.surely_behind(ran)?;
        (least > 1.0 + MATTERS).then_some((ran, Some(least)))
    });
    surely.collect()
}

pub(super) fn rivals<'a>(
    runs: &'a [PolicyRun],
    own: &PolicyRun,
) -> impl Iterator<Item = (&'a PolicyRun, f64)> {
    let others = runs.iter().filter(|ran| ran.policy != own.policy);
    let alike = others.filter(|ran| (ran.knows as u8) <= own.knows as u8);
    alike.filter_map(|ran| Some((ran, ran.response?.mean)))
}
