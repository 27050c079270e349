use super::by_need::ByNeed;
use super::{Event, Policy, System};
use crate::multiresource::workload::Workload;

/// Best-Fit: repeatedly the fitting job with the largest dominant share; of equals the oldest.
///
/// The heuristic of bin packing, as a rule for servers: Maguluri, Srikant, Ying, "Stochastic
/// models of load balancing and scheduling in cloud computing clusters", INFOCOM 2012, who show
/// that it is not throughput-optimal. "Best" is read as the largest dominant share
/// `max_j D_ij / P_j` of the whole server, so the rule is the same as
/// [`MostServersFirst`](super::MostServersFirst): on one resource by nature, on several because
/// need is taken to be the dominant share there too. O(K) a decision.
#[derive(Clone, Debug)]
pub struct BestFit(ByNeed);

impl BestFit {
    /// The rule for this workload.
    pub fn new(workload: &Workload) -> Self {
        BestFit(ByNeed::descending(workload))
    }
}

impl Policy for BestFit {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.0.react(event, system);
    }
}
