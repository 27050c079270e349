use super::{Event, Policy, System, by_need};
use crate::multiresource::artifact::StaticQuickswapPolicy;
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

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
/// resources, are ours, and so is that a type goes on while nobody else waits. O(K) a decision.
#[derive(Clone, Debug)]
pub struct StaticQuickswap {
    cycle: Vec<usize>,
    /// By type: ℓ_i.
    thresholds: Vec<u64>,
    overlap: bool,
    /// Whose turn it is: a place in the cycle.
    turn: usize,
    draining: bool,
}

impl StaticQuickswap {
    /// With this cycle, thresholds and overlap.
    pub fn new(policy: &StaticQuickswapPolicy) -> Self {
        StaticQuickswap {
            cycle: policy.cycle.clone(),
            thresholds: policy.thresholds.iter().map(|l| u64::from(*l)).collect(),
            overlap: policy.overlap,
            turn: 0,
            draining: false,
        }
    }

    /// The paper's: the largest need (dominant share) first, of equals the first type; ℓ_i = c_i − 1.
    pub fn published(workload: &Workload, overlap: bool) -> StaticQuickswapPolicy {
        let packing = Packing::new(workload);
        let threshold = |i| packing.most(i, packing.capacity()).saturating_sub(1);
        StaticQuickswapPolicy {
            cycle: by_need::descending(workload),
            thresholds: (0..packing.types()).map(threshold).collect(),
            overlap,
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

impl Policy for StaticQuickswap {
    fn react(&mut self, _: Event, system: &mut System) {
        loop {
            let i = self.cycle[self.turn];
            if self.draining {
                if !self.overlap && system.running(i) > 0 {
                    return;
                }
                // Somebody waits since the drain began.
                self.turn = self.next(system).unwrap_or(self.turn);
                self.draining = false;
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
}
