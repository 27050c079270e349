use super::{Event, Policy, System};
use crate::multiresource::workload::Workload;

/// By need, without preemption: repeatedly the fitting job of the largest need, or of the smallest; of equals the oldest.
///
/// A type's need is its dominant share `max_j D_ij / P_j`; with one resource it is the number of
/// servers over k. O(K) a decision.
#[derive(Clone, Debug)]
pub struct ByNeed {
    /// Types of equal need, in the order in which they are offered free room.
    classes: Vec<Vec<usize>>,
}

/// The types by need, the largest first, of equals the first type.
pub(super) fn descending(workload: &Workload) -> Vec<usize> {
    let needs = workload.dominant_shares();
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by(|&a, &b| needs[b].total_cmp(&needs[a]));
    order
}

impl ByNeed {
    /// Most Servers First (MSF), as the Quickswap paper has it (Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver
    /// Job Scheduling with Quickswap", 2025), where it is MSFQ with threshold 0; the paper has one resource.
    ///
    /// It is Best-Fit, too, the heuristic of bin packing as a rule for servers: Maguluri, Srikant, Ying, "Stochastic
    /// models of load balancing and scheduling in cloud computing clusters", INFOCOM 2012, who show that it is not
    /// throughput-optimal. "Best" is read as the largest dominant share of the whole server.
    pub fn largest_first(workload: &Workload) -> Self {
        let needs = workload.dominant_shares();
        let order = descending(workload);
        let classes = order.chunk_by(|&a, &b| needs[a] == needs[b]);
        ByNeed {
            classes: classes.map(<[usize]>::to_vec).collect(),
        }
    }

    /// Least Servers First, first named "smallest number of processes first" (Majumdar, Eager, Bunt, "Scheduling in
    /// multiprogrammed parallel systems", SIGMETRICS 1988). Where small jobs keep coming, large ones wait without end.
    pub fn smallest_first(workload: &Workload) -> Self {
        let mut types = Self::largest_first(workload);
        types.classes.reverse();
        types
    }

    /// Repeatedly starts the oldest of the jobs of the first class with one that fits.
    pub(super) fn start_fitting(&self, event: Event, system: &mut System) {
        match event {
            // An arrival frees no room: no other job has come to fit.
            Event::Arrival(i) if system.waiting(i) > 1 || !system.fits(i) => {}
            Event::Arrival(i) => system.start(i),
            _ => self.start_all(system),
        }
    }

    /// The type of the waiting job with the largest need, of equals the oldest.
    pub(super) fn first_waiting(&self, system: &System) -> Option<usize> {
        let of_class = |class: &Vec<usize>| oldest(class.iter().copied(), system);
        self.classes.iter().find_map(of_class)
    }

    /// Starts all that fit, the first class first. One pass: what did not fit before a start does
    /// not fit after it.
    pub(super) fn start_all(&self, system: &mut System) {
        for class in &self.classes {
            while let Some(i) = oldest_fitting(class, system) {
                system.start(i);
            }
        }
    }
}

impl Policy for ByNeed {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.start_fitting(event, system);
    }
}

/// Of these types, the one with the oldest waiting job of those that fit.
fn oldest_fitting(class: &[usize], system: &System) -> Option<usize> {
    oldest(class.iter().copied().filter(|&i| system.fits(i)), system)
}

/// Of these types, the one with the oldest waiting job.
fn oldest(types: impl Iterator<Item = usize>, system: &System) -> Option<usize> {
    let heads = types.filter_map(|i| Some((system.nth_number(i, 0)?, i)));
    heads.min().map(|(_, i)| i)
}
