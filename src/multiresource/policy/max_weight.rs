use super::{Event, Policy, System};
use crate::multiresource::schedule::{Knapsack, Packing, Schedule, maximal};
use crate::multiresource::workload::Workload;

/// MaxWeight: serves the schedule `argmax Σ_i Q_i u_i` over u ∈ S, with Q_i the jobs of type i in
/// the system. Preempts, the youngest first, so that the oldest u_i of type i are served.
///
/// Source: Maguluri, Srikant, Ying, "Stochastic models of load balancing and scheduling in cloud
/// computing clusters", INFOCOM 2012, after Tassiulas and Ephremides, IEEE Transactions on
/// Automatic Control 37(12), 1992; in continuous time with preemption as the MSR paper compares
/// with it. *Capped*, u ≤ Q; *uncapped*, the formula as it stands, of which min(u, Q) is served.
/// Both are throughput-optimal, and the second is far worse where schedules hold many jobs.
///
/// The maximum is exact. Where S has few maximal schedules, at most 20 000 counts in all of them
/// together, each one's worth is kept and changed at each event: O(maximal schedules). Of equals
/// the first in lexicographic order is served, so that the rule is a function of Q alone; the
/// values known from elsewhere are those of this tie rule, and on four types it is 5 % better than
/// to stay with the present schedule.
///
/// Otherwise it is a bounded knapsack by branch and bound ([`Knapsack`]), begun at the present
/// schedule, which stays if no other is worth more: O(K R) where all jobs fit, O(K log K) where the
/// root's bound tells it, exponential in K at worst.
#[derive(Clone, Debug)]
pub struct MaxWeight {
    capped: bool,
    /// How many of each type at most are served.
    chosen: Schedule,
    maximum: Maximum,
}

/// Counts in all maximal schedules together that are scanned at an event.
const WORK: usize = 20_000;

/// Candidates among which maximal schedules are looked for.
const VISITS: usize = 2_000_000;

/// How the maximum is found.
#[derive(Clone, Debug)]
enum Maximum {
    Scan(Scan),
    Bound(Box<Bound>),
}

impl MaxWeight {
    /// The rule with u ≤ Q.
    pub fn capped(workload: &Workload) -> Self {
        MaxWeight::new(workload, true)
    }

    /// The paper's formula, which may choose schedules that there are no jobs for.
    pub fn uncapped(workload: &Workload) -> Self {
        MaxWeight::new(workload, false)
    }

    fn new(workload: &Workload, capped: bool) -> Self {
        let packing = Packing::new(workload);
        let types = packing.types();
        MaxWeight {
            capped,
            chosen: vec![0; types],
            maximum: match maximal(&packing, WORK / types, VISITS) {
                Some(schedules) => Maximum::Scan(Scan::new(&schedules)),
                None => Maximum::Bound(Box::new(Bound::new(&packing))),
            },
        }
    }

    /// The same with branch and bound, however few schedules there are.
    #[cfg(test)]
    pub(super) fn bounding(self, workload: &Workload) -> Self {
        let bound = Bound::new(&Packing::new(workload));
        MaxWeight {
            maximum: Maximum::Bound(Box::new(bound)),
            ..self
        }
    }

    /// Stops what shall not run, then starts what shall.
    fn serve(&self, system: &mut System) {
        let target =
            |i: usize, system: &System| u64::from(self.chosen[i]).min(system.present(i)) as u32;
        for i in 0..self.chosen.len() {
            while system.running(i) > target(i, system) {
                system.stop(i);
            }
        }
        for i in 0..self.chosen.len() {
            while system.running(i) < target(i, system) {
                system.start(i);
            }
        }
    }
}

impl Policy for MaxWeight {
    fn preempts(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        let (i, before) = match event {
            Event::Arrival(i) => (i, system.present(i) - 1),
            Event::Completion(i) => (i, system.present(i) + 1),
            Event::Clock(_) => return,
        };
        match &mut self.maximum {
            Maximum::Scan(scan) => {
                scan.update(i, before, system.present(i), self.capped);
                scan.choose(&mut self.chosen);
            }
            Maximum::Bound(bound) => bound.choose(&mut self.chosen, self.capped, system),
        }
        self.serve(system);
    }
}

/// The worth of all maximal schedules. Any schedule u ≤ Q is part of a maximal one m, and is worth
/// no more than min(m, Q), which is in S too; so they suffice, capped or not.
#[derive(Clone, Debug)]
struct Scan {
    /// Counts of each type in all of them.
    counts: Vec<Vec<u32>>,
    worths: Vec<u64>,
}

impl Scan {
    fn new(schedules: &[Schedule]) -> Self {
        let counts = |i: usize| schedules.iter().map(|m| m[i]).collect();
        Scan {
            counts: (0..schedules[0].len()).map(counts).collect(),
            worths: vec![0; schedules.len()],
        }
    }

    /// Type i had so many jobs, and has so many now.
    fn update(&mut self, i: usize, before: u64, after: u64, capped: bool) {
        let worth = |jobs: u64, count: u64| jobs * if capped { count.min(jobs) } else { count };
        for (total, count) in self.worths.iter_mut().zip(&self.counts[i]) {
            let count = u64::from(*count);
            *total += worth(after, count);
            *total -= worth(before, count);
        }
    }

    fn choose(&self, chosen: &mut [u32]) {
        let best = self.worths.iter().fold(0, |best, worth| best.max(*worth));
        let first = self.worths.iter().position(|worth| *worth == best);
        let first = first.expect("there is a maximal schedule");
        for (count, counts) in chosen.iter_mut().zip(&self.counts) {
            *count = counts[first];
        }
    }
}

/// The best schedule by branch and bound.
#[derive(Clone, Debug)]
struct Bound {
    knapsack: Knapsack,
    /// How many of each type fit on the empty server.
    most: Vec<u32>,
    values: Vec<u64>,
    bounds: Vec<u32>,
}

impl Bound {
    fn new(packing: &Packing) -> Self {
        let types = 0..packing.types();
        let most: Vec<u32> = types.map(|i| packing.most(i, packing.capacity())).collect();
        Bound {
            knapsack: Knapsack::new(packing),
            values: vec![0; most.len()],
            bounds: most.clone(),
            most,
        }
    }

    fn choose(&mut self, chosen: &mut [u32], capped: bool, system: &System) {
        self.look(chosen, capped, system);
        if capped && self.all_fit(system) {
            chosen.copy_from_slice(&self.bounds);
        } else {
            self.knapsack.improve(&self.values, &self.bounds, chosen);
        }
    }

    /// Values and bounds; and the present schedule within them.
    fn look(&mut self, chosen: &mut [u32], capped: bool, system: &System) {
        for (i, count) in chosen.iter_mut().enumerate() {
            let jobs = system.present(i);
            self.values[i] = jobs;
            if capped {
                self.bounds[i] = u64::from(self.most[i]).min(jobs) as u32;
                *count = (*count).min(self.bounds[i]);
            }
        }
    }

    /// Whether there is room for as many of each type as the bounds say.
    fn all_fit(&self, system: &System) -> bool {
        let used = |j: usize| -> u128 {
            let counts = self.bounds.iter().enumerate();
            let amounts = counts.map(|(i, u)| u128::from(*u) * u128::from(system.demand(i)[j]));
            amounts.sum()
        };
        let capacity = system.capacity().iter().enumerate();
        capacity.into_iter().all(|(j, p)| used(j) <= u128::from(*p))
    }
}
