#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::cycle::{Cycle, Reward};
use super::*;

fn ring(
    n: usize,
    most: u32,
    random: &mut Xoshiro256PlusPlus,
) -> (Environment, Vec<u32>, Vec<bool>) {
    let servers: Vec<u32> = (0..n).map(|_| random.random_range(0..=most)).collect();
    let serves: Vec<bool> = servers
        .iter()
        .map(|c| n > 1 && *c > 0 && random.random_bool(0.4))
        .collect();
    let mut edge = |s: usize| Edge {
        from: s,
        to: (s + 1) % n,
        rate: if serves[s] {
            f64::from(servers[s])
        } else {
            (4.0 * random.random::<f64>() - 3.0).exp()
        },
    };
    let edges = (0..n).map(&mut edge).collect();
    (Environment::new(n, edges).unwrap(), servers, serves)
}

#[test]
fn solution_by_rounds_agrees_with_the_qbd() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for n in [1, 2, 2, 3, 5, 8, 13, 40, 130] {
        for load in [0.2, 0.7, 0.95] {
            let (environment, mut servers, serves) = ring(n, 7, &mut random);
            servers[0] = servers[0].max(1);
            let queue = ModulatedQueue::new(&environment, 1.0, 1.0, servers, serves);
            let queue = queue.with_arrival_rate(load * queue.capacity());
            let qbd = queue.qbd().solve().unwrap();
            let round = rounds::stationary_distribution(&queue).unwrap();
            let error = (round.mean / qbd.mean() - 1.0).abs();
            assert!(error < 1e-11, "{n} states at {load}: {error:e}");
            let cycle = Cycle::new(&queue, f64::INFINITY).unwrap();
            let error = (cycle.means(&[Reward::Jobs])[0] / qbd.mean() - 1.0).abs();
            assert!(error < 1e-9, "{n} states at {load}, by cycles: {error:e}");
            for (q, level) in qbd.levels().take(round.law[0].len()).enumerate() {
                for (s, p) in level.iter().enumerate() {
                    let is_near = (p - round.law[s][q]).abs() < 1e-12;
                    assert!(is_near, "{n} at {load}: {q}, {s}");
                }
            }
        }
    }
}

/// By Little's law, the integral of the survival function is equal to `E[Q]/λ`.
#[test]
fn response_times_obey_littles_law() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    for n in [1, 2, 5, 9] {
        let (environment, mut servers, serves) = ring(n, 4, &mut random);
        servers[0] = servers[0].max(1);
        let queue = ModulatedQueue::new(&environment, 1.0, 1.0, servers, serves);
        let queue = queue.with_arrival_rate(0.6 * queue.capacity());
        let round = rounds::stationary_distribution(&queue).unwrap();
        let survival = ResponseTimes::new(&queue, round.law.clone(), 1e10).unwrap();
        let mean = round.mean / queue.arrival_rate();
        assert!((survival.mean() / mean - 1.0).abs() < 1e-3, "{n}");
        for p in [0.5, 0.95, 0.99] {
            let left = survival.tail(survival.percentile(p));
            assert!((left - (1.0 - p)).abs() < 1e-12, "{n}: {left}");
        }
    }
}

#[test]
fn response_time_of_mm1_is_exponential() {
    let environment = Environment::new(1, vec![]).unwrap();
    let queue = ModulatedQueue::new(&environment, 1.6, 2.0, vec![1], vec![]);
    let round = rounds::stationary_distribution(&queue).unwrap();
    let survival = ResponseTimes::new(&queue, round.law.clone(), 1e10).unwrap();
    for p in [0.5, 0.9, 0.95, 0.99_f64] {
        let exact = -(1.0 - p).ln() / 0.4;
        assert!((survival.percentile(p) / exact - 1.0).abs() < 1e-11, "{p}");
    }
}
