use super::{Event, FamilyRule, KnobRange, Policy, System};
use crate::multiresource::artifact::StaticQuickswapPolicy;
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::{JobType, Workload};

/// Static Quickswap, without preemption: the types in a fixed cycle, one at a time.
///
/// In its working phase only type i is admitted, as many as fit, until no more than ℓ_i of its jobs
/// are in the system, all in service, and a job of another type waits; then those in service
/// finish, and it is the turn of the next type in the cycle that has a waiting job. With *overlap*
/// that type starts as soon as it fits, while the last one drains.
///
/// With c_i the number of type i that fits, `Σ_i λ_i/(μ_i c_i) < 1` suffices for stability, without
/// overlap and for all ℓ_i < c_i.
///
/// Source: Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap",
/// 2025, section 4.3, with ℓ_i = c_i − 1 and one resource; thresholds below that, and several
/// resources, are ours, and so is that a type continues while no other job waits. O(K) a decision.
#[derive(Clone, Debug)]
pub struct StaticQuickswap {
    cycle: Vec<usize>,
    /// By type: ℓ_i.
    thresholds: Vec<u64>,
    overlap: bool,
    /// The type whose turn it is: a place in the cycle.
    turn: usize,
    draining: bool,
    /// By type: the dominant share of the server.
    shares: Vec<f64>,
}

impl StaticQuickswap {
    /// With this cycle, thresholds and overlap.
    pub fn new(policy: &StaticQuickswapPolicy, workload: &Workload) -> Self {
        StaticQuickswap {
            shares: workload.dominant_shares(),
            cycle: policy.cycle.clone(),
            thresholds: policy.thresholds.iter().map(|l| u64::from(*l)).collect(),
            overlap: policy.overlap,
            turn: 0,
            draining: false,
        }
    }

    /// The next place in the cycle of a type with a waiting job, the present one last.
    fn next(&self, system: &System) -> Option<usize> {
        let places = (1..=self.cycle.len()).map(|step| (self.turn + step) % self.cycle.len());
        let mut waiting = places.filter(|place| system.waiting(self.cycle[*place]) > 0);
        waiting.next()
    }

    fn turn_is_over(&self, i: usize, system: &System) -> bool {
        system.waiting(i) == 0
            && system.present(i) <= self.thresholds[i]
            && system.queued().next().is_some()
    }
}

/// `Σ_i λ_i/(μ_i c_i)`, c_i the number of type i that fits: below 1 Static Quickswap without overlap is
/// stable (Quickswap paper, section 4.3).
pub fn time_of_turns(workload: &Workload) -> f64 {
    let packing = Packing::new(workload);
    let types = workload.types().iter().enumerate();
    let turn = |(i, job_type): (usize, &JobType)| {
        job_type.offered_load() / f64::from(packing.most(i, packing.capacity()))
    };
    types.map(turn).sum()
}

impl FamilyRule for StaticQuickswapPolicy {
    type Rule = StaticQuickswap;

    fn rule(&self, workload: &Workload) -> StaticQuickswap {
        StaticQuickswap::new(self, workload)
    }

    fn words(&self, workload: &Workload) -> String {
        let turn = |i: &usize| {
            let name = workload.types()[*i].name();
            format!("{name} ({})", self.thresholds[*i])
        };
        let turns: Vec<String> = self.cycle.iter().map(turn).collect();
        let next = match self.overlap {
            true => "as soon as it fits, while the last one drains",
            false => "when the last one has drained",
        };
        format!(
            "Static Quickswap, without preemption: the types have their turns in the order {}. A turn ends when no more jobs of the type are left than its threshold (in brackets), all in service, and another type waits; the next type starts {next}.",
            turns.join(", ")
        )
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        !self.overlap && time_of_turns(workload) < 1.0
    }

    /// Overlap, all thresholds together, each of them, each two turns that follow each other.
    fn axes(&self, range: &KnobRange<'_>) -> usize {
        1 + range.several.len() + self.cycle.len()
    }

    fn stepped(&self, axis: usize, up: bool, range: &KnobRange<'_>) -> Option<Self> {
        let mut stepped = self.clone();
        let turned = |i: usize, l: u32| match up {
            true => (2 * l + 1).min(range.most[i] - 1),
            false => l / 2,
        };
        match axis {
            0 => stepped.overlap = up,
            1 => {
                let thresholds = stepped.thresholds.iter_mut().enumerate();
                thresholds.for_each(|(i, l)| *l = turned(i, *l));
            }
            axis if axis - 2 < range.several.len() => {
                let i = range.several[axis - 2];
                stepped.thresholds[i] = turned(i, stepped.thresholds[i]);
            }
            axis if up => {
                let place = axis - 2 - range.several.len();
                // A cycle of two has one order.
                if self.cycle.len() < 3 {
                    return None;
                }
                stepped.cycle.swap(place, place + 1);
            }
            _ => return None,
        }
        (stepped != *self).then_some(stepped)
    }
}

impl Policy for StaticQuickswap {
    fn react(&mut self, _: Event, system: &mut System) {
        loop {
            let i = self.cycle[self.turn];
            if self.draining {
                if !self.overlap && system.running(i) > 0 {
                    return;
                }
                self.draining = false;
                // The jobs that the drain was for may have been withdrawn.
                let Some(next) = self.next(system) else {
                    return;
                };
                self.turn = next;
            } else {
                while system.waiting(i) > 0 && system.fits(i) {
                    system.start(i);
                }
                if !self.turn_is_over(i, system) {
                    return;
                }
                self.draining = true;
            }
        }
    }
    fn doing(&self, names: &[&str], system: &System) -> Option<String> {
        let i = self.cycle[self.turn];
        let name = names[i];
        Some(match (self.draining, self.overlap) {
            (false, _) => format!(
                "it is the turn of {name}, as long as one of them waits or more than {} are there, or nobody else waits; {} run",
                self.thresholds[i],
                system.running(i)
            ),
            (true, false) => format!(
                "the turn of {name} is over, and the {} that run finish first",
                system.running(i)
            ),
            (true, true) => format!("the turn of {name} is over"),
        })
    }

    /// It is the turn of the type whose running jobs fill most, by dominant share.
    fn resume(&mut self, system: &mut System) {
        let fills = |place: usize| {
            let i = self.cycle[place];
            self.shares[i] * f64::from(system.running(i))
        };
        for place in 0..self.cycle.len() {
            if fills(place) > fills(self.turn) {
                self.turn = place;
            }
        }
        self.react(Event::Clock(usize::MAX), system);
    }
}
