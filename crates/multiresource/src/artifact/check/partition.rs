//! The loads under a partition of a fleet, from the mean number of slots of each type. After a
//! change of the assignment, the old slots serve for the mean size of their type. The mean time
//! until all have ended, `∫ P(not all have ended) dt`, is computed as a sum over ln t, which
//! converges exponentially, because the function is analytic for `|Im ln t| < π/2`.

use crate::artifact::PartitionConfig;
use crate::workload::{JobType, Workload};

const STEPS: usize = 4_000;
const RANGE: (f64, f64) = (-40.0, 8.0);

/// Returns `ρ_i = b_i / E[slots of type i]` (K) of a valid partition.
pub(super) fn loads(policy: &PartitionConfig, workload: &Workload) -> Vec<f64> {
    let types = workload.types();
    let rates: Vec<f64> = types.iter().map(|kind| 1.0 / kind.mean_size()).collect();
    let count = policy.assignments.len();
    if count == 1 {
        let slots = types.iter().zip(jobs(policy, 0, types));
        let load = |(kind, slots): (&JobType, u64)| kind.offered_load() / slots as f64;
        return slots.map(load).collect();
    }
    let (mut time, mut served) = (0.0, vec![0.0; types.len()]);
    for m in 0..count {
        let rate = policy.leaving_rate(m);
        let works = 1.0 / rate;
        let slots = jobs(policy, m, types);
        time += works;
        for (served, slots) in served.iter_mut().zip(&slots) {
            *served += works * *slots as f64;
        }
        // All servers are emptied if there are jobs that need several servers.
        let ending = if types.iter().any(|kind| kind.nodes() > 1) {
            slots.clone()
        } else {
            ending(policy, m)
        };
        let lasts = mean_maximum(&ending, &rates);
        time += lasts;
        for (i, served) in served.iter_mut().enumerate() {
            *served += lasts * (slots[i] - ending[i]) as f64 + ending[i] as f64 / rates[i];
        }
    }
    let pairs = types.iter().zip(served);
    let load = |(kind, served): (&JobType, f64)| kind.offered_load() * time / served;
    pairs.map(load).collect()
}

pub(super) fn jobs(policy: &PartitionConfig, m: usize, types: &[JobType]) -> Vec<u64> {
    let each = types.iter().enumerate().map(|(i, kind)| {
        let shapes = policy.schedules.iter().zip(&policy.assignments[m]);
        let servers = shapes.flat_map(|(schedules, counts)| schedules.iter().zip(counts));
        let slots = servers.map(|(schedule, n)| (u64::from(schedule[i]), u64::from(*n)));
        let slots: Vec<(u64, u64)> = slots.collect();
        let all: u64 = slots.iter().map(|(p, n)| p * n).sum();
        let nodes = u64::from(kind.nodes());
        let enough = |jobs: &u64| {
            let dealt: u64 = slots.iter().map(|(p, n)| n * p.min(jobs)).sum();
            dealt >= nodes * jobs
        };
        (0..=all / nodes).rev().find(enough).unwrap_or(0)
    });
    each.collect()
}

/// Returns the slots of each type (K) on the servers whose schedule differs in the next assignment.
fn ending(policy: &PartitionConfig, m: usize) -> Vec<u64> {
    let following = (m + 1) % policy.assignments.len();
    let (here, there) = (policy.places(m), policy.places(following));
    let mut ending = vec![0; policy.slots(m).len()];
    let changing = here.iter().zip(&there).filter(|(own, next)| own != next);
    for ((h, s), _) in changing {
        for (all, slots) in ending.iter_mut().zip(&policy.schedules[*h][*s]) {
            *all += u64::from(*slots);
        }
    }
    ending
}

/// Returns the mean time until these counts of slots have all ended,
/// `∫ 1 − Π (1 − e^{−μ_i t})^{c_i} dt`.
fn mean_maximum(counts: &[u64], rates: &[f64]) -> f64 {
    let pairs = counts.iter().zip(rates);
    let counts: Vec<(f64, f64)> = pairs.map(|(c, mu)| (*c as f64, *mu)).collect();
    let all: f64 = counts.iter().map(|(c, _)| c).sum();
    let there = counts.iter().filter(|(c, _)| *c > 0.0);
    let Some(slowest) = there.clone().map(|(_, mu)| *mu).reduce(f64::min) else {
        return 0.0;
    };
    let range = (RANGE.0, all.ln().max(1.0).ln() + RANGE.1);
    let step = (range.1 - range.0) / STEPS as f64;
    let value = |n: usize| {
        let t = (range.0 + n as f64 * step).exp() / slowest;
        let each = there.clone().map(|(c, mu)| c * (-(-mu * t).exp()).ln_1p());
        -t * each.sum::<f64>().exp_m1()
    };
    step * (0..=STEPS).map(value).sum::<f64>()
}

/// Returns the mean number of jobs in an M/M/c queue.
pub(super) fn mean_number(slots: u64, offered: f64) -> f64 {
    let tail = offered / slots as f64;
    let mut weight = 0.0_f64; // ln(offered^n / n!)
    let terms = (0..=slots).map(|n| {
        if n > 0 {
            weight += (offered / n as f64).ln();
        }
        (n as f64, weight)
    });
    let terms: Vec<(f64, f64)> = terms.collect();
    let largest = |most: f64, (_, w): &(f64, f64)| most.max(*w);
    let most = terms.iter().fold(f64::NEG_INFINITY, largest);
    let (mut sum, mut mean) = (0.0, 0.0);
    for (n, w) in &terms {
        let p = (w - most).exp();
        sum += p;
        mean += n * p;
    }
    // The distribution is geometric beyond the last term.
    let last = terms.last().map_or(0.0, |(_, w)| (w - most).exp());
    let beyond = last * tail / (1.0 - tail);
    let number = slots as f64 + 1.0 / (1.0 - tail);
    (mean + beyond * number) / (sum + beyond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::pooled::{mean_slots, three_kinds, with_gangs};
    use crate::workload::Fleet;

    #[test]
    fn mean_numbers_match_small_queues() {
        assert!((mean_number(1, 0.8) - 4.0).abs() < 1e-12);
        assert!((mean_number(2, 1.2) - 1.2 / (1.0 - 0.36)).abs() < 1e-12);
    }

    #[test]
    fn mean_maximum_in_closed_form() {
        let harmonic = 1.0 + 0.5 + 1.0 / 3.0;
        assert!((mean_maximum(&[3], &[2.0]) - harmonic / 2.0).abs() < 1e-12);
        let two = 1.0 + 10.0 - 1.0 / 1.1;
        assert!((mean_maximum(&[1, 0, 1], &[1.0, 7.0, 0.1]) - two).abs() < 1e-11);
        let many: f64 = (1..=1000).map(|n| 1.0 / f64::from(n)).sum();
        assert!((mean_maximum(&[1000], &[1.0]) - many).abs() < 1e-11);
    }

    #[test]
    fn mean_slots_agree_with_the_policy() {
        let policy = PartitionConfig {
            schedules: vec![
                vec![vec![5, 1, 0], vec![1, 2, 0]],
                vec![vec![2, 0, 1], vec![0, 1, 0]],
            ],
            assignments: vec![
                vec![vec![2, 0], vec![3, 0]],
                vec![vec![2, 0], vec![1, 2]],
                vec![vec![0, 2], vec![2, 1]],
            ],
            weights: vec![0.5, 0.3, 0.2],
            switching_rate: Some(0.4),
        };
        has_its_slots(&three_kinds(), &policy);
        let gangs = PartitionConfig {
            schedules: vec![
                vec![vec![3, 2, 0], vec![9, 0, 0]],
                vec![vec![3, 0, 1], vec![0, 1, 1]],
            ],
            assignments: vec![vec![vec![1, 1], vec![3, 0]], vec![vec![2, 0], vec![0, 3]]],
            weights: vec![0.5, 0.5],
            switching_rate: Some(0.2),
        };
        assert_eq!(gangs.jobs(0, &[1, 2, 3]), [21, 0, 1]);
        assert_eq!(gangs.jobs(1, &[1, 2, 3]), [6, 3, 1]);
        has_its_slots(&with_gangs(), &gangs);
    }

    fn has_its_slots(fleet: &Fleet, policy: &PartitionConfig) {
        let loads = loads(policy, fleet.envelope());
        let slots = mean_slots(fleet, policy).into_iter().zip(loads);
        for (kind, (slots, load)) in fleet.types().iter().zip(slots) {
            let expected = kind.offered_load() / load;
            let name = kind.name();
            assert!(
                (slots / expected - 1.0).abs() < 0.01,
                "{name}: {slots}, expected {expected}"
            );
        }
    }
}
