use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::chosen::{ChoiceOptions, Stage};
use crate::analysis::weights;
use crate::synthesis::left;
use synth_multiresource::artifact::{self, Family, GuardedConfig, Objective, Promise};
use synth_multiresource::simulator::{
    Contender, Ending, Estimate, Failure, Health, Run, Settings, Simulation, TypeResult, Watch,
    Watched, classes, paired_ratio,
};
use synth_multiresource::workload::{Fleet, Workload};

/// Replications of each run that decides.
pub(super) const REPLICATIONS: u32 = 8;

/// Replications of runs by which knobs are turned: a few long ones see more of rare types than many
/// short ones.
pub(super) const FEW: u32 = 4;

/// Jobs of each type that have to be done in a run that says how good a policy is.
pub(super) const DONE: u64 = 300;

/// So many times as much as its value costs a policy that breaks a promise, at least.
const BROKEN: f64 = 10.0;

/// So many times the mean number of jobs call the guard, and no fewer than so many times those that it has
/// itself: else it would hardly ever let go, and the whole would be as slow as it is.
const GUARD: f64 = 10.0;
const OWN: f64 = 4.0;

/// More jobs than this many times those in service at once, and these, end a run that tries a policy.
const CROWD: (f64, f64) = (200.0, 20_000.0);

/// With more busy servers than this, an event takes longer.
const CACHED: f64 = 300.0;

/// Events, and jobs of each type, by which costs tell something.
const TELLING: u64 = 100_000;
const SOME: f64 = 30.0;

/// A policy with proved stability.
pub(super) struct Guard {
    pub policy: artifact::Guard,
    /// Its mean number of jobs, as far as that is known.
    pub mean_number: f64,
}

/// A simulation of a candidate, and its events so far.
pub(super) type Underway<'w> = (Simulation<'w>, u64);

/// Simulates candidates on common arrivals and sizes, and keeps account of the work: the same on each machine,
/// unless a time limit or an interrupt ends it.
pub(super) struct Evaluator<'a> {
    fleet: &'a Fleet,
    /// Types and resources, whatever the servers.
    pub workload: &'a Workload,
    pub objective: Objective,
    pub choice: &'a ChoiceOptions,
    pub seed: u64,
    /// What takes over where a rule without proof lets jobs pile up: the first that preempts no more than it.
    pub guards: Vec<Guard>,
    /// When the present stage has to end, if ever.
    pub end: Option<Instant>,
    /// The work that all stages should do, in events of First-Fit with few types.
    pub budget: f64,
    /// The work that may be done: more than the budget where promises have to be decided.
    pub limit: f64,
    /// That was done.
    pub spent: f64,
    /// Whether an interrupt or the time limit ended a run.
    pub is_cut: bool,
    /// The work of an event, by policy: it takes a while to find.
    works: HashMap<&'static str, f64>,
    /// Events that were simulated.
    pub events: u64,
    progress: &'a mut dyn FnMut(Stage),
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator with all of the budget left.
    pub fn new(
        fleet: &'a Fleet,
        objective: Objective,
        choice: &'a ChoiceOptions,
        guards: Vec<Guard>,
        progress: &'a mut dyn FnMut(Stage),
    ) -> Self {
        Evaluator {
            fleet,
            workload: fleet.envelope(),
            objective,
            choice,
            seed: choice.seed,
            guards,
            end: choice.end,
            budget: choice.budget as f64,
            limit: choice.budget as f64,
            spent: 0.0,
            is_cut: false,
            works: HashMap::new(),
            events: 0,
            progress,
        }
    }

    /// Reports what is done now.
    pub fn report(&mut self, what: String) {
        let spent = self.spent / self.limit;
        (self.progress)(Stage { what, spent });
    }

    /// The policy under guard, if it needs one: B is at least ten times the mean number of jobs that was seen,
    /// beyond which one job in 20 000 finds the system where numbers fall off exponentially; and so far above
    /// the guard's own that it is soon back at B/2.
    pub fn guarded(&self, policy: &Family, mean_number: f64) -> Option<Family> {
        let suits = |guard: &&Guard| policy.preempts() || !guard.policy.preempts();
        let guard = self.guards.iter().find(suits)?;
        let from = (GUARD * mean_number).max(OWN * guard.mean_number);
        let from = from.ceil() as u64 + 1;
        let without_clocks = !matches!(
            policy,
            Family::Msr(_) | Family::Partition(_) | Family::Guarded(_)
        );
        (without_clocks && !policy.is_proved_stable(self.workload)).then(|| {
            Family::Guarded(GuardedConfig {
                rule: Box::new(policy.clone()),
                guard: guard.policy.clone(),
                from,
                until: from.div_ceil(2),
            })
        })
    }

    /// The work that is left.
    pub fn left(&self) -> f64 {
        (self.limit - self.spent).max(0.0)
    }

    /// Whether it was interrupted, or its time is over.
    pub fn is_over(&self) -> bool {
        self.choice.interrupt.load(Ordering::Relaxed) || left(self.end).is_zero()
    }

    /// The work of an event under this policy.
    pub fn work(&mut self, policy: &Family) -> f64 {
        let (workload, policy) = (self.workload, policy.followed());
        let in_service: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
        // The state of many busy servers is in no cache: as measured on 1000 to 100 000 servers.
        let busy = in_service.min(self.fleet.servers() as f64);
        let misses = (busy / CACHED).max(1.0).powf(0.75);
        let works = self.works.entry(policy.called());
        *works.or_insert_with(|| misses * policy.work(workload))
    }

    /// Simulates this many events in so many replications, counted from the start of a simulation that may be under way;
    /// `None` where an interrupt or the time limit ended it: what it saw until then depends on the machine.
    pub fn run(
        &mut self,
        underway: &mut Option<Underway<'a>>,
        policy: &Family,
        events: u64,
        replications: u32,
    ) -> Result<Option<Run>, Failure> {
        let settings = self.settings(events, replications);
        let (mut simulation, before) = match underway.take() {
            Some(underway) => underway,
            None => (
                Contender::from(policy.clone()).begin_on(self.fleet, &settings)?,
                0,
            ),
        };
        let run = simulation.run(&settings, &mut |_| ())?;
        let simulated = run.events - before;
        *underway = Some((simulation, run.events));
        self.events += simulated;
        self.spent += self.work(policy) * simulated as f64;
        let is_cut = matches!(run.ending, Ending::Interrupted | Ending::Time);
        self.is_cut |= is_cut;
        Ok((!is_cut).then_some(run))
    }

    fn settings(&self, events: u64, replications: u32) -> Settings {
        let all = u64::from(replications);
        let in_service: f64 = self.workload.types().iter().map(|t| t.offered_load()).sum();
        Settings {
            seed: self.seed,
            replications,
            precision: 0.0,
            crowd: (CROWD.0 * in_service + CROWD.1) as u64,
            // Each replication has as many.
            events: (events / all * all).max(all),
            time: self.end.map(|_| left(self.end)),
            common_sizes: true,
            percentiles: replications == REPLICATIONS || self.objective == Objective::P99,
            watch: self.watches().flatten().collect(),
            in_turn: false,
            interrupt: Arc::clone(&self.choice.interrupt),
        }
    }

    /// Returns the objective \[time\].
    pub fn value(&self, run: &Run) -> Option<Estimate> {
        measured(self.objective, run).0
    }

    /// Whether enough jobs of each type that is not rare were done.
    pub fn all_done(&self, run: &Run) -> bool {
        self.fewest_done(run).is_none_or(|t| t.completions >= DONE)
    }

    /// The type of which the fewest jobs were done, of those that are not rare.
    pub fn fewest_done<'r>(&self, run: &'r Run) -> Option<&'r TypeResult> {
        self.common(run).min_by_key(|t| t.completions)
    }

    /// The types that are not rare.
    pub fn common<'r>(&self, run: &'r Run) -> impl Iterator<Item = &'r TypeResult> {
        let pairs = run.types.iter().zip(classes(self.workload));
        pairs.filter_map(|(t, class)| (!class.is_rare()).then_some(t))
    }

    /// The value, increased where promises are broken; infinite where there is no steady state.
    pub fn cost(&self, run: &Run) -> f64 {
        self.value(run).map_or(f64::INFINITY, |value| value.mean) * self.broken(run)
    }

    fn watches(&self) -> impl Iterator<Item = Option<Watch>> {
        self.choice.promises.iter().map(|p| p.watch(self.workload))
    }

    /// What a run saw of each promise.
    pub fn seen_of_promises<'r>(
        &self,
        run: &'r Run,
    ) -> impl Iterator<Item = (&Promise, Option<&'r Watched>)> {
        let seen = |watch: Option<Watch>| run.watched.iter().find(|w| Some(w.watch) == watch);
        self.choice.promises.iter().zip(self.watches().map(seen))
    }

    /// Returns how many times as many jobs take longer as the worst kept promise allows; 0 without promises.
    pub fn worst(&self, run: &Run) -> f64 {
        let each = self.seen_of_promises(run).map(|(promise, seen)| {
            let above = seen.and_then(|w| w.rough);
            above.map_or(1.0 + f64::EPSILON, |above| above / promise.allowed())
        });
        each.fold(0.0, f64::max)
    }

    /// The factor of the cost for promises that are broken: that of the worst, so that any policy that
    /// keeps all costs less, but for one that lets jobs stay ten times as long.
    fn broken(&self, run: &Run) -> f64 {
        match self.worst(run) {
            worst if worst > 1.0 => BROKEN * worst,
            _ => 1.0,
        }
    }

    /// Whether all promises were kept, as far as a run could see.
    pub fn keeps_all(&self, run: &Run) -> bool {
        self.worst(run) <= 1.0
    }

    /// Whether all promises are kept by their whole 95 % intervals.
    pub fn surely_keeps(&self, run: &Run) -> bool {
        self.seen_of_promises(run).all(|(promise, seen)| {
            let above = seen.and_then(|w| w.known(&run.types[w.watch.job_type]));
            above.is_some_and(|above| above.mean + above.half_width <= promise.allowed())
        })
    }

    /// Returns the order of choice by promises: policies that keep all with confidence come first, then those that kept
    /// all as far as their runs could see, and then those that come nearest to the worst kept promise.
    pub fn place(&self, run: &Run) -> f64 {
        match self.worst(run) {
            worst if worst > 1.0 => worst,
            _ if self.surely_keeps(run) => 0.0,
            _ => 1.0,
        }
    }

    /// Whether one of the promises is surely broken.
    pub fn surely_breaks(&self, run: &Run) -> bool {
        self.seen_of_promises(run).any(|(promise, seen)| {
            let above = seen.and_then(|w| w.above);
            above.is_some_and(|above| above.mean - above.half_width > promise.allowed())
        })
    }

    /// Events by which it is no longer chance that a policy costs twice as much as another: of each type that is
    /// not rare some jobs have come.
    pub fn telling(&self) -> u64 {
        let classes = classes(self.workload)
            .into_iter()
            .filter(|class| !class.is_rare());
        let rates = classes.map(|class| class.arrival_rate);
        let rarest = rates.fold(f64::INFINITY, f64::min);
        let jobs = SOME * self.workload.total_arrival_rate() / rarest;
        // An arrival and a completion each.
        TELLING.max((2.0 * jobs) as u64)
    }

    /// The cost to tune by: of a run that is too short for means by what was there in its second half.
    pub fn rough_cost(&self, run: &Run) -> f64 {
        match run.health {
            Health::Unsettled => self.late_cost(run),
            Health::Settled | Health::Unstable => self.cost(run),
        }
    }

    /// The cost by what was there in the second half of a run (Little's law). Where jobs of a type stay longer
    /// than a twentieth of a replication, it is increased in proportion: else knobs that push the wait of a rare
    /// type beyond the end of the run would look good.
    pub fn late_cost(&self, run: &Run) -> f64 {
        let pairs = run.types.iter().zip(self.workload.types());
        let stays: Vec<f64> = pairs.map(|(t, own)| late(t) / own.arrival_rate()).collect();
        let weights = weights(self.workload, self.objective);
        let mean: f64 = stays.iter().zip(&weights).map(|(t, w)| w * t).sum();
        let value = match self.objective {
            Objective::P99 => run.rough_p99.map_or(mean, |p99| p99.max(mean)),
            Objective::Mean | Objective::Weighted => mean,
        };
        let length = run.simulated_time / run.replications.len().max(1) as f64;
        let longest = stays.iter().copied().fold(0.0, f64::max);
        value * (20.0 * longest / length).max(1.0) * self.broken(run)
    }

    /// Whether one surely costs more than another that ran as long.
    pub fn surely_worse(&self, run: &Run, than: &Run) -> bool {
        if run.health == Health::Unstable {
            return true;
        }
        let ratio = ratio(self.objective, run, than);
        ratio.is_some_and(|r| r.mean - r.half_width > 1.0) && self.cost(run) > self.cost(than)
    }
}

/// Returns the ratio of an objective in two runs, over the replications in which both have a value.
pub(super) fn ratio(objective: Objective, run: &Run, than: &Run) -> Option<Estimate> {
    let [own, other] = [run, than].map(|run| measured(objective, run).1);
    let known = own.iter().zip(other);
    let (a, b): (Vec<f64>, Vec<f64>) = known.filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip();
    paired_ratio(&a, &b)
}

/// Returns an objective as a run measured it: the mean over replications, and each of them.
pub(super) fn measured(objective: Objective, run: &Run) -> (Option<Estimate>, &[Option<f64>]) {
    match objective {
        Objective::Mean => (run.mean_response, &run.replications),
        Objective::Weighted => (run.weighted_response, &run.weighted_replications),
        Objective::P99 => (run.p99_response, &run.p99_replications),
    }
}

/// Returns the mean number of jobs in the second half of a run.
pub(super) fn rough_number(run: &Run) -> f64 {
    run.types.iter().map(late).sum()
}

/// Returns the mean number of jobs of a type in the second half of a run.
fn late(of: &TypeResult) -> f64 {
    of.late.iter().sum::<f64>() / of.late.len() as f64
}

/// Returns the least and the largest mean slowdown `E[T_i]/E[S_i]` of a type.
pub(super) fn slowdowns(run: &Run) -> Option<[f64; 2]> {
    let each = run.types.iter().map(|t| Some(t.slowdown?.mean));
    let each: Vec<f64> = each.collect::<Option<_>>()?;
    Some([
        each.iter().copied().fold(f64::INFINITY, f64::min),
        each.iter().copied().fold(0.0, f64::max),
    ])
}
