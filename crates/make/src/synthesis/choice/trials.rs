//! The simulations of all candidates with the same arrivals and sizes, whose work is counted.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::options::{ChoiceOptions, SelectionStage};
use crate::analysis::weights;
use crate::synthesis::{BUDGET, left};
use synth_multiresource::artifact::{Family, Objective};
use synth_multiresource::simulator::{
    Contender, Ending, Estimate, Failure, Health, Run, Settings, Simulation, TypeResult, classes,
    paired_ratio,
};
use synth_multiresource::workload::{Fleet, Workload};

pub(super) const REPLICATIONS: u32 = 8;

/// The replications of a tuning run. A few long ones have more rare jobs than many short ones.
pub(super) const FEW: u32 = 4;

/// The minimum number of completed jobs of each type in a conclusive run.
pub(super) const DONE: u64 = 300;

/// The minimum factor for the cost if a guarantee is not kept.
const BROKEN: f64 = 10.0;

/// A run is stopped at this multiple of the mean number of jobs in service, plus the second value.
const CROWD: (f64, f64) = (200.0, 20_000.0);

/// If there are more busy servers than this, an event takes longer.
const CACHED: f64 = 300.0;

/// The minimum number of events, and of jobs of each common type, for a meaningful cost.
const TELLING: u64 = 100_000;
const SOME: f64 = 30.0;

/// The additional work that is only used to decide about guarantees, at most these multiples of the
/// budget and of the default budget. Otherwise, a larger budget, of which the search uses more,
/// could leave a guarantee undecided that is decided with a smaller one.
const DECIDING: (f64, f64) = (3.0, 0.25);

/// The relative half-width at which a mean (but no difference) is too imprecise for tuning.
const VAGUE: f64 = 0.06;

pub(super) type Underway<'w> = (Simulation<'w>, u64);

pub(super) struct Trial {
    pub run: Run,
    /// The objective \[time\]; `None` without a steady state.
    pub value: Option<Estimate>,
    /// The objective, increased if a guarantee is not kept; infinite without a steady state.
    pub cost: f64,
    /// The cost for tuning; if the run is too short for means, from the jobs in its second half.
    pub rough_cost: f64,
    pub is_conclusive: bool,
    pub fewest: Option<usize>,
    pub verdict: Verdict,
}

impl Trial {
    pub(super) fn fewest_done(&self) -> Option<&TypeResult> {
        self.fewest.map(|i| &self.run.types[i])
    }

    pub(super) fn runs_away(&self) -> bool {
        self.run.health == Health::Unstable
    }

    /// Returns the ratio of the objective to that of another run, if both have a value.
    pub(super) fn ratio(&self, objective: Objective, than: &Trial) -> Option<Estimate> {
        let [own, other] = [self, than].map(|trial| measured(objective, &trial.run).1);
        let known = own.iter().zip(other);
        let (a, b): (Vec<f64>, Vec<f64>) = known.filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip();
        paired_ratio(&a, &b)
    }

    /// Returns the least and the largest mean slowdown `E[T_i]/E[S_i]` of a type.
    pub(super) fn slowdowns(&self) -> Option<[f64; 2]> {
        let mut types = self.run.types.iter().map(|t| Some(t.slowdown?.mean));
        types.try_fold([f64::INFINITY, 0.0], |[least, most], own| {
            Some([least.min(own?), most.max(own?)])
        })
    }

    pub(super) fn rough_number(&self) -> f64 {
        self.run.types.iter().map(late).sum()
    }
}

pub(super) struct Verdict {
    /// Index in [`Run::watched`] for each guarantee.
    pub seen: Vec<Option<usize>>,
    /// The fraction of late jobs over the allowed one for the worst guarantee; 0 if there is none.
    pub worst: f64,
    /// The sort key: 0 if all guarantees are kept for the whole 95 % intervals, 1 if they are kept
    /// as far as the run could show, and otherwise `worst > 1`.
    pub place: f64,
    /// Whether the whole 95 % interval of some guarantee is above its limit.
    pub surely_breaks: bool,
    /// Whether this is the case, or all guarantees are kept for the whole intervals.
    pub is_sure: bool,
}

pub(super) struct Trials<'a> {
    fleet: &'a Fleet,
    pub workload: &'a Workload,
    pub objective: Objective,
    pub choice: &'a ChoiceOptions,
    time: Duration,
    seed: u64,
    end: Option<Instant>,
    pub common: Vec<usize>,
    /// The number of events after which a twofold difference in cost is not due to chance.
    pub conclusive_events: u64,
    /// The budget for all stages, in events of First-Fit with few types.
    pub budget: f64,
    pub deciding: f64,
    pub limit: f64,
    pub spent: f64,
    pub is_cut: bool,
    works: HashMap<&'static str, f64>,
    pub events: u64,
    progress: &'a mut dyn FnMut(SelectionStage),
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        fleet: &'a Fleet,
        objective: Objective,
        choice: &'a ChoiceOptions,
        progress: &'a mut dyn FnMut(SelectionStage),
    ) -> Self {
        let workload = fleet.envelope();
        let classes = classes(workload);
        let common = classes.iter().enumerate().filter(|(_, c)| !c.is_rare());
        let rates = common.clone().map(|(_, class)| class.arrival_rate);
        let rarest = rates.fold(f64::INFINITY, f64::min);
        let budget = choice.budget as f64;
        let deciding = match choice.promises.as_slice() {
            [] => 0.0,
            _ => (DECIDING.0 * budget).min(DECIDING.1 * BUDGET as f64),
        };
        let jobs = SOME * workload.total_arrival_rate() / rarest;
        Trials {
            fleet,
            workload,
            objective,
            choice,
            time: left(choice.end),
            seed: choice.seed,
            end: choice.end,
            common: common.map(|(i, _)| i).collect(),
            conclusive_events: TELLING.max((2.0 * jobs) as u64),
            budget,
            deciding,
            limit: budget,
            spent: 0.0,
            is_cut: false,
            works: HashMap::new(),
            events: 0,
            progress,
        }
    }

    /// Starts a stage that ends after this part of the time, whose `seed` is added to the options'.
    pub(super) fn begin(&mut self, seed: u64, part: f64) {
        self.seed = self.choice.seed.wrapping_add(seed);
        let end_of = |end: Instant| end - self.time.mul_f64(1.0 - part);
        self.end = self.choice.end.map(end_of);
    }

    pub(super) fn report(&mut self, what: String) {
        let spent = self.spent / self.limit;
        (self.progress)(SelectionStage { what, spent });
    }

    pub(super) fn left(&self) -> f64 {
        (self.limit - self.spent).max(0.0)
    }

    pub(super) fn is_over(&self) -> bool {
        self.choice.interrupt.load(Ordering::Relaxed) || left(self.end).is_zero()
    }

    pub(super) fn work(&mut self, policy: &Family) -> f64 {
        let (workload, policy) = (self.workload, policy.followed());
        // Measured for 1000 to 100 000 servers, whose state is larger than the caches.
        let busy = in_service(workload).min(self.fleet.servers() as f64);
        let misses = (busy / CACHED).max(1.0).powf(0.75);
        let works = self.works.entry(policy.called());
        *works.or_insert_with(|| misses * policy.work(workload))
    }

    /// Simulates up to this number of events in all replications, from the start of the simulation,
    /// which may be `underway`. Returns `None` if it was stopped by an interrupt or the deadline,
    /// because its results would depend on the machine.
    pub(super) fn run(
        &mut self,
        underway: &mut Option<Underway<'a>>,
        policy: &Family,
        events: u64,
        replications: u32,
    ) -> Result<Option<Trial>, Failure> {
        let settings = self.settings(events, replications);
        let (mut simulation, before) = match underway.take() {
            Some(underway) => underway,
            None => {
                let rule = Contender::from(policy.clone()).build_policy(self.fleet)?;
                (Simulation::new(self.fleet, &*rule, &settings), 0)
            }
        };
        let run = simulation.run(&settings, &mut |_| ())?;
        let simulated = run.events - before;
        *underway = Some((simulation, run.events));
        self.events += simulated;
        self.spent += self.work(policy) * simulated as f64;
        let is_cut = matches!(run.ending, Ending::Interrupted | Ending::Time);
        self.is_cut |= is_cut;
        Ok((!is_cut).then(|| self.judged(run)))
    }

    fn settings(&self, events: u64, replications: u32) -> Settings {
        let all = u64::from(replications);
        let promises = self.choice.promises.iter();
        Settings {
            seed: self.seed,
            replications,
            precision: 0.0,
            crowd: (CROWD.0 * in_service(self.workload) + CROWD.1) as u64,
            events: (events / all * all).max(all),
            time: self.end.map(|_| left(self.end)),
            common_sizes: true,
            percentiles: replications == REPLICATIONS || self.objective == Objective::P99,
            watch: promises.filter_map(|p| p.watch(self.workload)).collect(),
            in_turn: false,
            interrupt: Arc::clone(&self.choice.interrupt),
        }
    }

    fn judged(&self, run: Run) -> Trial {
        let (mut seen, mut worst) = (Vec::new(), 0.0_f64);
        let (mut surely_keeps, mut surely_breaks) = (true, false);
        for promise in &self.choice.promises {
            let (allowed, watch) = (promise.allowed(), promise.watch(self.workload));
            let place = run.watched.iter().position(|w| Some(w.watch) == watch);
            let own = place.map(|place| &run.watched[place]);
            let rough = own.and_then(|w| w.rough);
            worst = worst.max(rough.map_or(1.0 + f64::EPSILON, |above| above / allowed));
            let known = own.and_then(|w| w.known(&run.types[w.watch.job_type]));
            surely_keeps &= known.is_some_and(|own| own.mean + own.half_width <= allowed);
            let above = own.and_then(|w| w.above);
            surely_breaks |= above.is_some_and(|own| own.mean - own.half_width > allowed);
            seen.push(place);
        }
        // A policy that meets all of the guarantees has a lower cost, unless the response times are
        // more than ten times as long.
        let (place, factor) = match worst {
            worst if worst > 1.0 => (worst, BROKEN * worst),
            _ if surely_keeps => (0.0, 1.0),
            _ => (1.0, 1.0),
        };
        let value = measured(self.objective, &run).0;
        let cost = value.map_or(f64::INFINITY, |value| value.mean) * factor;
        let done = |i: usize| run.types[i].completions;
        let fewest = self.common.iter().copied().min_by_key(|i| done(*i));
        let is_precise = value.is_some_and(|v| v.relative() < VAGUE);
        let (is_telling, rough_cost) = match run.health {
            Health::Unstable => (true, cost),
            Health::Settled => (is_precise && fewest.is_none_or(|i| done(i) >= DONE), cost),
            Health::Unsettled => (false, self.late_cost(&run) * factor),
        };
        Trial {
            run,
            value,
            cost,
            rough_cost,
            is_conclusive: is_telling,
            fewest,
            verdict: Verdict {
                seen,
                worst,
                place,
                surely_breaks,
                is_sure: surely_keeps || surely_breaks,
            },
        }
    }

    /// Returns the objective from the jobs in the second half of a run (Little's law), increased in
    /// proportion if the jobs of a type stay longer than a twentieth of a replication. Otherwise,
    /// it would help to move the wait of a rare type beyond the end of the run.
    fn late_cost(&self, run: &Run) -> f64 {
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
        value * (20.0 * longest / length).max(1.0)
    }
}

fn in_service(workload: &Workload) -> f64 {
    workload.types().iter().map(|t| t.offered_load()).sum()
}

/// Returns the measured mean of an objective, and its value in each replication.
pub(super) fn measured(objective: Objective, run: &Run) -> (Option<Estimate>, &[Option<f64>]) {
    match objective {
        Objective::Mean => (run.mean_response, &run.replications),
        Objective::Weighted => (run.weighted_response, &run.weighted_replications),
        Objective::P99 => (run.p99_response, &run.p99_replications),
    }
}

/// Returns the mean number of jobs of a type in the second half of a run.
fn late(of: &TypeResult) -> f64 {
    of.late.iter().sum::<f64>() / of.late.len() as f64
}
