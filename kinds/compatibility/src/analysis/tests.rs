#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn delays(graph: &Graph<f64>) -> Vec<f64> {
    let numbers = fair(graph, None).unwrap().numbers;
    let pairs = numbers.iter().zip(&graph.arrival_rates);
    pairs.map(|(number, rate)| number / rate).collect()
}

fn is_near(found: f64, expected: f64, digits: f64) -> bool {
    (found - expected).abs() < 0.5 * 10f64.powf(-digits) * expected
}

fn of_three(rates: [f64; 3], arrivals: [f64; 2]) -> [f64; 2] {
    let [m1, m2, m3] = rates;
    let total = m1 + m2 + m3;
    let [r1, r2] = [arrivals[0] / (m1 + m3), arrivals[1] / (m2 + m3)];
    let rest = total - (m1 + m3) * r1 - (m2 + m3) * r2 + m3 * r1 * r2;
    let shared = 1.0 / (total - arrivals[0] - arrivals[1]);
    let own = |m: f64, to: f64, a: f64, b: f64| shared + m / to * (1.0 - b) / (1.0 - a) / rest;
    [own(m2, m1 + m3, r1, r2), own(m1, m2 + m3, r2, r1)]
}

#[test]
fn three_servers_match_the_paper() {
    for (load, expected) in [
        (0.3, 0.70868103126),
        (0.6, 1.18983957219),
        (0.9, 3.99503722084),
    ] {
        let graph = Graph {
            service_rates: vec![1.0; 3],
            arrival_rates: vec![1.5 * load; 2],
            servers: vec![vec![0, 2], vec![1, 2]],
        };
        let found = delays(&graph);
        assert!(is_near(found[0], expected, 11.0), "{load}: {found:?}");
        assert!(is_near(found[1], expected, 11.0), "{load}: {found:?}");
    }
    for arrivals in [[0.9, 0.2], [0.1, 2.0], [1.4, 1.4]] {
        let rates = [0.7, 1.6, 1.2];
        let graph = Graph {
            service_rates: rates.to_vec(),
            arrival_rates: arrivals.to_vec(),
            servers: vec![vec![2, 0], vec![1, 2]],
        };
        for (found, expected) in delays(&graph).iter().zip(of_three(rates, arrivals)) {
            let agrees = is_near(*found, expected, 12.0);
            assert!(agrees, "{arrivals:?}: {found}, {expected}");
        }
    }
}

#[test]
fn two_classes_with_one_and_two_servers() {
    let cases = [
        (0.3, [0.714285714286, 1.55462184874]),
        (0.6, [1.25, 3.03571428571]),
        (0.9, [5.0, 14.0909090909]),
    ];
    for (load, expected) in cases {
        let graph = Graph {
            service_rates: vec![1.0; 2],
            arrival_rates: vec![load; 2],
            servers: vec![vec![0, 1], vec![1]],
        };
        let found = delays(&graph);
        assert!(is_near(found[0], expected[0], 11.0), "{load}: {found:?}");
        assert!(is_near(found[1], expected[1], 11.0), "{load}: {found:?}");
    }
}

fn random(seed: u64, servers: usize, classes: usize) -> Graph<i64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let own = (0..classes).map(|_| {
        let own = (0..servers).filter(|_| random.random::<f64>() < 0.4);
        let own: Vec<usize> = own.collect();
        if own.is_empty() {
            vec![random.random_range(0..servers)]
        } else {
            own
        }
    });
    let own: Vec<Vec<usize>> = own.collect();
    let service_rates: Vec<i64> = (0..servers).map(|_| random.random_range(50..300)).collect();
    let users = |s: usize| own.iter().filter(|own| own.contains(&s)).count() as i64;
    let arrival_rates = own.iter().map(|own| {
        let most: i64 = own.iter().map(|s| service_rates[*s] / users(*s)).sum();
        most * random.random_range(40..95) / 100
    });
    Graph {
        arrival_rates: arrival_rates.collect(),
        service_rates,
        servers: own,
    }
}

fn with<N>(graph: &Graph<i64>, number: impl Fn(i64) -> N) -> Graph<N> {
    Graph {
        service_rates: graph.service_rates.iter().map(|r| number(*r)).collect(),
        arrival_rates: graph.arrival_rates.iter().map(|r| number(*r)).collect(),
        servers: graph.servers.clone(),
    }
}

#[test]
fn both_recursions_are_equal_in_exact_arithmetic() {
    for seed in 0..12 {
        let graph = random(seed, 4 + seed as usize % 3, 3 + seed as usize % 4);
        let exact = with(&graph, |rate| {
            BigRational::new(BigInt::from(rate), BigInt::from(100))
        });
        let servers = fair(&exact, Some(Recursion::Servers)).unwrap();
        let classes = fair(&exact, Some(Recursion::Classes)).unwrap();
        assert_eq!(servers.numbers, classes.numbers, "{graph:?}");
        assert_eq!(servers.idle, classes.idle, "{graph:?}");
        let doubles = with(&graph, |rate| rate as f64 / 100.0);
        for recursion in [Recursion::Servers, Recursion::Classes] {
            let found = fair(&doubles, Some(recursion)).unwrap();
            for (found, exact) in found.numbers.iter().zip(&servers.numbers) {
                let exact: f64 = num_traits::ToPrimitive::to_f64(exact).unwrap();
                assert!(is_near(*found, exact, 12.0), "{found}, {exact}");
            }
        }
    }
}

#[test]
fn agrees_with_the_sum_over_states() {
    let graph = Graph {
        service_rates: vec![1.0, 0.5, 2.0],
        arrival_rates: vec![0.4, 0.5, 0.3],
        servers: vec![vec![0, 1], vec![1, 2], vec![0]],
    };
    const MOST: usize = 60;
    let rate = |state: &[usize; 3]| -> f64 {
        let active = |s: &usize| {
            let mut classes = graph.servers.iter().zip(state);
            classes.any(|(own, jobs)| *jobs > 0 && own.contains(s))
        };
        (0..3).filter(active).map(|s| graph.service_rates[s]).sum()
    };
    let mut mass: HashMap<[usize; 3], f64> = HashMap::from([([0; 3], 1.0)]);
    let (mut sum, mut jobs, mut idle) = (1.0, [0.0; 3], [1.0; 3]);
    for x in 0..MOST.pow(3) {
        let state = [x / MOST / MOST, x / MOST % MOST, x % MOST];
        if x == 0 {
            continue;
        }
        let before = (0..3).filter(|i| state[*i] > 0).map(|i| {
            let mut before = state;
            before[i] -= 1;
            mass[&before] * graph.arrival_rates[i]
        });
        let own = before.sum::<f64>() / rate(&state);
        mass.insert(state, own);
        sum += own;
        for (s, idle) in idle.iter_mut().enumerate() {
            let mut classes = graph.servers.iter().zip(state);
            if !classes.any(|(servers, jobs)| jobs > 0 && servers.contains(&s)) {
                *idle += own;
            }
        }
        for (total, count) in jobs.iter_mut().zip(state) {
            *total += own * count as f64;
        }
    }
    let found = fair(&graph, None).unwrap();
    for (found, total) in found.numbers.iter().zip(jobs) {
        let agrees = is_near(*found, total / sum, 8.0);
        assert!(agrees, "{found}, {}", total / sum);
    }
    for (found, idle) in found.idle.iter().zip(idle) {
        assert!(is_near(*found, idle / sum, 8.0), "{found}");
    }
}

#[test]
fn merges_duplicates_and_separates_components() {
    let graph = Graph {
        service_rates: vec![0.1; 30],
        arrival_rates: vec![0.05; 40],
        servers: vec![(0..30).collect(); 40],
    };
    for delay in delays(&graph) {
        assert!(is_near(delay, 1.0, 12.0), "M/M/1: {delay}");
    }
    let graph = Graph {
        service_rates: vec![1.0; 40],
        arrival_rates: vec![0.5; 40],
        servers: (0..40).map(|s| vec![s]).collect(),
    };
    for delay in delays(&graph) {
        assert!(is_near(delay, 2.0, 12.0), "M/M/1: {delay}");
    }
}

#[test]
fn rejects_graphs_too_large_for_both_recursions() {
    let graph = Graph {
        service_rates: vec![1.0; 30],
        arrival_rates: vec![0.5; 30],
        servers: (0..30).map(|i| vec![i, (i + 1) % 30]).collect(),
    };
    let why = fair(&graph, None).unwrap_err();
    assert!(why.contains("30 distinct servers"), "{why}");
}

#[test]
fn random_assignment_equals_explicit_classes() {
    let pairs = (0..4).flat_map(|a| (a + 1..4).map(move |b| vec![a, b]));
    let graph = Graph {
        service_rates: vec![1.0; 4],
        arrival_rates: vec![3.2 / 6.0; 6],
        servers: pairs.collect(),
    };
    let found = random_assignment(4, 1.0, 2, 3.2);
    assert!(is_near(found, 1.720779220779, 12.0), "{found}");
    for delay in delays(&graph) {
        assert!(is_near(delay, found, 12.0), "{delay}, {found}");
    }
    assert!(is_near(random_assignment(100, 1.0, 2, 90.0), 1.765103, 6.0));
    assert!(is_near(random_assignment(100, 1.0, 3, 90.0), 1.055048, 6.0));
    assert_eq!(random_assignment(100, 1.0, 3, 100.0), f64::INFINITY);
}

fn least_ratio(graph: &Graph<f64>) -> f64 {
    let count = graph.arrival_rates.len();
    let ratio = |set: usize| {
        let classes = (0..count).filter(|i| set & 1 << i != 0);
        let uses = |s: &usize| classes.clone().any(|i| graph.servers[i].contains(s));
        let served = (0..graph.service_rates.len()).filter(uses);
        let served: f64 = served.map(|s| graph.service_rates[s]).sum();
        served / classes.clone().map(|i| graph.arrival_rates[i]).sum::<f64>()
    };
    (1..1 << count).map(ratio).fold(f64::INFINITY, f64::min)
}

fn is_feasible(graph: &Graph<f64>, found: &Margin) -> bool {
    let mut loads = vec![0.0; graph.service_rates.len()];
    for (i, parts) in found.routing.iter().enumerate() {
        let sum: f64 = parts.iter().map(|(_, part)| part).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        for (s, part) in parts {
            assert!(*part > 0.0 && graph.servers[i].contains(s));
            loads[*s] += graph.arrival_rates[i] * part / graph.service_rates[*s];
        }
    }
    loads.iter().all(|load| load * found.factor < 1.0 + 1e-11)
}

#[test]
fn margin_is_the_minimum_ratio_over_all_sets() {
    for seed in 0..60 {
        let graph = random(seed, 2 + seed as usize % 7, 1 + seed as usize % 9);
        let mut graph = with(&graph, |rate| rate as f64 / 100.0);
        graph.arrival_rates[0] *= 10f64.powi(-(seed as i32 % 13));
        let found = margin(&graph);
        let agrees = is_near(found.factor, least_ratio(&graph), 13.0);
        assert!(agrees, "{graph:?}");
        assert!(is_feasible(&graph, &found), "{graph:?}: {found:?}");
    }
}

#[test]
fn finds_a_small_bottleneck_among_large_rates() {
    let graph = Graph {
        service_rates: vec![5e-14, 10.0],
        arrival_rates: vec![1e-13, 1.0],
        servers: vec![vec![0], vec![0, 1]],
    };
    let found = margin(&graph);
    assert_eq!((found.factor, found.tight.as_slice()), (0.5, &[0][..]));
}
