#![allow(clippy::unwrap_used)]

use super::*;
use crate::program::tests::{common_and_rare, random_workload};
use crate::program::{self, SolveLimits};
use crate::tests::{model, one_server};
use synth_multiresource::schedule::enumerate;

const NODES: u64 = 1_000_000;

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

fn solved(workload: &Workload) -> ExactLoad {
    let solution = program::solve(workload, &SolveLimits::default()).unwrap();
    exact(workload, &solution, NODES).unwrap()
}

fn verify(workload: &Workload, found: &ExactLoad) {
    let offered = workload.types().iter().map(|t| t.exact_load().unwrap());
    let offered: Vec<BigRational> = offered.collect();
    let served = |i: usize| -> BigRational {
        let pairs = found.schedules.iter().zip(&found.weights);
        pairs.map(|(u, p)| p * BigInt::from(u[i])).sum()
    };
    assert!(found.weights.iter().all(|p| p.is_positive()));
    assert!(found.weights.iter().sum::<BigRational>().is_one());
    let loads = (0..offered.len()).map(|i| &offered[i] / served(i));
    assert_eq!(loads.max().unwrap(), found.load);
    let Some(prices) = &found.prices else { return };
    assert!(prices.iter().all(|y| !y.is_negative()));
    assert!(prices.iter().sum::<BigRational>().is_one());
    let worth = |u: &Schedule| -> BigRational {
        let prices = prices.iter().zip(&offered).zip(u);
        prices.map(|((y, b), u)| y / b * BigInt::from(*u)).sum()
    };
    let all = enumerate(&Packing::new(workload), 20_000);
    let best = all.schedules.iter().map(worth).max().unwrap();
    match all.complete {
        true => assert_eq!(best * &found.load, BigRational::one()),
        false => assert!(best * &found.load <= BigRational::one()),
    }
}

/// The network is the bottleneck of appendix J of the MSR paper, so every mix has this load.
#[test]
fn exact_load_of_appendix_j() {
    let workload = model("vms");
    let found = solved(&workload);
    assert_eq!(found.load, ratio(131, 200));
    // The prices are `y_i ∝ b_i D_i`, which are 4·1, 5·10, 2·5 and 1.5·1 of a total of 65.5.
    let prices = [(8, 131), (100, 131), (20, 131), (3, 131)].map(|(n, d)| ratio(n, d));
    assert_eq!(found.prices.as_ref().unwrap(), &prices);
    verify(&workload, &found);
}

#[test]
fn exact_load_of_section_seven() {
    let workload = model("section7");
    let found = solved(&workload);
    assert_eq!(found.load, ratio(9, 10));
    assert_eq!(found.weights, [ratio(1, 2), ratio(1, 2)]);
    assert!(found.is_proven());
    verify(&workload, &found);
}

#[test]
fn random_systems_are_solved_exactly() {
    let mut proven = 0;
    for seed in 0..300 {
        let workload = random_workload(seed);
        let solution = program::solve(&workload, &SolveLimits::default()).unwrap();
        let found = exact(&workload, &solution, NODES).unwrap_or_else(|| panic!("seed {seed}"));
        let is_near = (nearest(&found.load) / solution.certificate.load - 1.0).abs() < 2e-9;
        assert!(is_near, "seed {seed}");
        proven += u32::from(found.is_proven());
        verify(&workload, &found);
    }
    println!("proven {proven}");
    assert_eq!(proven, 300);
}

#[test]
fn handles_fewer_schedules_than_tight_types() {
    let jobs = [
        "name: a, demand: {cpu: 2}, arrival_rate: .3, mean_size: 1",
        "name: b, demand: {disk: 2}, arrival_rate: .1, mean_size: 3",
    ];
    let workload = one_server("cpu: 3, disk: 3", &jobs);
    let found = solved(&workload);
    assert_eq!(found.load, ratio(3, 10));
    assert_eq!((found.schedules.len(), found.is_proven()), (1, true));
    verify(&workload, &found);
}

/// Three common jobs, or a common and a rare one: 3x + y = 2, y = 1e-9, and ρ = x + y.
#[test]
fn solves_rare_types_exactly() {
    let workload = common_and_rare(2.0, 1e-9);
    let found = solved(&workload);
    assert_eq!(found.load, ratio(1_000_000_001, 1_500_000_000));
    assert!(found.is_proven());
    verify(&workload, &found);
}

#[test]
fn irrational_loads_have_no_exact_optimum() {
    let workload = model("bursty");
    let solution = program::solve(&workload, &SolveLimits::default()).unwrap();
    assert_eq!(exact(&workload, &solution, NODES), None);
}

#[test]
fn incomplete_search_proves_nothing() {
    let solution = program::solve(&model("section7"), &SolveLimits::default()).unwrap();
    let found = exact(&model("section7"), &solution, 0).unwrap();
    assert_eq!((found.load, found.prices), (ratio(9, 10), None));
}

#[test]
fn perturbed_solutions_never_give_a_false_proof() {
    let (mut solved, mut proven) = (0, 0);
    for seed in 0..100 {
        let workload = random_workload(seed);
        let sound = program::solve(&workload, &SolveLimits::default()).unwrap();
        let spoil = |noise: f64, price: f64| {
            let mut spoilt = sound.clone();
            for (s, weight) in spoilt.mixes[0].weights.iter_mut().enumerate() {
                *weight *= 1.0 + noise * s as f64;
            }
            for own in &mut spoilt.certificate.prices {
                *own += price;
            }
            exact(&workload, &spoilt, NODES)
        };
        let noisy = spoil(1e-10, 1e-15);
        let spoilt = [noisy.clone(), spoil(1e-6, 0.0), spoil(0.0, 0.1)];
        for found in spoilt.iter().flatten() {
            verify(&workload, found);
        }
        let mut more = sound.clone();
        let packing = Packing::new(&workload);
        let other = enumerate(&packing, 20_000).schedules.pop().unwrap();
        if !more.mixes[0].schedules.contains(&other) {
            more.mixes[0].schedules.insert(0, other);
            more.mixes[0].weights.insert(0, 1e-13);
        }
        if let Some(found) = exact(&workload, &more, NODES) {
            verify(&workload, &found);
            solved += 1;
        }
        proven += u32::from(noisy.is_some_and(|found| found.is_proven()));
    }
    println!("{solved} solved with an extra schedule, {proven} proven with noise");
    assert!(proven >= 95 && solved >= 90, "{proven} {solved}");
}
