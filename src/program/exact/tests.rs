#![allow(clippy::unwrap_used)]

use super::*;
use crate::program::tests::{model, random_workload};
use crate::program::{self, Limits};
use crate::schedule::enumerate;

const NODES: u64 = 1_000_000;

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

fn solved(workload: &Workload) -> Exact {
    let solution = program::solve(workload, &Limits::default()).unwrap();
    exact(workload, &solution, NODES).unwrap()
}

/// The second derivation, in fractions and over all schedules one by one: the mix has this load, and
/// if proven, no schedule is worth more than 1/ρ at the prices.
fn verify(workload: &Workload, found: &Exact) {
    let offered: Vec<BigRational> = workload
        .types()
        .iter()
        .map(|t| t.exact_load().unwrap())
        .collect();
    let served = |i: usize| -> BigRational {
        let pairs = found.schedules.iter().zip(&found.weights);
        pairs.map(|(u, p)| p * BigInt::from(u[i])).sum()
    };
    assert!(found.weights.iter().all(|p| p.is_positive()));
    assert!(found.weights.iter().sum::<BigRational>().is_one());
    let loads = (0..offered.len()).map(|i| &offered[i] / served(i));
    assert_eq!(loads.max().unwrap(), found.load);
    let Ok(prices) = &found.proof else { return };
    assert!(prices.of_types.iter().all(|y| !y.is_negative()));
    assert!(prices.of_types.iter().sum::<BigRational>().is_one());
    let worth = |u: &Schedule| -> BigRational {
        let prices = prices.of_types.iter().zip(&offered).zip(u);
        prices.map(|((y, b), u)| y / b * BigInt::from(*u)).sum()
    };
    let all = enumerate(&Packing::new(workload), 20_000);
    let best = all.schedules.iter().map(worth).max().unwrap();
    match all.complete {
        true => assert_eq!(best * &found.load, BigRational::one()),
        false => assert!(best * &found.load <= BigRational::one()),
    }
}

/// Appendix J of the MSR paper: 131/200, its bottleneck the network. Any of the many optima has it.
#[test]
fn the_load_of_appendix_j() {
    let workload = model("vms");
    let found = solved(&workload);
    assert_eq!(found.load, ratio(131, 200));
    assert_eq!(found.proof.as_ref().unwrap().bottleneck, Some(3));
    // y_i ∝ b_i D_i: 4·1, 5·10, 2·5, 1.5·1 of 65.5.
    let prices = [(8, 131), (100, 131), (20, 131), (3, 131)].map(|(n, d)| ratio(n, d));
    assert_eq!(found.proof.as_ref().unwrap().of_types, prices);
    verify(&workload, &found);
}

/// Section 7 at load .9: half and half of (0, 0, 2) and (1, 4, 0), and no resource is full.
#[test]
fn the_load_of_section_seven() {
    let workload = model("section7");
    let found = solved(&workload);
    assert_eq!(found.load, ratio(9, 10));
    assert_eq!(found.weights, [ratio(1, 2), ratio(1, 2)]);
    assert_eq!(found.proof.as_ref().unwrap().bottleneck, None);
    verify(&workload, &found);
}

#[test]
fn random_systems_are_settled() {
    let mut proven = 0;
    for seed in 0..300 {
        let workload = random_workload(seed);
        let solution = program::solve(&workload, &Limits::default()).unwrap();
        let found =
            exact(&workload, &solution, NODES).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(
            (nearest(&found.load) / solution.certificate.load - 1.0).abs() < 2e-9,
            "seed {seed}"
        );
        if let Err(why) = &found.proof {
            println!(
                "seed {seed}: {why} {:?} {:?}",
                solution.mix, solution.certificate
            );
        }
        proven += u32::from(found.is_proven());
        verify(&workload, &found);
    }
    println!("proven {proven}");
    assert_eq!(proven, 300);
}
