use super::by_need::ByNeed;
use super::{Event, Policy, System};
use crate::multiresource::workload::Workload;

/// Most Servers First (MSF), without preemption: repeatedly the fitting job with the largest need;
/// of equals the oldest.
///
/// As the Quickswap paper has it (Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job
/// Scheduling with Quickswap", 2025), where it is MSFQ with threshold 0. With several resources
/// need is the dominant share `max_j D_ij / P_j`: the paper has one. O(K) a decision.
#[derive(Clone, Debug)]
pub struct MostServersFirst(ByNeed);

impl MostServersFirst {
    /// The rule for this workload.
    pub fn new(workload: &Workload) -> Self {
        MostServersFirst(ByNeed::descending(workload))
    }
}

impl Policy for MostServersFirst {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.0.react(event, system);
    }
}
