use super::first_fit::start_all_that_fit;
use super::{Event, Policy, System};
use crate::artifact::{AdaptiveMsrPolicy, Switching};

/// Adaptive MSR, without preemption: the working schedules of a Markovian Service Rate policy, left
/// and chosen by queue lengths in place of a clock.
///
/// With Q the jobs in the system and p the prices of the program's certificate, of which a full
/// working schedule has 1, a schedule u *uses* `Σ p_i min(u_i, Q_i)` and *weighs* `Σ p_i min(u_i,
/// Q_i) Q_i`: what it would serve, each job as urgent as its queue is long. The present schedule is
/// left for the heaviest of
/// - those that use more, when it uses no more than φ: it has become wasteful;
/// - those that weigh more than 1 + δ times as much and θ: so that switching cannot eat the capacity.
///
/// On the way there its jobs start as soon as they fit, and no others while one of them waits for
/// room; after that what room is left is backfilled in order of arrival. On a one-or-all system φ is
/// the threshold ℓ/k of Quickswap, and δ and θ end the heavy jobs' turn before there are none, as the
/// optimum does. O(N K) a decision for N schedules, at most K of them. Ours; it has no proof of
/// stability.
#[derive(Clone, Debug)]
pub struct AdaptiveMsr {
    policy: AdaptiveMsrPolicy,
    /// The present schedule.
    present: usize,
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
        AdaptiveMsr {
            policy: policy.clone(),
            present: 0,
        }
    }

    fn worth(&self, s: usize, system: &System) -> Worth {
        let nothing = Worth {
            uses: 0.0,
            weighs: 0.0,
        };
        let slots = self.policy.schedules[s]
            .iter()
            .zip(&self.policy.prices)
            .enumerate();
        slots.fold(nothing, |sum, (i, (slots, price))| {
            let number = system.present(i) as f64;
            let uses = price * number.min(f64::from(*slots));
            Worth {
                uses: sum.uses + uses,
                weighs: sum.weighs + uses * number,
            }
        })
    }

    fn choose(&mut self, system: &mut System) {
        let Switching {
            waste,
            margin,
            floor,
        } = self.policy.switching;
        let present = self.worth(self.present, system);
        let enough = present.weighs * (1.0 + margin) + floor;
        let mut best = (self.present, 0.0);
        for s in 0..self.policy.schedules.len() {
            let worth = self.worth(s, system);
            let better = match present.uses <= waste {
                true => worth.uses > present.uses,
                false => worth.weighs > enough,
            };
            if better && worth.weighs > best.1 {
                best = (s, worth.weighs);
            }
        }
        if best.0 != self.present {
            self.present = best.0;
            system.count_switch();
        }
    }
}

impl Policy for AdaptiveMsr {
    fn react(&mut self, _: Event, system: &mut System) {
        self.choose(system);
        let mut blocked = false;
        for (i, slots) in self.policy.schedules[self.present].iter().enumerate() {
            while system.running(i) < *slots && system.waiting(i) > 0 && system.fits(i) {
                system.start(i);
            }
            blocked |= system.running(i) < *slots && system.waiting(i) > 0;
        }
        if !blocked {
            start_all_that_fit(system);
        }
    }
}
