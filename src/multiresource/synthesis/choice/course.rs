use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::budget::worked;
use crate::multiresource::artifact::{self, Family, GuardedPolicy, Objective, Promise};
use crate::multiresource::policy::{is_proved_stable, pace};
use crate::multiresource::simulator::{
    Contender, Estimate, Failure, Health, Run, Settings, TypeResult, Watch, Watched, classes,
    paired_ratio, simulate_over,
};
use crate::multiresource::workload::{Fleet, Workload};

/// Replications of each run that decides.
pub(super) const REPLICATIONS: u32 = 8;

/// Replications of runs by which knobs are turned: a few long ones see more of rare types than many
/// short ones.
const FEW: u32 = 4;

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

/// Events, and jobs of each type, by which costs tell something.
const TELLING: u64 = 100_000;
const SOME: f64 = 30.0;

/// A policy with proved stability.
pub(super) struct Guard {
    pub policy: artifact::Guard,
    /// Its mean number of jobs, as far as that is known.
    pub mean_number: f64,
}

/// Arrivals and sizes that policies are tried on, and the events spent so far.
pub(super) struct Course<'a> {
    pub workload: &'a Workload,
    /// The fleet of which that is the envelope, where policies decide over all of its servers.
    pub fleet: Option<&'a Fleet>,
    /// Whether policies are compared at other rates than those given.
    pub is_stressed: bool,
    /// A relative difference between policies that is not worth longer runs.
    pub close: f64,
    pub objective: Objective,
    /// The largest mean slowdown of a type over the smallest that is wanted.
    pub most_uneven: f64,
    /// What is promised of types.
    pub promises: &'a [Promise],
    pub seed: u64,
    /// What takes over where a rule without proof lets jobs pile up: the first that preempts no more than it.
    pub guards: Vec<Guard>,
    pub interrupt: Arc<AtomicBool>,
    /// What may be spent, all stages together: events, or units of time that stand for them.
    pub budget: u64,
    /// What was.
    pub spent: u64,
    /// How long cores had worked when it began, and how long they may until it is over, spent or not.
    pub begun: Duration,
    pub most: Duration,
    /// Units a second, where time counts.
    pub pace: Option<f64>,
    /// What an event costs, by policy: it takes a while to find.
    pub charges: HashMap<&'static str, u64>,
    /// Events that were simulated.
    pub events: u64,
}

impl Course<'_> {
    /// The policy under guard, if it needs one: B is at least ten times the mean number of jobs that was seen,
    /// beyond which one job in 20 000 finds the system where numbers fall off exponentially; and so far above
    /// the guard's own that it is soon back at B/2.
    pub fn guarded(&self, policy: &Family, mean_number: f64) -> Option<Family> {
        let suits =
            |guard: &&Guard| policy.preempts() || !Family::from(guard.policy.clone()).preempts();
        let guard = self.guards.iter().find(suits)?;
        let from = (GUARD * mean_number).max(OWN * guard.mean_number);
        let from = from.ceil() as u64 + 1;
        let without_clocks = !matches!(
            policy,
            Family::Msr(_) | Family::Partition(_) | Family::Guarded(_)
        );
        (without_clocks && !is_proved_stable(policy, self.workload)).then(|| {
            Family::Guarded(GuardedPolicy {
                rule: Box::new(policy.clone()),
                guard: guard.policy.clone(),
                from,
                until: from.div_ceil(2),
            })
        })
    }

    pub fn left(&self) -> u64 {
        match self.is_late() {
            true => 0,
            false => self.budget.saturating_sub(self.spent),
        }
    }

    /// Whether it took so long that it is ended before its events are spent.
    pub fn is_late(&self) -> bool {
        self.time_left().is_zero()
    }

    /// That it was ended so, for those who want the same again.
    pub fn told_late(&self) -> Option<String> {
        self.is_late().then(|| {
            format!(
                "longer runs: these took more than {:.0} s of a core, so that the same seed may choose otherwise on another machine",
                self.most.as_secs_f64()
            )
        })
    }

    fn time_left(&self) -> Duration {
        self.most
            .saturating_sub(worked().saturating_sub(self.begun))
    }

    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// What an event under this policy costs of the budget: a rule that takes longer is charged for it.
    pub fn charge(&mut self, policy: &Family) -> u64 {
        if self.pace.is_some() {
            return 1;
        }
        let workload = self.workload;
        let charges = self.charges.entry(policy.followed().called());
        *charges.or_insert_with(|| pace(policy, workload))
    }

    /// Simulates this many events, or until the objective has this relative precision.
    pub fn run(&mut self, policy: &Contender, events: u64, precision: f64) -> Result<Run, Failure> {
        self.simulate(policy, events, REPLICATIONS, precision, true)
    }

    /// Simulates this many events, to turn knobs by.
    pub fn short_run(&mut self, policy: &Contender, events: u64) -> Result<Run, Failure> {
        let percentiles = self.objective == Objective::P99;
        self.simulate(policy, events, FEW, 0.0, percentiles)
    }

    fn simulate(
        &mut self,
        policy: &Contender,
        events: u64,
        replications: u32,
        precision: f64,
        percentiles: bool,
    ) -> Result<Run, Failure> {
        let all = u64::from(replications);
        let pace = match policy {
            Contender::Policy(policy) => self.charge(policy),
            _ => 1,
        };
        let types = self.workload.types().iter();
        let in_service: f64 = types.map(|t| t.offered_load()).sum();
        let settings = Settings {
            seed: self.seed,
            replications,
            precision,
            crowd: (CROWD.0 * in_service + CROWD.1) as u64,
            // Each replication has as many.
            events: (events.min(self.left() / pace) / all * all).max(all),
            time: Some(match self.pace {
                Some(pace) => Duration::from_secs_f64(self.left() as f64 / pace),
                // Of one core: more of them need less.
                None => self.time_left(),
            }),
            common_sizes: true,
            percentiles,
            watch: self.watches().flatten().collect(),
            interrupt: Arc::clone(&self.interrupt),
        };
        let begun = Instant::now();
        let run = match (self.fleet, policy) {
            (Some(fleet), Contender::Policy(policy)) => {
                simulate_over(fleet, policy, &settings, |_| ())?
            }
            _ => policy.simulate(self.workload, &settings, |_| ())?,
        };
        self.events += run.events;
        self.spent += match self.pace {
            Some(pace) => (pace * begun.elapsed().as_secs_f64()) as u64,
            None => pace * run.events,
        };
        Ok(run)
    }

    /// What is made least, by replication.
    pub fn values<'r>(&self, run: &'r Run) -> &'r [Option<f64>] {
        values(self.objective, run)
    }

    /// What is made least \[time\].
    pub fn value(&self, run: &Run) -> Option<Estimate> {
        match self.objective {
            Objective::Mean => run.mean_response,
            Objective::Weighted => run.weighted_response,
            Objective::P99 => run.p99_response,
        }
    }

    /// Whether enough jobs of each type that is not rare were done.
    pub fn all_done(&self, run: &Run) -> bool {
        self.fewest_done(run).is_none_or(|t| t.completions >= DONE)
    }

    /// The type of which the fewest jobs were done, of those that are not rare.
    pub fn fewest_done<'r>(&self, run: &'r Run) -> Option<&'r TypeResult> {
        let pairs = run.types.iter().zip(classes(self.workload));
        let common = pairs.filter(|(_, class)| !class.is_rare());
        common.map(|(t, _)| t).min_by_key(|t| t.completions)
    }

    /// The value, increased in proportion where types are served less evenly than wanted, and more than
    /// that where promises are broken; infinite where there is no steady state.
    pub fn cost(&self, run: &Run) -> f64 {
        let Some(value) = self.value(run) else {
            return f64::INFINITY;
        };
        let uneven = match slowdown_ratio(run) {
            Some(ratio) => (ratio / self.most_uneven).max(1.0),
            None if self.most_uneven.is_finite() => f64::INFINITY,
            None => 1.0,
        };
        value.mean * uneven * self.broken(run)
    }

    fn watches(&self) -> impl Iterator<Item = Option<Watch>> {
        self.promises.iter().map(|p| p.watch(self.workload))
    }

    /// What a run saw of each promise.
    pub fn kept<'r>(&self, run: &'r Run) -> impl Iterator<Item = (&Promise, Option<&'r Watched>)> {
        let seen = |watch: Option<Watch>| run.watched.iter().find(|w| Some(w.watch) == watch);
        self.promises.iter().zip(self.watches().map(seen))
    }

    /// The factor of the cost for promises that are broken: that of the worst, so that any policy that
    /// keeps all costs less, but for one that lets jobs stay ten times as long.
    fn broken(&self, run: &Run) -> f64 {
        let each = self.kept(run).map(|(promise, seen)| {
            let above = seen.and_then(|w| w.rough);
            above.map_or(1.0 + f64::EPSILON, |above| above / promise.allowed())
        });
        match each.fold(0.0, f64::max) {
            worst if worst > 1.0 => BROKEN * worst,
            _ => 1.0,
        }
    }

    /// Whether anything is promised.
    pub fn is_bound(&self) -> bool {
        !self.promises.is_empty()
    }

    /// Whether all promises were kept, as far as a run could see.
    pub fn keeps_all(&self, run: &Run) -> bool {
        self.broken(run) <= 1.0
    }

    /// Whether one of the promises is surely broken.
    pub fn surely_breaks(&self, run: &Run) -> bool {
        self.kept(run).any(|(promise, seen)| {
            let above = seen.and_then(|w| w.above);
            above.is_some_and(|above| above.mean - above.half_width > promise.allowed())
        })
    }

    /// Events by which it is no longer chance that a policy costs twice as much as another: of each type that is
    /// not rare some jobs have come.
    pub fn telling(&self) -> u64 {
        let rates = classes(self.workload);
        let rates = rates.iter().filter(|class| !class.is_rare());
        let rarest = rates
            .map(|class| class.arrival_rate)
            .fold(f64::INFINITY, f64::min);
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
        let types = self.workload.types();
        let pairs = run.types.iter().zip(types);
        let stays: Vec<f64> = pairs.map(|(t, own)| late(t) / own.arrival_rate()).collect();
        let rates = || types.iter().map(|t| t.arrival_rate());
        let shares = match self.objective {
            Objective::Mean | Objective::P99 => {
                rates().map(|rate| rate / rates().sum::<f64>()).collect()
            }
            Objective::Weighted => self.workload.load_shares(),
        };
        let stays_and_shares = stays.iter().zip(&shares);
        let mean: f64 = stays_and_shares.map(|(stay, share)| share * stay).sum();
        let value = match self.objective {
            Objective::P99 => run.rough_p99.map_or(mean, |p99| p99.max(mean)),
            Objective::Mean | Objective::Weighted => mean,
        };
        let length = run.simulated_time / run.replications.len().max(1) as f64;
        let longest = stays.iter().copied().fold(0.0, f64::max);
        let slowdowns = stays
            .iter()
            .zip(types)
            .map(|(stay, t)| stay / t.mean_size());
        let uneven = spread(slowdowns) / self.most_uneven;
        value * (20.0 * longest / length).max(1.0) * uneven.max(1.0) * self.broken(run)
    }

    /// Whether one surely costs more than another that ran as long.
    pub fn surely_worse(&self, run: &Run, than: &Run) -> bool {
        if run.health == Health::Unstable {
            return true;
        }
        let ratio = self.ratio(run, than);
        ratio.is_some_and(|r| r.mean - r.half_width > 1.0) && self.cost(run) > self.cost(than)
    }

    /// How many times as much one has as another, in the replications in which both have a value.
    pub fn ratio(&self, run: &Run, than: &Run) -> Option<Estimate> {
        ratio(self.objective, run, than)
    }
}

/// How many times as much of this one run has as another, in the replications in which both have a value.
pub(super) fn ratio(objective: Objective, run: &Run, than: &Run) -> Option<Estimate> {
    let pairs = values(objective, run).iter().zip(values(objective, than));
    let known = pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let (a, b): (Vec<f64>, Vec<f64>) = known.unzip();
    paired_ratio(&a, &b)
}

/// An objective, by replication.
fn values(objective: Objective, run: &Run) -> &[Option<f64>] {
    match objective {
        Objective::Mean => &run.replications,
        Objective::Weighted => &run.weighted_replications,
        Objective::P99 => &run.p99_replications,
    }
}

/// The mean number of jobs in the second half of a run.
pub(super) fn rough_number(run: &Run) -> f64 {
    run.types.iter().map(late).sum()
}

/// The same of a type.
fn late(of: &TypeResult) -> f64 {
    of.late.iter().sum::<f64>() / of.late.len() as f64
}

/// The largest mean slowdown of a type over the smallest.
pub(super) fn slowdown_ratio(run: &Run) -> Option<f64> {
    let each = run.types.iter().map(|t| t.slowdown.map(|e| e.mean));
    let each: Vec<f64> = each.collect::<Option<_>>()?;
    Some(spread(each.into_iter()))
}

/// The largest over the smallest.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().fold(0.0, f64::max) / values.fold(f64::INFINITY, f64::min)
}
