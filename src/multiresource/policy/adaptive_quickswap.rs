use super::by_need::ByNeed;
use super::{Event, Policy, System};
use crate::multiresource::workload::Workload;

/// Adaptive Quickswap, without preemption: Most Servers First, until jobs of a type wait of which
/// none is in service, while no type in service has a waiting job. Then no job starts but the waiting
/// job with the largest need, determined at each event; once it runs, Most Servers First goes on.
///
/// It has no guarantee of stability. With several resources need is the dominant share
/// `max_j D_ij / P_j`, of equals the oldest: the paper has one.
///
/// Source: Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap",
/// 2025, section 4.3. O(K) a decision.
#[derive(Clone, Debug)]
pub struct AdaptiveQuickswap {
    needs: ByNeed,
    draining: bool,
}

impl AdaptiveQuickswap {
    /// The rule for this workload.
    pub fn new(workload: &Workload) -> Self {
        AdaptiveQuickswap {
            needs: ByNeed::descending(workload),
            draining: false,
        }
    }
}

impl Policy for AdaptiveQuickswap {
    fn react(&mut self, event: Event, system: &mut System) {
        if self.draining {
            match self.needs.first_waiting(system) {
                Some(i) if system.fits(i) => system.start(i),
                _ => return,
            }
            self.needs.start_all(system);
        } else {
            self.needs.react(event, system);
        }
        self.draining = is_stuck(system);
    }

    fn doing(&self, names: &[&str], system: &System) -> Option<String> {
        let largest = self.needs.first_waiting(system).filter(|_| self.draining)?;
        Some(format!(
            "room is made for the largest waiting job, of {}: until it starts no other does",
            names[largest]
        ))
    }
}

/// Whether a type waits of which none runs, and no type that runs has a waiting job.
fn is_stuck(system: &System) -> bool {
    let mut queued = system.queued().peekable();
    queued.peek().is_some() && queued.all(|i| system.running(i) == 0)
}
