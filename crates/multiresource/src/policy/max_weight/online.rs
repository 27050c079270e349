//! The rule with full preemption.

use super::settings::MaxWeightConfig;
use crate::policy::{Event, Policy, System};
use crate::schedule::{Knapsack, Packing, Schedule, maximal};
use crate::workload::Workload;

/// MaxWeight: serves the schedule `argmax Σ_i Q_i u_i` over u ∈ S, with Q_i the jobs of type i in
/// the system. Preempts, the youngest first, so that the oldest u_i of type i are served.
///
/// Source: Maguluri, Srikant, Ying, "Stochastic models of load balancing and scheduling in cloud
/// computing clusters", INFOCOM 2012, after Tassiulas and Ephremides, IEEE Transactions on
/// Automatic Control 37(12), 1992; in continuous time with preemption as the MSR paper compares
/// with it, but for u ≤ Q, which is throughput-optimal too, and far better where schedules hold many jobs.
/// *Weighted*, `argmax Σ_i c_i Q_i^a u_i` with u ≤ Q, and c, a > 0: throughput-optimal too (`Σ c_i Q_i^(a+1)/μ_i` is a
/// Lyapunov function: Eryilmaz, Srikant, Perkins, IEEE/ACM Transactions on Networking 13(2), 2005), and with a below
/// 1 closer to the least delay: the server is kept full rather than the longest queue served.
///
/// The maximum is exact. Where S has few maximal schedules, at most 20 000 counts in all of them
/// together, each one's worth is kept and changed at each event: O(maximal schedules). Of equals
/// the first in lexicographic order is served, so that the rule is a function of Q alone; the
/// values known from elsewhere are those of this tie rule, and on four types it is 5 % better than
/// to stay with the present schedule.
///
/// Otherwise it is a bounded knapsack by branch and bound ([`Knapsack`]), begun at the present
/// schedule, which stays if no other is worth more: O(K R) where all jobs fit; else a few O(K R log K) to price the
/// resources, so that hardly more than one branch is looked at, and exponential in K at worst, which is cut short. With
/// 20 to 100 types it takes 1 to 10 µs. Where it is cut short what is served is the best found, no worse than what ran.
#[derive(Clone, Debug)]
pub struct MaxWeight {
    pub(super) weights: Weights,
    /// How many of each type at most are served.
    pub(super) chosen: Schedule,
    maximum: Maximum,
}

/// Counts in all maximal schedules together that are scanned at an event.
const WORK: usize = 20_000;

/// Steps of a search after which the best that it found is taken: ten microseconds. Reached where many schedules are
/// worth nearly the same: at the program's prices.
const STEPS: usize = 1_000;

/// Candidates among which maximal schedules are looked for.
const VISITS: usize = 2_000_000;

/// How the maximum is found.
#[derive(Clone, Debug)]
enum Maximum {
    Scan(Scan),
    Bound(Box<Bound>),
}

impl MaxWeight {
    /// Each job weighs as many as there are of its type.
    pub fn plain(workload: &Workload) -> Self {
        MaxWeight::weighted(workload, &MaxWeightConfig::plain(workload.types().len()))
    }

    /// The rule with these weights.
    pub fn weighted(workload: &Workload, policy: &MaxWeightConfig) -> Self {
        MaxWeight::new(workload, Weights::of_policy(policy))
    }

    fn new(workload: &Workload, weights: Weights) -> Self {
        let packing = Packing::new(workload);
        let types = packing.types();
        MaxWeight {
            weights,
            chosen: vec![0; types],
            maximum: match few_maximal(&packing) {
                Some(schedules) => Maximum::Scan(Scan::new(&schedules)),
                None => Maximum::Bound(Box::new(Bound::new(&packing))),
            },
        }
    }

    /// The same with branch and bound, however few schedules there are.
    #[cfg(test)]
    pub(crate) fn bounding(self, workload: &Workload) -> Self {
        let bound = Bound::new(&Packing::new(workload));
        MaxWeight {
            maximum: Maximum::Bound(Box::new(bound)),
            ..self
        }
    }

    /// The schedule of most weight after this event; none after one that changes nothing.
    pub(super) fn choose(&mut self, event: Event, system: &System) -> Option<&[u32]> {
        let (i, before) = match event {
            Event::Arrival(i) => (i, system.present(i) - 1),
            Event::Completion(i) => (i, system.present(i) + 1),
            Event::Clock(_) => return None,
        };
        let weights = &self.weights;
        match &mut self.maximum {
            Maximum::Scan(scan) => {
                scan.update(i, [before, system.present(i)], weights);
                scan.choose(&mut self.chosen);
            }
            Maximum::Bound(bound) => bound.choose(&mut self.chosen, weights, system),
        }
        Some(&self.chosen)
    }

    /// The same from a system of which it has not seen the events.
    pub(super) fn look(&mut self, system: &System) {
        let weights = &self.weights;
        match &mut self.maximum {
            Maximum::Scan(scan) => {
                scan.worths.fill(0);
                for i in 0..self.chosen.len() {
                    scan.update(i, [0, system.present(i)], weights);
                }
                scan.choose(&mut self.chosen);
            }
            Maximum::Bound(bound) => {
                for (i, count) in self.chosen.iter_mut().enumerate() {
                    *count = system.running(i);
                }
                bound.choose(&mut self.chosen, weights, system);
            }
        }
    }
}

/// Stops what shall not run, then starts what shall: of each type as many as are chosen, or all.
fn serve(chosen: &[u32], system: &mut System) {
    let target = |i: usize, system: &System| u64::from(chosen[i]).min(system.present(i)) as u32;
    for i in 0..chosen.len() {
        while system.running(i) > target(i, system) {
            system.stop(i);
        }
    }
    for i in 0..chosen.len() {
        // What is chosen fits, unless others use its room.
        let may_start = |system: &System| system.others.is_none() || system.fits(i);
        while system.running(i) < target(i, system) && may_start(system) {
            system.start(i);
        }
    }
}

impl Policy for MaxWeight {
    fn preempts(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        if let Some(chosen) = self.choose(event, system) {
            serve(chosen, system);
        }
    }

    fn take_over(&mut self, system: &mut System) {
        self.look(system);
        serve(&self.chosen, system);
    }
}

/// All maximal schedules, if they are few.
pub(super) fn few_maximal(packing: &Packing) -> Option<Vec<Schedule>> {
    maximal(packing, WORK / packing.types(), VISITS)
}

/// The worth of all maximal schedules. Any schedule u ≤ Q is part of a maximal one m, and is worth
/// no more than min(m, Q), which is in S too; so they suffice.
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
    fn update(&mut self, i: usize, jobs: [u64; 2], weights: &Weights) {
        let weights = jobs.map(|jobs| weights.of(i, jobs));
        for (total, count) in self.worths.iter_mut().zip(&self.counts[i]) {
            let count = u64::from(*count);
            *total += weights[1] * count.min(jobs[1]);
            *total -= weights[0] * count.min(jobs[0]);
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
        let most: Vec<u32> = (0..packing.types()).map(|i| packing.alone(i)).collect();
        Bound {
            knapsack: Knapsack::new(packing).at_most(STEPS),
            values: vec![0; most.len()],
            bounds: most.clone(),
            most,
        }
    }

    fn choose(&mut self, chosen: &mut [u32], weights: &Weights, system: &System) {
        // The search begins at the present schedule.
        for (i, count) in chosen.iter_mut().enumerate() {
            let jobs = system.present(i);
            self.values[i] = weights.of(i, jobs);
            self.bounds[i] = u64::from(self.most[i]).min(jobs) as u32;
            *count = (*count).min(self.bounds[i]);
        }
        self.knapsack.improve(&self.values, &self.bounds, chosen);
    }
}

/// What a job of type i weighs where so many of the type are in the system: as much as there are jobs of its type, or
/// `c_i Q_i^a`. Whole numbers, so that a sum that is changed at each event never drifts, and branch and bound tells what
/// is better by 1.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// By type, the largest is [`UNIT`].
    worths: Vec<f64>,
    exponent: f64,
    /// By type, for few jobs; none where a job weighs as much as there are jobs.
    few: Vec<Vec<u64>>,
}

/// A weight of 1.
const UNIT: f64 = (1 << 20) as f64;

/// From here on a weight grows by 1 a job, so that sums of some thousand stay below 2^53: it still exceeds all bounds, as
/// the proof of stability needs it.
const MOST: f64 = (1_u64 << 42) as f64;

/// Weights of fewer jobs are looked up.
const FEW: u64 = 1024;

impl Weights {
    fn of_policy(policy: &MaxWeightConfig) -> Self {
        let most = policy.worths.iter().copied().fold(0.0, f64::max);
        let mut weights = Weights {
            worths: policy.worths.iter().map(|c| c / most * UNIT).collect(),
            exponent: policy.exponent,
            few: Vec::new(),
        };
        if *policy == MaxWeightConfig::plain(policy.worths.len()) {
            return weights;
        }
        let few = |i: usize| (0..FEW).map(|jobs| weights.compute(i, jobs)).collect();
        weights.few = (0..policy.worths.len()).map(few).collect();
        weights
    }

    pub(super) fn of(&self, i: usize, jobs: u64) -> u64 {
        let Some(few) = self.few.get(i) else {
            return jobs;
        };
        match few.get(jobs as usize) {
            Some(weight) => *weight,
            None => self.compute(i, jobs),
        }
    }

    /// At least 1 where there are jobs: none is worth nothing.
    fn compute(&self, i: usize, jobs: u64) -> u64 {
        let weight = self.worths[i] * (jobs as f64).powf(self.exponent);
        if weight <= MOST {
            (weight as u64).max(u64::from(jobs > 0))
        } else {
            MOST as u64 + jobs
        }
    }
}
