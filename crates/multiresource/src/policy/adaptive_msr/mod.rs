mod draining;
mod settings;
mod worth;

pub use settings::{AdaptiveMsrConfig, Switching};

use super::rule::{LET_IN, PolicyConfig, TuningContext, describe_settings, mean_sizes_differ};
use super::{Event, Information, Policy, System, check};
use crate::schedule::index_of_largest;
use crate::workload::{Fleet, Workload};
use draining::Draining;
use synth_core::artifact::Findings;
use worth::{ScheduleWeights, Slots};

/// Adaptive MSR, without preemption. It uses the working schedules of a Markovian Service Rate
/// policy, but switches between them based on the queue lengths instead of a clock.
///
/// Let `Q` be the number of jobs in the system, and let `p` be the shadow prices, for which a full
/// working schedule has a value of 1. A schedule `u` *uses* `Σ p_i min(u_i, Q_i)` and *weighs*
/// `Σ p_i min(u_i, Q_i) Q_i`. The weight is the value of the jobs that it can serve, multiplied by
/// the queue lengths. The rule switches to the schedule with the largest weight among
///
/// - the schedules that use more, if the current schedule uses at most `waste`;
/// - the schedules with a weight of more than `1 + margin` times the current weight plus `floor`,
///   if they can start a job immediately, so that no capacity is wasted by a drain.
///
/// The jobs of the schedule start as soon as they fit. If one of them is blocked, other jobs may
/// start in the order of arrival, but only if the value of the capacity that would otherwise be
/// idle, multiplied by the weight of the schedule, is less than `patience`.
///
/// In a one-or-all system, `waste` is the threshold `ℓ/k` of Quickswap, and `margin` and `floor`
/// end the turn of the heavy jobs while some of them are left, as in the optimal policy. In section
/// 7 of the MSR paper, `patience` is the value at which the optimal policy starts to hold capacity.
///
/// If `drain` or `let_in` is set, drains are allowed at a cost, and other jobs can start during a
/// drain (see `draining`). Otherwise, a decision takes `O(N + K)` for `N` schedules, plus the size
/// of the schedules that serve the type of the event. This rule was created for this project. No
/// proof of its stability is known.
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
        let Switching {
            waste,
            margin,
            floor,
            patience,
            drain,
            let_in,
        } = self.switching;
        let ready = if drain > 0.0 {
            format!(
                "; the weight of a schedule is multiplied by F/(F + {drain} D), where D is the time until one more job of the type with the most missing jobs fits, and F is the time until the schedule runs out of jobs (drain)"
            )
        } else {
            " and it can start a job immediately".into()
        };
        let (length, limits) = if self.limits {
            ("limit", " by the limits of the running jobs")
        } else {
            ("mean size", "")
        };
        let beside = if let_in > 0.0 {
            format!(
                ", or if they fit next to the whole schedule, or if their {length} is at most {let_in} times the remaining waiting time{limits} (let in)"
            )
        } else {
            String::new()
        };
        format!(
            "Adaptive MSR, without preemption: the policy uses one schedule of the mix below at a time. The weight of a schedule is based on the queue lengths. The policy switches to the schedule with the largest weight if the current schedule uses at most {:.0} % of its capacity (waste), or if the weight is more than {} times the current weight plus {floor} jobs (margin, floor){ready}. If a job of the schedule is blocked, other jobs can only start if the weight of the capacity that would otherwise be idle is less than {patience} jobs (patience){beside}.",
            100.0 * waste,
            1.0 + margin
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
    /// Creates the rule, which begins with the first schedule.
    pub fn new(policy: &AdaptiveMsrConfig, workload: &Workload) -> Self {
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
                f64::from(u8::from(saves || self.worths.can_start(s, system)))
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
            // A single small job would leave some capacity idle, so all jobs of its type that fit
            // are used.
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
        if self.start_own(system) {
            self.full = self.start_beside(system);
            return;
        }
        self.draining.backfill.start_all_that_fit(system);
        self.full = true;
    }

    fn take_over(&mut self, system: &mut System) {
        self.draining.backfill.take_over(system);
        self.react(Event::Clock(usize::MAX), system);
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
