use super::first_fit::start_all_that_fit;
use super::{Event, FamilyRule, KnobRange, Policy, System, along};
use crate::multiresource::artifact::{AdaptiveMsrPolicy, Switching};
use crate::multiresource::workload::Workload;

/// Adaptive MSR, without preemption: the working schedules of a Markovian Service Rate policy, left
/// and chosen by queue lengths in place of a clock.
///
/// With Q the jobs in the system, and p the prices of the program's certificate, of which a full
/// working schedule has 1, a schedule u *uses* `Σ p_i min(u_i, Q_i)` and *weighs* `Σ p_i min(u_i,
/// Q_i) Q_i`: what it would serve, each job as urgent as its queue is long. The present schedule is
/// left for the heaviest of
/// - those that use more, when it uses no more than `waste`: it has become wasteful;
/// - those that weigh more than 1 + `margin` times as much plus `floor`, and of which a job can start at once, so
///   that switching does not waste capacity on drains.
///
/// Its jobs start as soon as they fit. While one of them waits for room, other jobs start only if what
/// would stay idle, by price, times the weight of the schedule is less than `patience`; otherwise the room left
/// is backfilled in order of arrival. On a one-or-all system `waste` is the threshold ℓ/k of
/// Quickswap, and `margin` and `floor` end the heavy jobs' turn before there are none, as the optimum does; on
/// section 7 of the MSR paper `patience` is where the optimum begins to hold room. O(N K) a decision for N
/// schedules, at most K of them. Ours; it has no proof of stability.
#[derive(Clone, Debug)]
pub struct AdaptiveMsr {
    schedules: Vec<Vec<Slots>>,
    prices: Vec<f64>,
    switching: Switching,
    /// The present schedule.
    present: usize,
}

/// The part of a schedule that is one type's.
#[derive(Clone, Copy, Debug)]
struct Slots {
    job_type: usize,
    count: u32,
    /// p_i.
    price: f64,
}

/// What a schedule would do for the jobs that are there.
#[derive(Clone, Copy)]
struct Worth {
    uses: f64,
    weighs: f64,
}

impl AdaptiveMsr {
    /// It begins with the first schedule.
    pub fn new(policy: &AdaptiveMsrPolicy) -> Self {
        let slots = |(job_type, count): (usize, &u32)| Slots {
            job_type,
            count: *count,
            price: policy.prices[job_type],
        };
        let schedule = |u: &Vec<u32>| -> Vec<Slots> {
            let all = u.iter().enumerate().map(slots);
            all.filter(|slots| slots.count > 0).collect()
        };
        AdaptiveMsr {
            schedules: policy.schedules.iter().map(schedule).collect(),
            prices: policy.prices.clone(),
            switching: policy.switching,
            present: 0,
        }
    }

    fn worth(&self, s: usize, system: &System) -> Worth {
        let (mut uses, mut weighs) = (0.0, 0.0);
        for slots in &self.schedules[s] {
            let number = system.present(slots.job_type);
            let served = slots.price * number.min(slots.count.into()) as f64;
            uses += served;
            weighs += served * number as f64;
        }
        Worth { uses, weighs }
    }

    fn choose(&mut self, system: &mut System) {
        let Switching {
            waste,
            margin,
            floor,
            ..
        } = self.switching;
        let present = self.worth(self.present, system);
        let enough = present.weighs * (1.0 + margin) + floor;
        let can_start = |s: usize, system: &System| {
            let mut slots = self.schedules[s].iter();
            slots.any(|slots| slots.lack(system) && system.fits(slots.job_type))
        };
        let mut best = (self.present, 0.0);
        for s in 0..self.schedules.len() {
            let worth = self.worth(s, system);
            let saves = present.uses <= waste && worth.uses > present.uses;
            let better = saves || worth.weighs > enough && can_start(s, system);
            if worth.weighs > best.1 && better {
                best = (s, worth.weighs);
            }
        }
        if best.0 != self.present {
            self.present = best.0;
            system.count_switch();
        }
    }

    /// Starts others while a job of the schedule waits for room.
    fn start_beside(&self, system: &mut System) {
        let patience = self.switching.patience;
        if patience <= 0.0 {
            return;
        }
        let weighs = self.worth(self.present, system).weighs;
        let running = self.prices.iter().enumerate();
        let running = running.map(|(i, price)| price * f64::from(system.running(i)));
        let mut idle = 1.0 - running.sum::<f64>();
        while let Some(i) = system.oldest_fitting_type() {
            let more = system.waiting(i).into();
            let more = (0..system.capacity().len())
                .filter_map(|j| system.free(j).checked_div(system.demand(i)[j]))
                .fold(more, u64::min);
            // As if all jobs of its type that fit had started: one of many small jobs leaves room idle.
            if (idle - self.prices[i] * more as f64).max(0.0) * weighs >= patience {
                return;
            }
            system.start(i);
            idle -= self.prices[i];
        }
    }
}

impl Slots {
    /// Whether a job of the type waits that has a slot.
    fn lack(&self, system: &System) -> bool {
        system.running(self.job_type) < self.count && system.waiting(self.job_type) > 0
    }
}

const WASTE: [f64; 11] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.65, 0.8, 0.95];
const MARGIN: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
const FLOOR: [f64; 16] = [
    0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 60.0, 100.0, 160.0, 250.0, 500.0, 1e3, 4e3, 1e5,
];
const PATIENCE: [f64; 12] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0, 16.0, 1e6];

impl FamilyRule for AdaptiveMsrPolicy {
    type Rule = AdaptiveMsr;

    fn rule(&self, _: &Workload) -> AdaptiveMsr {
        AdaptiveMsr::new(self)
    }

    fn words(&self, _: &Workload) -> String {
        let Switching {
            waste,
            margin,
            floor,
            patience,
        } = self.switching;
        format!(
            "Adaptive MSR, without preemption: it works on one schedule of the mix below at a time. It leaves it for the schedule that weighs most by queue lengths when the present one uses no more than {:.0} % of what it could (waste), or when the other weighs more than {} times as much plus {floor} jobs (margin, floor) and can start a job at once. While jobs of the schedule wait for room, others start only if what would stay idle weighs less than {patience} jobs (patience).",
            100.0 * waste,
            1.0 + margin
        )
    }

    fn axes(&self, _: &KnobRange<'_>) -> usize {
        4
    }

    fn stepped(&self, axis: usize, up: bool, _: &KnobRange<'_>) -> Option<Self> {
        let mut stepped = self.clone();
        let Switching {
            waste,
            margin,
            floor,
            patience,
        } = &mut stepped.switching;
        match axis {
            0 => *floor = along(&FLOOR, *floor, up)?,
            1 => *patience = along(&PATIENCE, *patience, up)?,
            2 => *margin = along(&MARGIN, *margin, up)?,
            _ => *waste = along(&WASTE, *waste, up)?,
        }
        Some(stepped)
    }
}

impl Policy for AdaptiveMsr {
    fn react(&mut self, _: Event, system: &mut System) {
        self.choose(system);
        let mut blocked = false;
        for slots in &self.schedules[self.present] {
            while slots.lack(system) && system.fits(slots.job_type) {
                system.start(slots.job_type);
            }
            blocked |= slots.lack(system);
        }
        if blocked {
            self.start_beside(system);
        } else {
            start_all_that_fit(system);
        }
    }
}
