//! Rules that start whatever fits, in some order.

use super::{Event, Policy, System};
use crate::workload::Workload;

/// First come, first served: starts the oldest waiting job while it fits, and stops at the
/// first that does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Policy for Fcfs {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, _event: Event, system: &mut System) {
        while let Some(head) = system.oldest_type()
            && system.fits(head)
        {
            system.start(head);
        }
    }
}

/// First-Fit (backfilling): scans the queue in arrival order and starts each job that fits.
///
/// Jobs of a type are alike, so the scan is over the oldest job of each type.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit;

impl Policy for FirstFit {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            // An arrival frees no room: no other job has come to fit.
            Event::Arrival(i) if system.waiting(i) > 1 || !system.fits(i) => {}
            Event::Arrival(i) => system.start(i),
            _ => {
                while let Some(i) = system.oldest_fitting_type() {
                    system.start(i);
                }
            }
        }
    }
}

/// By need, without preemption: repeatedly the fitting job of the largest need, or of the smallest; of equals the oldest.
///
/// A type's need is its dominant share `max_j D_ij / P_j`; with one resource it is the number of
/// servers over k. O(K) a decision.
#[derive(Clone, Debug)]
pub struct ByNeed {
    /// Types of equal need, in the order in which they are offered free room.
    pub(super) classes: Vec<Vec<usize>>,
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
        let mut order: Vec<usize> = (0..needs.len()).collect();
        order.sort_by(|&a, &b| needs[b].total_cmp(&needs[a]));
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

    /// The type of the waiting job with the largest need, of equals the oldest.
    pub(super) fn first_waiting(&self, system: &System) -> Option<usize> {
        let of_class = |class: &Vec<usize>| oldest(class, |_| true, system);
        self.classes.iter().find_map(of_class)
    }

    /// Starts all that fit, the first class first. One pass: what did not fit before a start does
    /// not fit after it.
    pub(super) fn start_all(&self, system: &mut System) {
        for class in &self.classes {
            while let Some(i) = oldest(class, |i| system.fits(i), system) {
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
        match event {
            // An arrival frees no room: no other job has come to fit.
            Event::Arrival(i) if system.waiting(i) > 1 || !system.fits(i) => {}
            Event::Arrival(i) => system.start(i),
            _ => self.start_all(system),
        }
    }
}

/// Of these types, the one with the oldest waiting job of those that are wanted.
pub(super) fn oldest(
    types: &[usize],
    wanted: impl Fn(usize) -> bool,
    system: &System,
) -> Option<usize> {
    let wanted = types.iter().filter(|i| wanted(**i));
    let heads = wanted.filter_map(|&i| Some((system.nth_number(i, 0)?, i)));
    heads.min().map(|(_, i)| i)
}
