use super::MaxWeightConfig;
use crate::policy::{Event, Policy, System};
use crate::schedule::{Knapsack, Packing, Schedule, maximal};
use crate::workload::Workload;

/// MaxWeight, which always serves the schedule `argmax Σ_i Q_i u_i` over all `u ∈ S`, where `Q_i`
/// is the number of jobs of type `i` in the system. It preempts the youngest jobs first.
///
/// The source is Maguluri, Srikant, Ying, "Stochastic models of load balancing and scheduling in
/// cloud computing clusters", INFOCOM 2012, based on Tassiulas and Ephremides, IEEE Transactions on
/// Automatic Control 37(12), 1992, in the version in continuous time with preemption that the MSR
/// paper uses for its comparison. The schedules are limited to `u ≤ Q`, which is also
/// throughput-optimal and much better if a schedule contains many jobs.
/// The *weighted* form `argmax Σ_i c_i Q_i^a u_i`, where `u ≤ Q` and `c, a > 0`, is also
/// throughput-optimal, with the Lyapunov function `Σ c_i Q_i^(a+1)/μ_i` (Eryilmaz, Srikant,
/// Perkins, IEEE/ACM Transactions on Networking 13(2), 2005). If `a < 1`, jobs have a shorter
/// delay, because the rule tries to keep the server full instead of serving the longest queue.
///
/// If `S` has few maximal schedules (at most 20 000 counts in total), all of their weights are
/// updated after each event. Ties are broken in lexicographic order, so that the rule is a function
/// of `Q` only, which is 5 % better with four types than keeping the current schedule.
/// Otherwise, it is the solution of a bounded knapsack problem by branch and bound ([`Knapsack`]),
/// and the current schedule is kept if no other one is better. This takes `O(K R)` if all jobs fit,
/// or else a few times `O(K R log K)` to compute prices for the resources, after which one branch
/// is usually enough: 1 to 10 µs with 20 to 100 types. The worst case is exponential in `K`, so the
/// search stops after a number of steps with the best schedule that was found.
#[derive(Clone, Debug)]
pub struct MaxWeight {
    pub(super) weights: Weights,
    pub(super) chosen: Schedule,
    maximum: Maximum,
}

const SCANNED_COUNTS: usize = 20_000;

/// They take 10 µs, and are needed if many schedules have nearly the same weight.
const SEARCH_STEPS: usize = 1_000;

const VISITS: usize = 2_000_000;

#[derive(Clone, Debug)]
enum Maximum {
    Scan(Scan),
    Bound(Box<Bound>),
}

impl MaxWeight {
    #[cfg(test)]
    pub(crate) fn plain(workload: &Workload) -> Self {
        MaxWeight::weighted(workload, &MaxWeightConfig::plain(workload.types().len()))
    }

    pub(crate) fn weighted(workload: &Workload, policy: &MaxWeightConfig) -> Self {
        let packing = Packing::new(workload);
        MaxWeight {
            weights: Weights::of_policy(policy),
            chosen: vec![0; packing.types()],
            maximum: match few_maximal(&packing) {
                Some(schedules) => Maximum::Scan(Scan::new(&schedules)),
                None => Maximum::Bound(Box::new(Bound::new(&packing))),
            },
        }
    }

    #[cfg(test)]
    pub(crate) fn bounding(self, workload: &Workload) -> Self {
        let bound = Bound::new(&Packing::new(workload));
        MaxWeight {
            maximum: Maximum::Bound(Box::new(bound)),
            ..self
        }
    }

    /// Returns the schedule with the maximum weight after this event; `None` for a clock.
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

    pub(super) fn look(&mut self, system: &System) {
        let weights = &self.weights;
        match &mut self.maximum {
            Maximum::Scan(scan) => {
                scan.worths.fill(0);
                let types = 0..self.chosen.len();
                types.for_each(|i| scan.update(i, [0, system.present(i)], weights));
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

fn serve(chosen: &[u32], system: &mut System) {
    let target = |i: usize, system: &System| u64::from(chosen[i]).min(system.present(i)) as u32;
    for i in 0..chosen.len() {
        while system.running(i) > target(i, system) {
            system.stop(i);
        }
    }
    for i in 0..chosen.len() {
        // The selected jobs always fit, unless some of the capacity is used by others.
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

pub(super) fn few_maximal(packing: &Packing) -> Option<Vec<Schedule>> {
    maximal(packing, SCANNED_COUNTS / packing.types(), VISITS)
}

/// The weights of all maximal schedules, which are enough, because each `u ≤ Q` is part of a
/// maximal schedule `m`, and the weight of `min(m, Q) ∈ S` is at least as large.
#[derive(Clone, Debug)]
struct Scan {
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

#[derive(Clone, Debug)]
struct Bound {
    knapsack: Knapsack,
    most: Vec<u32>,
    values: Vec<u64>,
    bounds: Vec<u32>,
}

impl Bound {
    fn new(packing: &Packing) -> Self {
        let most = (0..packing.types()).map(|i| packing.max_jobs_alone(i));
        let most: Vec<u32> = most.collect();
        Bound {
            knapsack: Knapsack::new(packing, SEARCH_STEPS),
            values: vec![0; most.len()],
            bounds: most.clone(),
            most,
        }
    }

    fn choose(&mut self, chosen: &mut [u32], weights: &Weights, system: &System) {
        for (i, count) in chosen.iter_mut().enumerate() {
            let jobs = system.present(i);
            self.values[i] = weights.of(i, jobs);
            self.bounds[i] = u64::from(self.most[i]).min(jobs) as u32;
            *count = (*count).min(self.bounds[i]);
        }
        self.knapsack.improve(&self.values, &self.bounds, chosen);
    }
}

/// The weight of a job of type `i`, `Q_i` or `c_i Q_i^a`, as an integer, so that sums have no
/// rounding errors and a branch must improve the result by at least 1.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// The values are scaled so that the maximum is [`UNIT`].
    worths: Vec<f64>,
    exponent: f64,
    /// The weights for few jobs. Empty if the weight is the number of jobs.
    few: Vec<Vec<u64>>,
}

const UNIT: f64 = (1 << 20) as f64;

/// Above this, a weight only increases by 1 for each job: a few thousand sum up to less than
/// `2^53`, but weights are unbounded, as the proof of stability requires.
const MOST: f64 = (1_u64 << 42) as f64;

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

    fn compute(&self, i: usize, jobs: u64) -> u64 {
        let weight = self.worths[i] * (jobs as f64).powf(self.exponent);
        if weight <= MOST {
            (weight as u64).max(u64::from(jobs > 0))
        } else {
            MOST as u64 + jobs
        }
    }
}
