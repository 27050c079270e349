//! What is measured on one system: the optimum or a bound, the choice, and all rules on the same jobs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use synth_make::bound::{by_cells, by_prices};

use super::super::family::Sought;
use super::super::solve::{Request, Solved, solve};
use super::systems::{Set, System, Tier};
use crate::artifact::Changes;
use crate::kind::{Kind as _, Policy, VerbResult};
use crate::multiresource::Multiresource;
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::{Ended, Limits, Problem, optimum};
use crate::multiresource::simulator::Contender;
use crate::multiresource::synthesis::{ChoiceOptions, Families, Options};
use crate::simulation::sweep::Knows;
use crate::simulation::{Estimate, Health, Ranking, Settings};

/// What the choice of this program is called among policies.
pub const CHOICE: &str = "choice";

/// A first run has this part of the events; who is surely so many times slower than the best, or runs away, has no second one.
const FIRST: u64 = 10;
const BEHIND: f64 = 1.25;

/// Seeds of the runs that judge are so far from those of the choice.
const APART: u64 = 1000;

/// Rows of the program of a bound by cells, and states of the dynamic program.
const ROWS: usize = 4_000;
const STATES: usize = 5_000_000;

/// What decides the numbers beside the system: all of it is counted in events and updates, and nothing in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
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
    /// What decided the numbers.
    pub terms: Terms,
}

/// A policy on a system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
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
    /// Events of the run.
    pub events: u64,
}

impl Ran {
    /// Returns how many times as long jobs stay as under another policy, where the difference is sure: at least so many.
    pub fn surely_behind(&self, other: &Ran) -> Option<f64> {
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
pub fn measure(
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
    let (bounds, runs) = std::thread::scope(|scope| {
        let bounds = scope.spawn(|| bounds(system, preemption, terms, interrupt));
        let entrants = entrants(system, preemption, terms, changes, interrupt, listener);
        let settings = Settings {
            seed: terms.seed + APART,
            events: terms.events,
            precision: 0.0,
            common_sizes: true,
            percentiles: false,
            interrupt: interrupt.clone(),
            ..Settings::default()
        };
        let runs = run(&entrants, system, &settings, listener);
        listener(&format!("{}: what no policy can beat", system.name));
        let bounds = bounds.join();
        VerbResult::Ok((bounds.map_err(|_| "a bound was not found")?, runs))
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
    let limits = Limits {
        states: STATES,
        updates: terms.updates,
        ..Limits::default()
    };
    let server = fleet.one_server().filter(|_| system.tier == Tier::Exact);
    let problem = Problem::mean(preemption);
    let found = server.and_then(|s| optimum(s, problem, &limits, interrupt, |_| ()).ok());
    let closed = found.filter(|found| found.ended == Ended::Close);
    let prices = by_prices(fleet, Objective::Mean, preemption).map(|own| own.0);
    let preempts = preemption != Preemption::None;
    let cells = by_cells(fleet, Objective::Mean, preempts, ROWS).map(|own| own.0);
    let best = [prices, cells].into_iter().filter_map(Result::ok);
    (
        closed.map(|own| [own.lower, own.upper_in_box]),
        best.fold(0.0, f64::max),
    )
}

/// Is notified of progress.
type Listener<'a> = &'a mut dyn FnMut(&str);

/// A policy that runs: its name, or why it does not.
type Entrant = (String, Result<Contender, String>);

/// Returns the choice, the policy by analysis, all rules that go by types alone and can serve the system, and the further ones.
fn entrants(
    system: &System,
    preemption: Preemption,
    terms: &Terms,
    changes: Changes,
    interrupt: &Arc<AtomicBool>,
    listener: Listener<'_>,
) -> Vec<Entrant> {
    let fleet = &system.fleet;
    let mut synthesized = |sought, budget| {
        let request = Request {
            options: Options::new(preemption),
            sought,
            choice: ChoiceOptions {
                interrupt: interrupt.clone(),
                ..ChoiceOptions::new(Families::All, budget, terms.seed)
            },
        };
        let mut said = |what: &str| listener(&format!("{}: {what}", system.name));
        match solve(fleet, &request, &mut said) {
            Ok(Solved::Policy(found)) => Ok(Contender::from(found.0.artifact().policy.clone())),
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
        // One that is for other systems is not entered here.
        let policy = Policy::<Multiresource>::resolve(name, Some(fleet), changes);
        let policy = policy
            .ok()
            .filter(|own| Multiresource::fits(own, fleet).is_ok());
        entrants.retain(|(own, _)| own != name);
        entrants.extend(policy.map(|own| (own.name, Ok(own.rule))));
    }
    entrants
}

/// Runs all on the same jobs: each for a part of the events, then in full who may be among the best.
fn run(
    entrants: &[Entrant],
    system: &System,
    settings: &Settings,
    listener: Listener<'_>,
) -> Vec<Ran> {
    let mut simulate = |(policy, contender): &Entrant, events| {
        listener(&format!("{}: simulating {policy}", system.name));
        let settings = Settings {
            events,
            ..settings.clone()
        };
        let run = contender.as_ref().map_err(Clone::clone).and_then(|rule| {
            let run = rule.simulate_on(&system.fleet, &settings, |_| ());
            run.map_err(|why| why.to_string())
        });
        let rule = contender.as_ref();
        let knows = rule.map(|rule| rule.knows_of(&system.fleet));
        let (failure, run) = match run {
            Ok(run) => (None, Some(run)),
            Err(why) => (Some(why), None),
        };
        Ran {
            policy: policy.clone(),
            rule: rule.map_or(String::new(), |rule| followed(rule).into()),
            knows: knows.unwrap_or_default(),
            health: run.as_ref().map(|run| run.health),
            failure,
            response: run.as_ref().and_then(|run| run.mean_response),
            events: run.as_ref().map_or(0, |run| run.events),
            replications: run.map_or(Vec::new(), |run| run.replications),
        }
    };
    let first = settings.events.div_ceil(FIRST);
    let mut runs: Vec<Ran> = entrants.iter().map(|own| simulate(own, first)).collect();
    let settled = runs
        .iter()
        .filter_map(|ran| Some((ran, ran.response?.mean)));
    let best = settled.min_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.map(|(ran, _)| ran.clone());
    for (ran, entrant) in runs.iter_mut().zip(entrants) {
        let behind = best.as_ref().and_then(|best| ran.surely_behind(best));
        let is_lost = ran.health == Some(Health::Unstable) || behind.is_some_and(|r| r > BEHIND);
        if !is_lost && ran.failure.is_none() || entrant.0 == CHOICE {
            *ran = simulate(entrant, settings.events);
        }
    }
    runs
}

/// Returns the name of the rule that runs while nothing is amiss.
fn followed(rule: &Contender) -> &'static str {
    match rule {
        Contender::Policy(policy) => policy.followed().name(),
        other => other.name(),
    }
}
