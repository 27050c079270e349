//! What is measured on one system: the optimum or a bound, the choice, and all rules on the same jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::systems::{Set, System, Tier};
use synth::artifact::Changes;
use synth::kind::{NamedPolicy, Rules as _, VerbResult};
use synth::multiresource::MultiresourceKind;
use synth::multiresource::artifact::{Objective, Preemption};
use synth::multiresource::bound::lower_bound;
use synth::multiresource::optimum::{Ended, OptimumLimits, Problem, optimum};
use synth::multiresource::simulator::{Contender, Run};
use synth::multiresource::synthesis::{
    CandidateLog, ChoiceLog, ChoiceOptions, Families, Steadiness, SynthesisOptions,
};
use synth::multiresource::verbs::family::Sought;
use synth::multiresource::verbs::solve::{SolveRequest, Solved, solve};
use synth::simulation::sweep::Knows;
use synth::simulation::{Estimate, Health, Ranking, Settings};

/// What the choice of this program is called among policies.
pub(super) const CHOICE: &str = "choice";

/// A first run has this part of the events; who is surely so many times slower than the best, or runs away, has no second one.
const FIRST: u64 = 10;
const BEHIND: f64 = 1.25;

/// Nor has who has not settled in it, while jobs stayed so many times as long as where they stayed least.
const FAR: f64 = 2.0;

/// A loss is confirmed by runs that are so many times as long, with other seeds, before it is named.
pub(super) const AGAIN: u64 = 4;

/// Who is surely worse by more than this is lost.
const MATTERS: f64 = 0.02;

/// Seeds of the runs that judge are so far from those of the choice.
const APART: u64 = 1000;

/// Rows of the program of a bound by cells, and states of the dynamic program.
const ROWS: usize = 4_000;
const STATES: usize = 5_000_000;

/// What decides the numbers beside the system: all of it is counted in events and updates, and nothing in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Terms {
    /// The name and version of the bench.
    pub bench: String,
    /// The set.
    pub set: Set,
    /// What policies on one server may do to running jobs.
    pub preemption: Preemption,
    /// Work of the choice, in events of First-Fit with few types; none: it is left out.
    pub budget: u64,
    /// Events a policy.
    pub events: u64,
    /// Updates of states in the dynamic program at most.
    pub updates: u64,
    /// Seed of the choice; that of the runs is another.
    pub seed: u64,
    /// Further entrants, each with the digest of its file.
    pub policies: Vec<(String, Option<String>)>,
}

/// What was measured on one system: a line of the results.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Line {
    /// The name of the system.
    pub system: String,
    /// Its tier.
    pub tier: Tier,
    /// What identifies its document.
    pub digest: String,
    /// What it is, in words.
    pub about: String,
    /// Its load ρ.
    pub load: f64,
    /// Of the exact tier: the least mean response time that any policy can have, between these two, where the dynamic program ended
    /// with bounds as close as required.
    pub optimum: Option<[f64; 2]>,
    /// No policy has less: what was proved of it without the dynamic program \[time\].
    pub bound: f64,
    /// The policies.
    pub runs: Vec<Ran>,
    /// Longer runs of the entrants that look lost, and of those that are ahead of them: what these say counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Ran>,
    /// The families that the choice was among, each at its best.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<Alone>,
    /// What decided the numbers.
    pub terms: Terms,
}

/// What a family would have had alone, by the runs of the choice.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Alone {
    /// As people call it.
    pub family: String,
    /// How many times as long jobs stay as under the choice; none where it has not settled, or no run was compared.
    pub ratio: Option<f64>,
}

/// A policy on a system.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Ran {
    /// As it is named.
    pub policy: String,
    /// The rule that it is; for the choice what was chosen.
    pub rule: String,
    /// What it knows of jobs.
    pub knows: Knows,
    /// Whether its means may be believed; none where it failed.
    pub health: Option<Health>,
    /// Why there is no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The mean response time \[time\], where it has settled.
    pub response: Option<Estimate>,
    /// That of each replication.
    pub replications: Vec<Option<f64>>,
    /// How long jobs stay by what was there in the second half of the run (Little's law), settled or not \[time\].
    pub stay: f64,
    /// Events of the run.
    pub events: u64,
}

impl Terms {
    /// Whether a policy is the choice or was named: of these losses are confirmed, and named.
    pub(super) fn entered(&self, policy: &str) -> bool {
        policy == CHOICE || self.policies.iter().any(|(own, _)| own == policy)
    }
}

impl Line {
    /// Returns the runs that count for a policy, its own first: the longer ones where it ran again.
    pub(super) fn considered<'a>(&'a self, own: &'a Ran) -> (&'a Ran, &'a [Ran]) {
        let again = self.again.iter().find(|ran| ran.policy == own.policy);
        match again.filter(|_| self.terms.entered(&own.policy)) {
            Some(longer) => (longer, &self.again),
            None => (own, &self.runs),
        }
    }

    /// Returns the policy that one is lost to by most, and by how much at least.
    pub(super) fn lost<'a>(&'a self, own: &'a Ran) -> Option<(&'a Ran, Option<f64>)> {
        let (own, runs) = self.considered(own);
        let mean = |ran: &Ran| ran.response.map_or(f64::INFINITY, |own| own.mean);
        let order = |a: &(&Ran, Option<f64>), b: &(&Ran, Option<f64>)| {
            let by_least = a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0));
            by_least.then(mean(b.0).total_cmp(&mean(a.0)))
        };
        ahead(runs, own).into_iter().max_by(order)
    }
}

impl Ran {
    /// Returns how many times as long jobs stay as under another policy, where the difference is sure: at least so many.
    pub(super) fn surely_behind(&self, other: &Ran) -> Option<f64> {
        let both = [self, other].map(|own| (own.policy.as_str(), &own.replications[..]));
        let ranking = Ranking::new(&both);
        let pair = ranking.pair(both[0].0, both[1].0)?;
        (pair.slower == self.policy && pair.apart).then_some(pair.least)
    }
}

/// Measures a system.
///
/// # Errors
/// When the search for a bound ends in a fault of the program.
pub(super) fn measure(
    system: &System,
    terms: &Terms,
    changes: Changes,
    interrupt: &Arc<AtomicBool>,
    listener: Listener<'_>,
) -> VerbResult<Line> {
    let fleet = &system.fleet;
    // Rules over a fleet stop nothing.
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
        listener(&format!("{}: what no policy can beat", system.name));
        let bounds = bounds.join().map_err(|_| "a bound was not found")?;
        VerbResult::Ok((bounds, runs, families))
    })?;
    Ok(Line {
        system: system.name.clone(),
        tier: system.tier,
        digest: system.digest(),
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

/// Returns the optimum, if it is sought and found, and the best bound without it \[time\].
fn bounds(
    system: &System,
    preemption: Preemption,
    terms: &Terms,
    interrupt: &AtomicBool,
) -> (Option<[f64; 2]>, f64) {
    let fleet = &system.fleet;
    let limits = OptimumLimits {
        states: STATES,
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
        bound.map_or(0.0, |bound| bound.least),
    )
}

/// Is notified of progress.
pub(super) type Listener<'a> = &'a mut dyn FnMut(&str);

/// A policy that runs: its name, or why it does not.
type Entrant = (String, Result<Contender, String>);

/// Returns the choice, the policy by analysis, all rules that go by types alone and can serve the system, and the further ones; and
/// the families that the choice was among.
fn entrants(
    system: &System,
    preemption: Preemption,
    terms: &Terms,
    changes: Changes,
    interrupt: &Arc<AtomicBool>,
    listener: Listener<'_>,
) -> (Vec<Entrant>, Vec<Alone>) {
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
            Ok(Solved::Broken(why)) => Err(why),
            Ok(Solved::Overloaded(_) | Solved::Unkept(_)) => Err("no policy was found".into()),
            Err(why) => Err(why.to_string()),
        }
    };
    let mut entrants = Vec::new();
    if terms.budget > 0 {
        let chosen = synthesized(Sought::Among(Families::All), terms.budget);
        entrants.push((CHOICE.to_owned(), chosen));
    }
    if let Ok(analysed) = synthesized(Sought::Analysed, 1) {
        entrants.push((analysed.name().into(), Ok(analysed)));
    }
    let may = |rule: &Contender| preemption == Preemption::Full || !rule.preempts();
    let rules = Contender::rules().iter();
    let rules = rules.filter_map(|rule| Contender::named(rule.name, fleet).ok());
    let rules = rules.filter(|rule| may(rule) && rule.knows_of(fleet) == Knows::Means);
    let rules = rules.filter(|rule| rule.rule(fleet).is_ok());
    entrants.extend(rules.map(|rule| (rule.name().into(), Ok(rule))));
    for (name, _) in &terms.policies {
        // One that is for other systems, or may do more, is not entered here.
        let policy = NamedPolicy::<MultiresourceKind>::resolve(name, Some(fleet), changes).ok();
        let fits = |own: &NamedPolicy<_>| MultiresourceKind::fits(own, fleet).is_ok();
        let policy = policy.filter(|own| may(&own.rule) && fits(own));
        entrants.retain(|(own, _)| own != name);
        entrants.extend(policy.map(|own| (own.name, Ok(own.rule))));
    }
    (entrants, families)
}

/// Returns what each family would have had alone.
fn alone(choice: &ChoiceLog) -> Vec<Alone> {
    let ratio = |n: usize, own: &CandidateLog| match own.outcome {
        Steadiness::Steady if n == 0 => Some(1.0),
        Steadiness::Steady => own.ratio.map(|ratio| ratio.mean).or(own.at_least),
        _ => None,
    };
    let alone = |(n, own): (usize, &CandidateLog)| Alone {
        family: own.name.clone(),
        ratio: ratio(n, own),
    };
    choice.candidates.iter().enumerate().map(alone).collect()
}

/// Runs all on the same jobs: each for a part of the events, then in full who may be among the best; and again those that entered and look
/// lost, with what is ahead of them.
fn run(
    entrants: &[Entrant],
    system: &System,
    settings: &Settings,
    terms: &Terms,
    listener: Listener<'_>,
) -> (Vec<Ran>, Vec<Ran>) {
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
    let mut runs: Vec<Ran> = entrants.iter().map(|own| simulate(own, first, 0)).collect();
    let settled = runs.iter().filter(|ran| ran.response.is_some());
    let mean = |ran: &Ran| ran.response.map_or(f64::NAN, |own| own.mean);
    let best = settled.min_by(|a, b| mean(a).total_cmp(&mean(b)));
    let best = best.cloned();
    let has_level = |ran: &&Ran| matches!(ran.health, Some(Health::Settled | Health::Unsettled));
    let stays = runs.iter().filter(has_level).map(|ran| ran.stay);
    let least = stays.fold(f64::INFINITY, f64::min);
    let may_win = |ran: &Ran| match ran.health {
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
    let suspects = suspects(&runs, terms);
    let again = entrants.iter();
    let again = again.filter(|own| suspects.contains(&own.0.as_str()));
    let again = again.map(|own| simulate(own, AGAIN * settings.events, 1));
    let again = again.collect();
    (runs, again)
}

/// Returns the entrants that look lost, and what is ahead of them.
pub(super) fn suspects<'a>(runs: &'a [Ran], terms: &Terms) -> Vec<&'a str> {
    let mut suspects = Vec::new();
    for own in runs.iter().filter(|own| terms.entered(&own.policy)) {
        let ahead = ahead(runs, own);
        suspects.extend(ahead.iter().map(|(other, _)| other.policy.as_str()));
        suspects.extend((!ahead.is_empty()).then_some(own.policy.as_str()));
    }
    suspects
}

/// Simulates a policy, or says why not.
fn ran((policy, contender): &Entrant, system: &System, settings: &Settings) -> Ran {
    let rule = contender.as_ref();
    let run = rule.map_err(Clone::clone).and_then(|rule| {
        let run = rule.simulate_on(&system.fleet, settings, |_| ());
        run.map_err(|why| why.to_string())
    });
    let knows = rule.map(|rule| rule.knows_of(&system.fleet));
    let failure = run.as_ref().err().cloned();
    let run = run.ok();
    let rate = system.fleet.envelope().total_arrival_rate();
    let stay = |run: &Run| {
        let late = run.types.iter().flat_map(|own| &own.late);
        late.sum::<f64>() / run.replications.len().max(1) as f64 / rate
    };
    Ran {
        policy: policy.clone(),
        rule: rule.map_or(String::new(), |rule| followed(rule).into()),
        knows: knows.unwrap_or_default(),
        health: run.as_ref().map(|run| run.health),
        failure,
        response: run.as_ref().and_then(|run| run.mean_response),
        stay: run.as_ref().map_or(0.0, stay),
        events: run.as_ref().map_or(0, |run| run.events),
        replications: run.map_or(Vec::new(), |run| run.replications),
    }
}

/// Returns the policies that a policy is lost to: those that know no more, and that it is surely slower than by what matters, with the least ratio; or,
/// where it has not settled itself, all that have.
pub(super) fn ahead<'a>(runs: &'a [Ran], own: &Ran) -> Vec<(&'a Ran, Option<f64>)> {
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

/// Returns those that have settled without knowing more than this policy, and are others, with their means.
pub(super) fn rivals<'a>(runs: &'a [Ran], own: &Ran) -> impl Iterator<Item = (&'a Ran, f64)> {
    let others = runs.iter().filter(|ran| ran.policy != own.policy);
    let alike = others.filter(|ran| (ran.knows as u8) <= own.knows as u8);
    alike.filter_map(|ran| Some((ran, ran.response?.mean)))
}

/// Returns the name of the rule that runs while nothing is amiss.
fn followed(rule: &Contender) -> &'static str {
    match rule {
        Contender::Policy(policy) => policy.followed().name(),
        other => other.name(),
    }
}
