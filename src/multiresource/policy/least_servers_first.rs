use super::by_need::ByNeed;
use super::{Event, Policy, System};
use crate::multiresource::workload::Workload;

/// Least Servers First, without preemption: repeatedly the fitting job with the smallest need; of
/// equals the oldest.
///
/// [`MostServersFirst`](super::MostServersFirst) the other way round; first named "smallest number of
/// processes first" (Majumdar, Eager, Bunt, "Scheduling in multiprogrammed parallel systems",
/// SIGMETRICS 1988). Where small jobs keep coming, large ones wait without end. O(K) a decision.
#[derive(Clone, Debug)]
pub struct LeastServersFirst(ByNeed);

impl LeastServersFirst {
    /// The rule for this workload.
    pub fn new(workload: &Workload) -> Self {
        LeastServersFirst(ByNeed::ascending(workload))
    }
}

impl Policy for LeastServersFirst {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.0.react(event, system);
    }
}
