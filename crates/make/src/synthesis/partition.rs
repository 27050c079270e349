//! A partition of a fleet into slots for each type, which has an exact analysis and can be a guard.
//!
//! If each server uses only one schedule, then type i with `c_i` slots is an M/M/c_i queue, which
//! is stable if `b_i < c_i`. The mean number of jobs is `b_i + C(c_i, b_i) ρ/(1 − ρ)`, where `C` is
//! Erlang's C formula. The assignments are systematic samples of the mix of the program, in which
//! server `k` of `n` uses the schedule at position `(k + θ)/n`, for `θ` between 0 and 1. The best
//! of them is improved by changing one server at a time while the sum of the mean numbers
//! decreases. If it is not stable for all types, the policy is a loop over assignments with the mix
//! itself as average (see [`Partition`](synth_multiresource::policy::Partition) for the cost).

use std::collections::HashMap;

use itertools::Itertools;

use crate::program::{self, Mix, Solution};
use synth_multiresource::artifact::PartitionConfig;
use synth_multiresource::schedule::{Packing, Schedule};
use synth_multiresource::workload::Fleet;

const CHANGES: usize = 1000;

/// The fraction of the largest stable switching rate that is used.
const PART: f64 = 0.5;

/// Parts of the mix that are shorter than this are not included in a loop.
const SHORTEST: f64 = 1e-6;

/// A partition and the results of its analysis.
#[derive(Clone, Debug)]
pub struct Partitioned {
    /// The policy.
    pub policy: PartitionConfig,
    /// The load of each type, `ρ_i < 1` (K).
    pub loads: Vec<f64>,
    /// Exact `E[N_i]` (K); `None` if there are several assignments.
    pub numbers: Option<Vec<f64>>,
}

impl Partitioned {
    /// Returns the mean number of jobs, or an estimate for a loop: the mean number if each type
    /// always had its mean number of slots, plus the arrivals in a round.
    pub fn mean_number(&self, fleet: &Fleet) -> f64 {
        if let Some(numbers) = &self.numbers {
            return numbers.iter().sum();
        }
        let types = fleet.types().iter().zip(&self.loads);
        let queues: f64 = types.map(|(t, load)| t.offered_load() / (1.0 - load)).sum();
        let rounds = self.policy.assignments.len() as f64 / self.policy.leaving_rate(0);
        queues + fleet.envelope().total_arrival_rate() * rounds
    }
}

/// Returns a stable partition of the fleet, or `None` if the load is too close to 1.
pub(super) fn partition(fleet: &Fleet, solution: &Solution) -> Option<Partitioned> {
    let site = Site::new(fleet, solution);
    let (thetas, weights) = site.parts(&solution.mixes);
    let sample = |theta: &f64| site.sampled(&solution.mixes, *theta);
    let sampled: Vec<Assignment> = thetas.iter().map(sample).collect();
    let mut queues = Queues::new(fleet);
    let cost = |own| (queues.cost(&site.slots(own)), own);
    let costs = sampled.iter().map(cost);
    let (_, best) = costs.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let best = site.improved(best.clone(), &mut queues);
    let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
    let policy = site.keeping(&best);
    let slots = policy.jobs(0, &nodes);
    let loads = loads(fleet, slots.iter().map(|c| *c as f64));
    if is_stable(&loads) {
        let numbers = slots.iter().enumerate().map(|(i, c)| queues.number(i, *c));
        return Some(Partitioned {
            loads,
            numbers: Some(numbers.collect()),
            policy,
        });
    }
    let (loops, weights) = match fleet.gangs().next() {
        None => (sampled, weights),
        Some(_) => site.most_even(sampled, &nodes)?,
    };
    let mut policy = site.policy(loops, weights, Some(1.0));
    let legs = Legs::new(&policy, fleet);
    policy.switching_rate = Some(legs.stable_rate(fleet)?);
    Some(Partitioned {
        loads: legs.loads(fleet, policy.switching_rate?),
        numbers: None,
        policy,
    })
}

/// The number of servers with each schedule of a [`Site`].
type Assignment = Vec<u32>;

struct Site<'a> {
    fleet: &'a Fleet,
    /// The shape and the jobs of each type (K). For each shape, the schedules of the mix are first.
    schedules: Vec<(usize, Schedule)>,
}

impl<'a> Site<'a> {
    fn new(fleet: &'a Fleet, solution: &Solution) -> Self {
        let demand: Vec<Vec<u64>> = fleet.types().iter().map(|t| t.units().to_vec()).collect();
        let mut schedules = Vec::new();
        for (h, mix) in solution.mixes.iter().enumerate() {
            let packing = Packing::of_units(demand.clone(), fleet.units(h));
            schedules.extend(mix.schedules.iter().map(|u| (h, u.clone())));
            // Further schedules have one job or as many as possible of a type, and are filled.
            let own = mix.schedules.iter().cloned();
            let most = |i: usize| packing.max_jobs_in(i, packing.capacity());
            let of_one = |i: usize, count: u32| {
                let mut schedule = vec![0; demand.len()];
                schedule[i] = count;
                schedule
            };
            let fitting = (0..demand.len()).filter(|i| most(*i) > 0);
            let alone = fitting.clone().map(|i| of_one(i, most(i)));
            let one = fitting.map(|i| of_one(i, 1));
            let begun = own.chain(alone).chain(one);
            for (begun, up) in begun.cartesian_product([true, false]) {
                let filled = (h, filled(&packing, begun, up));
                if !schedules.contains(&filled) {
                    schedules.push(filled);
                }
            }
        }
        Site { fleet, schedules }
    }

    fn of_shape(&self, h: usize) -> impl DoubleEndedIterator<Item = usize> + Clone + '_ {
        (0..self.schedules.len()).filter(move |s| self.schedules[*s].0 == h)
    }

    /// Returns the middle and the length of each interval of `θ` in which the sample is the same.
    fn parts(&self, mixes: &[Mix]) -> (Vec<f64>, Vec<f64>) {
        let mut cuts = vec![0.0, 1.0];
        for (shape, mix) in self.fleet.shapes().iter().zip(mixes) {
            let mut sum = 0.0;
            for weight in &mix.weights {
                sum += f64::from(shape.count()) * weight;
                cuts.push(sum.fract());
            }
        }
        cuts.sort_by(f64::total_cmp);
        let middle = |cut: &[f64]| (f64::midpoint(cut[0], cut[1]), cut[1] - cut[0]);
        long_parts(cuts.windows(2).map(middle))
    }

    fn sampled(&self, mixes: &[Mix], theta: f64) -> Assignment {
        let mut counts = vec![0; self.schedules.len()];
        for (h, (shape, mix)) in self.fleet.shapes().iter().zip(mixes).enumerate() {
            let (mut sum, mut assigned, mut last) = (0.0, 0, 0);
            for (s, weight) in self.of_shape(h).zip(&mix.weights) {
                sum += f64::from(shape.count()) * weight;
                // The number of servers `k` for which `k + θ` is less than this sum of weights.
                let up_to = ((sum - theta).ceil().max(0.0) as u32).min(shape.count());
                counts[s] = up_to.saturating_sub(assigned);
                assigned += counts[s];
                last = s;
            }
            counts[last] += shape.count() - assigned;
        }
        counts
    }

    fn slots(&self, assignment: &Assignment) -> Vec<u64> {
        let mut slots = vec![0; self.fleet.types().len()];
        for ((_, schedule), count) in self.schedules.iter().zip(assignment) {
            for (all, own) in slots.iter_mut().zip(schedule) {
                *all += u64::from(*count) * u64::from(*own);
            }
        }
        slots
    }

    /// Returns the mix with the least load in whole gangs of these assignments and of those with as
    /// many jobs of one type as possible; `None` if the solver finds none.
    fn most_even(
        &self,
        mut assignments: Vec<Assignment>,
        nodes: &[u32],
    ) -> Option<(Vec<Assignment>, Vec<f64>)> {
        let types = self.fleet.types();
        assignments.extend((0..types.len()).map(|i| self.most_of(i)));
        let jobs = |own: &Assignment| -> Vec<f64> {
            let jobs = self.keeping(own).jobs(0, nodes).into_iter();
            jobs.map(|jobs| jobs as f64).collect()
        };
        let rows: Vec<Vec<f64>> = assignments.iter().map(jobs).collect();
        let offered: Vec<f64> = types.iter().map(|t| t.offered_load()).collect();
        let weights = program::max_min_weights(&rows, &offered).ok()?;
        Some(long_parts(assignments.into_iter().zip(weights)))
    }

    fn most_of(&self, i: usize) -> Assignment {
        let mut counts = vec![0; self.schedules.len()];
        for (h, shape) in self.fleet.shapes().iter().enumerate() {
            let all = self.of_shape(h).rev();
            let most = all.max_by_key(|s| self.schedules[*s].1[i]);
            counts[most.expect("a shape has a schedule")] = shape.count();
        }
        counts
    }

    fn improved(&self, mut assignment: Assignment, queues: &mut Queues<'_>) -> Assignment {
        let mut slots = self.slots(&assignment);
        for _ in 0..CHANGES {
            let mut best = (-1e-9, None);
            for (from, (h, own)) in self.schedules.iter().enumerate() {
                let others = self.of_shape(*h).filter(|to| *to != from);
                for to in others.filter(|_| assignment[from] > 0) {
                    let gain = queues.gain(&slots, own, &self.schedules[to].1);
                    if gain < best.0 {
                        best = (gain, Some((from, to)));
                    }
                }
            }
            let Some((from, to)) = best.1 else { break };
            assignment[from] -= 1;
            assignment[to] += 1;
            slots = self.slots(&assignment);
        }
        assignment
    }

    fn keeping(&self, assignment: &Assignment) -> PartitionConfig {
        self.policy(vec![assignment.clone()], vec![1.0], None)
    }

    fn policy(
        &self,
        assignments: Vec<Assignment>,
        weights: Vec<f64>,
        switching_rate: Option<f64>,
    ) -> PartitionConfig {
        let is_used = |s: &usize| assignments.iter().any(|counts| counts[*s] > 0);
        let used = |h: usize| self.of_shape(h).filter(is_used);
        let shapes = 0..self.fleet.shapes().len();
        let schedules = |h: usize| used(h).map(|s| self.schedules[s].1.clone()).collect();
        let of_used = |counts: &Assignment| {
            let of_shape = |h: usize| used(h).map(|s| counts[s]).collect();
            shapes.clone().map(of_shape).collect()
        };
        PartitionConfig {
            schedules: shapes.clone().map(schedules).collect(),
            assignments: assignments.iter().map(of_used).collect(),
            weights,
            switching_rate,
        }
    }
}

fn long_parts<T>(parts: impl Iterator<Item = (T, f64)>) -> (Vec<T>, Vec<f64>) {
    let (parts, lengths): (Vec<T>, Vec<f64>) =
        parts.filter(|(_, length)| *length > SHORTEST).unzip();
    let all: f64 = lengths.iter().sum();
    (parts, lengths.iter().map(|length| length / all).collect())
}

/// Adds one job of each type in turn while there is free capacity, in reverse order unless `up`.
fn filled(packing: &Packing, mut schedule: Vec<u32>, up: bool) -> Vec<u32> {
    let Some(mut room) = packing.free_capacity(&schedule) else {
        return schedule;
    };
    let types = schedule.len();
    loop {
        let before = schedule.clone();
        for n in 0..types {
            let i = if up { n } else { types - 1 - n };
            if packing.max_jobs_in(i, &room) > 0 {
                packing.take(i, 1, &mut room);
                schedule[i] += 1;
            }
        }
        if schedule == before {
            return schedule;
        }
    }
}

struct Queues<'a> {
    fleet: &'a Fleet,
    known: Vec<HashMap<u64, f64>>,
}

/// The cost of a missing slot, in jobs. It is more than the cost of any queue.
const LACKING: f64 = 1e6;

impl<'a> Queues<'a> {
    fn new(fleet: &'a Fleet) -> Self {
        Queues {
            known: vec![HashMap::new(); fleet.types().len()],
            fleet,
        }
    }

    fn on_servers(&mut self, i: usize, slots: u64) -> f64 {
        self.number(i, slots / u64::from(self.fleet.types()[i].nodes()))
    }

    /// Returns `E[N_i]` for this number of slots, or a penalty if they are not sufficient.
    fn number(&mut self, i: usize, slots: u64) -> f64 {
        let offered = self.fleet.types()[i].offered_load();
        let number = || match slots as f64 > offered {
            true => mean_number(slots, offered),
            false => LACKING * (1.0 + offered - slots as f64),
        };
        *self.known[i].entry(slots).or_insert_with(number)
    }

    fn cost(&mut self, slots: &[u64]) -> f64 {
        let each = slots.iter().enumerate();
        each.map(|(i, c)| self.on_servers(i, *c)).sum()
    }

    fn gain(&mut self, slots: &[u64], from: &[u32], to: &[u32]) -> f64 {
        let mut gain = 0.0;
        for (i, (from, to)) in from.iter().zip(to).enumerate() {
            if from != to {
                let after = slots[i] - u64::from(*from) + u64::from(*to);
                gain += self.on_servers(i, after) - self.on_servers(i, slots[i]);
            }
        }
        gain
    }
}

fn loads(fleet: &Fleet, slots: impl Iterator<Item = f64>) -> Vec<f64> {
    let types = fleet.types().iter().zip(slots);
    types.map(|(t, slots)| t.offered_load() / slots).collect()
}

fn is_stable(loads: &[f64]) -> bool {
    loads.iter().all(|load| *load < 1.0)
}

/// Returns `b + C ρ/(1 − ρ)`, by the recursion for Erlang's formulas.
pub(super) fn mean_number(slots: u64, offered: f64) -> f64 {
    let mut blocked = 1.0;
    for n in 1..=slots {
        blocked = offered * blocked / (n as f64 + offered * blocked);
    }
    let load = offered / slots as f64;
    let waits = blocked / (1.0 - load * (1.0 - blocked));
    offered + waits * load / (1.0 - load)
}

struct Legs {
    count: f64,
    /// `Σ w_m c_i^m` (K).
    mix: Vec<f64>,
    /// The time on the legs \[time\], and the service there (K) \[slots · time\].
    time: f64,
    served: Vec<f64>,
}

impl Legs {
    fn new(policy: &PartitionConfig, fleet: &Fleet) -> Self {
        let rates: Vec<f64> = fleet.types().iter().map(|t| t.service_rate()).collect();
        let count = policy.assignments.len();
        let (mut mix, mut served, mut time) = (vec![0.0; rates.len()], vec![0.0; rates.len()], 0.0);
        let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
        for m in 0..count {
            let slots = policy.jobs(m, &nodes);
            let (here, there) = (policy.places(m), policy.places((m + 1) % count));
            let mut ending = vec![0_u64; rates.len()];
            for ((h, s), _) in here.into_iter().zip(there).filter(|(a, b)| a != b) {
                let slots = ending.iter_mut().zip(&policy.schedules[h][s]);
                slots.for_each(|(all, u)| *all += u64::from(*u));
            }
            if fleet.gangs().next().is_some() {
                ending.clone_from(&slots);
            }
            let lasts = largest(&ending, &rates);
            time += lasts;
            for i in 0..rates.len() {
                mix[i] += policy.weights[m] * slots[i] as f64;
                served[i] += lasts * (slots[i] - ending[i]) as f64 + ending[i] as f64 / rates[i];
            }
        }
        Legs {
            count: count as f64,
            mix,
            time,
            served,
        }
    }

    fn loads(&self, fleet: &Fleet, rate: f64) -> Vec<f64> {
        let works = self.count / rate;
        let pairs = self.mix.iter().zip(&self.served);
        let slots = pairs.map(|(mix, served)| (works * mix + served) / (works + self.time));
        loads(fleet, slots)
    }

    fn stable_rate(&self, fleet: &Fleet) -> Option<f64> {
        let most = fleet.types().iter().enumerate().filter_map(|(i, t)| {
            let lost = t.offered_load() * self.time - self.served[i];
            (lost > 0.0).then(|| self.count * (self.mix[i] - t.offered_load()) / lost)
        });
        let most = most.fold(f64::INFINITY, f64::min);
        let rate = PART * most.min(self.count / self.time.max(f64::MIN_POSITIVE));
        (rate > 0.0 && is_stable(&self.loads(fleet, rate))).then_some(rate)
    }
}

/// Returns the mean maximum of exponential times, `∫ 1 − Π (1 − e^{−μ_i t})^{c_i} dt`, with the
/// trapezoidal rule for `t = exp(π/2 sinh x)`.
fn largest(counts: &[u64], rates: &[f64]) -> f64 {
    const STEP: f64 = 1.0 / 128.0;
    let all = counts.iter().zip(rates).filter(|(c, _)| **c > 0);
    let Some(slowest) = all.clone().map(|(_, mu)| *mu).reduce(f64::min) else {
        return 0.0;
    };
    let half = std::f64::consts::FRAC_PI_2;
    let value = |n: i32| {
        let x = f64::from(n) * STEP;
        let t = (half * x.sinh()).exp() / slowest;
        let each = all.clone();
        let none_left = each.map(|(c, mu)| *c as f64 * (-(-mu * t).exp()).ln_1p());
        -none_left.sum::<f64>().exp_m1() * t * half * x.cosh()
    };
    let each = (-600..=500).map(value).filter(|value| value.is_finite());
    STEP * each.sum::<f64>()
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_known_times_and_numbers() {
        assert!((largest(&[3], &[2.0]) - (1.0 + 0.5 + 1.0 / 3.0) / 2.0).abs() < 1e-12);
        let expected = 1.0 + 10.0 - 1.0 / 1.1;
        assert!((largest(&[1, 1], &[1.0, 0.1]) - expected).abs() < 1e-11);
        assert!((mean_number(1, 0.8) - 4.0).abs() < 1e-12);
        assert!((mean_number(2, 1.2) - 1.2 / (1.0 - 0.36)).abs() < 1e-12);
    }
}
