mod draining;
mod worth;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{
    LET_IN, PolicyConfig, TuningContext, describe_settings, is_zero, mean_sizes_differ,
};
use super::{Event, Information, Policy, System, check};
use crate::schedule::index_of_largest;
use crate::workload::{Fleet, Workload};
use draining::Draining;
use synth_core::artifact::Findings;
use worth::{ScheduleWeights, Slots};

/// A policy that switches between working schedules based on the queue lengths, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMsrConfig {
    /// The working schedules (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (K), at least 0. A schedule is worth at most 1.
    pub prices: Vec<f64>,
    /// The conditions for leaving a schedule.
    pub switching: Switching,
    /// If `true`, `let_in` uses the limits of jobs instead of their mean sizes: a job can start if
    /// its limit is at most `κ` times the time until, according to the limits of the running jobs,
    /// there is enough capacity for the blocked job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// The conditions for leaving a schedule, and the other jobs that are allowed to start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// A schedule is left for one that uses more if it uses at most this fraction of the capacity,
    /// in \[0, 1\].
    pub waste: f64,
    /// A schedule is also left if the weight of another one is more than `1 + margin` times its
    /// weight plus `floor`. Must be at least 0; the best known values are between 0 and 2.
    pub margin: f64,
    /// See `margin`: a weight as a number of jobs, which must be at least 0. The best value is
    /// between one third of the maximum number of jobs of a schedule (at low load) and twice this
    /// number. If the value is several thousand, a schedule is never left because of the weights.
    pub floor: f64,
    /// If a job of the schedule is blocked, other jobs can only start if the value of the capacity
    /// that would otherwise be idle, multiplied by the weight of the schedule, is less than this
    /// number of jobs. Must be at least 0. If it is 0, all of the capacity is held for the
    /// schedule, and if it is very large, none is. The best value is about 1 at low load and less
    /// than 1/3 if the load is close to 1. It is 0 if jobs that need a whole server have to wait
    /// for many small jobs.
    pub patience: f64,
    /// The cost `c` of a drain, which must be at least 0. The weight of another schedule is
    /// multiplied by `F/(F + c D)`, where `D` is the time until one more job of the type with the
    /// most missing jobs fits, and `F` is the time until the schedule runs out of jobs. If `c` is 0
    /// (the default), a schedule has its full weight if one of its jobs can start, and otherwise it
    /// is only used if the current schedule is left because of `waste`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drain: f64,
    /// The factor `κ`, which must be at least 0. If a job of the schedule is blocked, another job
    /// can start if it fits next to the whole schedule, or if its mean size is at most `κ` times
    /// the remaining waiting time. If `κ` is 0 (the default), no job starts for these reasons.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub let_in: f64,
}

/// Adaptive MSR, without preemption. It uses the working schedules of a Markovian Service Rate
/// policy, but switches between them based on the queue lengths instead of a clock.
///
/// Let `Q` be the number of jobs in the system, and `p` the shadow prices, at which a full working
/// schedule has a value of 1. A schedule `u` *uses* `Σ p_i min(u_i, Q_i)` and *weighs*
/// `Σ p_i min(u_i, Q_i) Q_i`. The rule switches to the schedule with the largest weight among
///
/// - the schedules that use more, if the current schedule uses at most `waste`;
/// - the schedules with a weight of more than `1 + margin` times the current weight plus `floor`,
///   if they can start a job immediately, so that no capacity is wasted by a drain.
///
/// The jobs of the schedule start as soon as they fit. If one of them is blocked, other jobs only
/// start, in the order of arrival, if the value of the capacity that would otherwise be idle,
/// multiplied by the weight of the schedule, is less than `patience`. In a one-or-all system,
/// `waste` is the threshold `ℓ/k` of Quickswap, and `margin` and `floor` end the turn of the heavy
/// jobs while some of them are left, as in the optimal policy. In section 7 of the MSR paper,
/// `patience` is the value at which the optimal policy starts to hold capacity. With `drain` or
/// `let_in`, drains have a cost, and other jobs can start meanwhile (see `draining`). Otherwise, a
/// decision takes `O(N + K)` for `N` schedules, plus the size of the schedules that serve the type
/// of the event. This rule was created for this project. No proof of its stability is known.
#[derive(Clone, Debug)]
pub struct AdaptiveMsr {
    worths: ScheduleWeights,
    prices: Vec<f64>,
    switching: Switching,
    draining: Draining,
    present: usize,
    /// Set to `true` if no waiting job fitted after the last decision.
    full: bool,
}

impl PolicyConfig for AdaptiveMsrConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(AdaptiveMsr::new(self, fleet.envelope()))
    }

    fn describe(&self, _: &Workload) -> String {
        let knobs = self.switching;
        let (floor, patience) = (knobs.floor, knobs.patience);
        let (drain, let_in) = (knobs.drain, knobs.let_in);
        let ready = match drain > 0.0 {
            true => format!(
                "; the weight of a schedule is multiplied by F/(F + {drain} D), where D is the time until one more job of the type with the most missing jobs fits, and F is the time until the schedule runs out of jobs (drain)"
            ),
            false => " and it can start a job immediately".into(),
        };
        let (length, limits) = match self.limits {
            true => ("limit", " by the limits of the running jobs"),
            false => ("mean size", ""),
        };
        let beside = format!(
            ", or if they fit next to the whole schedule, or if their {length} is at most {let_in} times the remaining waiting time{limits} (let in)"
        );
        let beside = if let_in > 0.0 { &*beside } else { "" };
        format!(
            "Adaptive MSR, without preemption: the policy uses one schedule of the mix below at a time. The weight of a schedule is based on the queue lengths. The policy switches to the schedule with the largest weight if the current schedule uses at most {:.0} % of its capacity (waste), or if the weight is more than {} times the current weight plus {floor} jobs (margin, floor){ready}. If a job of the schedule is blocked, other jobs can only start if the weight of the capacity that would otherwise be idle is less than {patience} jobs (patience){beside}.",
            100.0 * knobs.waste,
            1.0 + knobs.margin
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        check::priced(&self.schedules, &self.prices, fleet.envelope(), findings);
        findings.within("switching", |f| {
            check::numbers(&self.switching, &[], f);
            if self.switching.waste > 1.0 {
                f.differs("waste", self.switching.waste, "from 0 to 1");
            }
        });
    }

    fn needs_limits(&self) -> bool {
        self.limits
    }

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        0.3 + 0.12 * workload.types().len() as f64
    }

    fn describe_parameters(&self, _: &Workload) -> Option<String> {
        describe_settings(self)
    }

    fn grids(&mut self, context: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        let knobs = &mut self.switching;
        let mut grids: Vec<(&mut f64, &'static [f64])> = vec![
            (&mut knobs.floor, FLOOR),
            (&mut knobs.patience, PATIENCE),
            (&mut knobs.margin, MARGIN),
            (&mut knobs.waste, WASTE),
        ];
        if self.limits || mean_sizes_differ(context.workload) {
            grids.extend([(&mut knobs.drain, DRAIN), (&mut knobs.let_in, LET_IN)]);
        }
        grids
    }
}

const WASTE: &[f64] = &[0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.65, 0.8, 0.95];
const MARGIN: &[f64] = &[0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
const FLOOR: &[f64] = &[
    0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 60.0, 100.0, 160.0, 250.0, 500.0, 1e3, 4e3, 1e5,
];
const PATIENCE: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0, 16.0, 1e6];
const DRAIN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];

impl AdaptiveMsr {
    pub(super) fn new(policy: &AdaptiveMsrConfig, workload: &Workload) -> Self {
        AdaptiveMsr {
            worths: ScheduleWeights::new(&policy.schedules, &policy.prices),
            prices: policy.prices.clone(),
            switching: policy.switching,
            draining: Draining::new(policy, workload),
            present: 0,
            full: false,
        }
    }

    fn choose(&mut self, stuck: bool, system: &mut System) {
        let knobs = &self.switching;
        let ScheduleWeights { uses, weighs, .. } = &self.worths;
        let used = uses[self.present];
        let wasteful = used <= knobs.waste;
        if stuck && !wasteful && knobs.drain <= 0.0 {
            return;
        }
        let enough = weighs[self.present] * (1.0 + knobs.margin) + knobs.floor;
        let (mut best, mut most) = (self.present, if wasteful { 0.0 } else { enough });
        let mut next = self.worths.next_heavier(0, most);
        while let Some(s) = next {
            let saves = wasteful && uses[s] > used;
            let part = if knobs.drain > 0.0 {
                self.draining.part(&self.worths.schedules[s], system)
            } else {
                let starts = |own: &Slots| own.has_waiting_job(system) && system.fits(own.job_type);
                f64::from(u8::from(
                    saves || self.worths.schedules[s].iter().any(starts),
                ))
            };
            let weigh = part * weighs[s];
            if weigh > most && (saves || weigh > enough) {
                (best, most) = (s, weigh);
            }
            next = self.worths.next_heavier(s + 1, most);
        }
        if best != self.present {
            self.present = best;
            system.count_switch();
        }
    }

    fn start_own(&mut self, system: &mut System) -> bool {
        let mut blocked = false;
        for slots in &self.worths.schedules[self.present] {
            while slots.has_waiting_job(system) && system.fits(slots.job_type) {
                self.draining.backfill.start(slots.job_type, system);
            }
            blocked |= slots.has_waiting_job(system);
        }
        blocked
    }

    fn start_beside(&mut self, system: &mut System) -> bool {
        let patience = self.switching.patience;
        self.draining
            .let_in(&self.worths.schedules[self.present], system);
        if patience <= 0.0 {
            return false;
        }
        let Some(mut oldest) = system.oldest_fitting_type() else {
            return true;
        };
        let weighs = self.worths.weighs[self.present];
        let running = self.prices.iter().enumerate();
        let running = running.map(|(i, price)| price * f64::from(system.running(i)));
        let mut idle = 1.0 - running.sum::<f64>();
        loop {
            let more = system.waiting(oldest).into();
            let more = (0..system.capacity().len())
                .filter_map(|j| system.free(j).checked_div(system.demand(oldest)[j]))
                .fold(more, u64::min);
            // A single small job would leave capacity idle, so all jobs of its type that fit count.
            let left = (idle - self.prices[oldest] * more as f64).max(0.0);
            if left * weighs >= patience {
                return false;
            }
            self.draining.backfill.start(oldest, system);
            idle -= self.prices[oldest];
            match system.oldest_fitting_type() {
                Some(next) => oldest = next,
                None => return true,
            }
        }
    }
}

impl Policy for AdaptiveMsr {
    fn information(&self) -> Information {
        self.draining.backfill.knows()
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.draining.backfill.look(event, system);
        let is_next = self.worths.look(event, system);
        // If no job has fitted before, the new job is the only one that can start.
        let stuck = is_next && self.full && matches!(event, Event::Arrival(i) if !system.fits(i));
        self.choose(stuck, system);
        if stuck {
            return;
        }
        self.full = if self.start_own(system) {
            self.start_beside(system)
        } else {
            self.draining.backfill.start_all_that_fit(system);
            true
        };
    }

    fn take_over(&mut self, system: &mut System) {
        self.draining.backfill.take_over(system);
        self.decide(system);
    }

    fn describe_state(&self, names: &[&str], _: &System) -> Option<String> {
        let slots = self.worths.schedules[self.present].iter();
        let slots = slots.map(|slots| (slots.job_type, slots.count));
        Some(format!(
            "uses the schedule of {} and may keep some capacity for its jobs",
            super::in_words(slots, names)
        ))
    }

    fn resume(&mut self, system: &mut System) {
        let filled = |slots: &Slots| {
            slots.price * f64::from(system.running(slots.job_type).min(slots.count))
        };
        let schedules = self.worths.schedules.iter();
        let fills = schedules.map(|slots| slots.iter().map(filled).sum());
        self.present = index_of_largest(&fills.collect::<Vec<f64>>());
        self.take_over(system);
    }
}
