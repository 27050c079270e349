#![allow(clippy::unwrap_used)]

use itertools::Itertools;
use rand::{RngExt, SeedableRng};

use std::time::Duration;

use super::*;
use crate::tests::{model, one_server};
use synth_multiresource::schedule::{Packing, Schedule, enumerate};
use synth_multiresource::workload::Workload;

pub(super) fn common_and_rare(common: f64, rare: f64) -> Workload {
    let jobs = [
        format!("name: common, demand: {{cpu: 3}}, arrival_rate: {common:e}, mean_size: 1"),
        format!("name: rare, demand: {{cpu: 7}}, arrival_rate: {rare:e}, mean_size: 1"),
    ];
    one_server("cpu: 10", &jobs)
}

pub(super) fn random_workload(seed: u64) -> Workload {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
    let (types, resources) = (random.random_range(1..=4), random.random_range(1..=3));
    let fine = random.random_range(0..3) == 0;
    let mut text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {".to_string();
    for j in 0..resources {
        text += &format!(
            "r{j}: {}, ",
            if fine {
                1.0
            } else {
                f64::from(random.random_range(5..25))
            }
        );
    }
    text += "}}\njobs:\n";
    for i in 0..types {
        text += &format!("  - {{name: t{i}, demand: {{");
        for j in 0..resources {
            let least = i32::from(j == 0);
            let demand = match fine {
                true => format!("{:.4}", 0.1 + 0.4 * random.random::<f64>()),
                false => random.random_range(least..6).to_string(),
            };
            text += &format!("r{j}: {demand}, ");
        }
        let rate = 10_f64.powi(random.random_range(-9..2)) * (0.1 + random.random::<f64>());
        text += &format!(
            "}}, arrival_rate: {rate:.6e}, mean_size: {:.3}}}\n",
            0.1 + random.random::<f64>()
        );
    }
    Workload::parse(&text, "random").unwrap().workload
}

#[test]
fn proofs_hold_for_all_schedules_of_random_workloads() {
    for seed in 0..300 {
        let workload = random_workload(seed);
        let solution = solve(&workload, &SolveLimits::default()).unwrap();
        let certificate = &solution.certificate;
        let is_proven = certificate.proven();
        assert!(is_proven, "seed {seed}: gap {}", certificate.gap());
        let is_sparse = solution.mixes[0].schedules.len() <= workload.types().len();
        assert!(is_sparse, "seed {seed}: theorem 2");
        assert_eq!(solution.mixes[0].load(&workload), certificate.load);
        let worth = |u: &Schedule| -> f64 {
            let terms = workload.types().iter().zip(&certificate.prices).zip(u);
            terms
                .map(|((t, y), u)| y / t.offered_load() * f64::from(*u))
                .sum()
        };
        let all = enumerate(&Packing::new(&workload), 50_000);
        let dearest = all.schedules.iter().map(worth).fold(0.0, f64::max);
        assert!(dearest <= (1.0 + 1e-12) / certificate.bound, "seed {seed}");
    }
}

/// The value 0.90766491 is the result of an independent implementation of column generation.
#[test]
fn matches_known_loads_of_the_models() {
    for (name, load, tolerance) in [
        ("vms", 131.0 / 200.0, 1e-12),
        ("section7", 0.9, 1e-12),
        ("four_types", 0.9, 1e-12),
        ("one_or_all", 6.0 * (0.9 / 32.0 + 0.1), 1e-12),
        ("borg_top10", 1.0 / 1.10172817, 1e-8),
    ] {
        let limits = SolveLimits::default();
        let certificate = solve(&model(name), &limits).unwrap().certificate;
        assert!(certificate.proven(), "{name}: gap {}", certificate.gap());
        let is_near = (certificate.load - load).abs() < tolerance;
        assert!(is_near, "{name}: {}", certificate.load);
    }
}

#[test]
fn finds_the_unique_optimum_of_section_seven() {
    let limits = SolveLimits::default();
    let mut mix = solve(&model("section7"), &limits).unwrap().mixes.remove(0);
    mix.schedules.sort();
    assert_eq!(mix.schedules, [vec![0, 0, 2], vec![1, 4, 0]]);
    assert!(mix.weights.iter().all(|p| (p - 0.5).abs() < 1e-12));
}

#[test]
fn rare_types_are_not_starved() {
    let workload = common_and_rare(2.0, 1e-9);
    let solution = solve(&workload, &SolveLimits::default()).unwrap();
    let loads = solution.mixes[0].loads(&workload);
    assert!(solution.certificate.proven());
    let are_below = loads
        .iter()
        .all(|load| *load <= solution.certificate.load && *load > 0.0);
    assert!(are_below, "{loads:?}");
    // The common jobs need 2/3 of the time, three at a time, and the rare jobs almost no time.
    assert!((solution.certificate.load - 2.0 / 3.0).abs() < 1e-8);
}

/// If all rates are multiplied by a factor, the load is multiplied by the same factor (theorem 10).
#[test]
fn load_is_linear_in_the_rates() {
    for seed in 300..330 {
        let workload = random_workload(seed);
        let load = |w: &Workload| solve(w, &SolveLimits::default()).unwrap().certificate.load;
        let doubled = workload.scaled(2.0).unwrap();
        let is_doubled = (load(&doubled) / load(&workload) / 2.0 - 1.0).abs() < 2e-9;
        assert!(is_doubled, "seed {seed}");
    }
}

#[test]
fn zero_time_limit_proves_nothing() {
    let limits = SolveLimits {
        time: Duration::ZERO,
        ..SolveLimits::default()
    };
    let solution = solve(&model("section7"), &limits).unwrap();
    assert!(!solution.certificate.proven());
    assert!(solution.certificate.gap() > 0.0);
}

#[test]
fn solves_loads_of_very_different_magnitude() {
    for (common, rare, load) in [
        (2.0, 1e-16, 2.0 / 3.0),
        (1e10, 0.2, 1e10 / 3.0),
        (0.3, 1e-90, 0.1),
    ] {
        let workload = common_and_rare(common, rare);
        let limits = SolveLimits::default();
        let certificate = solve(&workload, &limits).unwrap().certificate;
        assert!(certificate.proven(), "{common} {rare}: {certificate:?}");
        let is_near = (certificate.load / load - 1.0).abs() < 1e-9;
        assert!(is_near, "{common} {rare}: {certificate:?}");
    }
}

#[test]
fn solves_values_of_very_different_magnitude() {
    let job = |name: &str, demand: &str, size: &str| {
        format!("name: {name}, demand: {{{demand}}}, arrival_rate: 3, mean_size: {size}")
    };
    for (capacity, fleeting, tiny) in [
        (
            "cpu: 100, disk: 900, net: 80",
            "cpu: 1, disk: 40, net: 2",
            "1e-30",
        ),
        ("cpu: 100, disk: 900, net: 80", "cpu: .99, disk: 9", "1e-9"),
        ("cpu: 1e9, disk: 900, net: 80", "cpu: 1, disk: 1", "1e-12"),
        (
            "cpu: 1e12, disk: 900, net: 8e10",
            "cpu: 1, net: 7, disk: 1",
            "1e-12",
        ),
    ] {
        let others = [
            job("a", "cpu: 3, disk: 9, net: 11", ".9"),
            job("b", "cpu: 2, disk: 80, net: 1", "1.5"),
            job("c", "cpu: 7, disk: 8", "2"),
        ];
        let with = [&others[..], &[job("fleeting", fleeting, tiny)]].concat();
        let solved = |jobs: &[String]| {
            let workload = one_server(capacity, jobs);
            let solution = solve(&workload, &SolveLimits::default());
            solution.unwrap().certificate
        };
        let (less, all) = (solved(&others), solved(&with));
        assert!(less.proven() && all.proven(), "{capacity}: {all:?}");
        let relative = all.load / less.load - 1.0;
        assert!((-1e-12..3e-9).contains(&relative), "{capacity}: {relative}");
    }
}

#[test]
fn relaxation_prices_cover_all_values() {
    for seed in 0..200 {
        let workload = random_workload(seed);
        let packing = Packing::new(&workload);
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut value = |_| 10_f64.powi(random.random_range(-30..20)) * random.random::<f64>();
        let values: Vec<f64> = (0..packing.types()).map(&mut value).collect();
        let knapsack = Knapsack::new(&packing, &values);
        let prices = &knapsack.prices;
        let cost = |prices: &[f64], units: &[u64]| -> f64 {
            units.iter().zip(prices).map(|(d, w)| *d as f64 * w).sum()
        };
        for (i, value) in values.iter().enumerate() {
            let cost = cost(prices, packing.demand(i));
            assert!(cost >= value * (1.0 - 1e-14), "seed {seed}: {cost} {value}");
        }
        for j in 0..packing.capacity().len() {
            let each = (0..packing.types()).map(|i| values[i] / packing.demand(i)[j] as f64);
            let server = each.fold(0.0, f64::max) * packing.capacity()[j] as f64;
            if server.is_finite() {
                let found = knapsack.relaxed();
                let is_less = found <= server * (1.0 + 1e-8);
                assert!(is_less, "seed {seed}: {found} {server}");
            }
        }
    }
}

#[test]
fn out_of_range_loads_are_rejected_by_name() {
    let refused = |jobs: &[&str]| {
        let workload = one_server("cpu: 10", jobs);
        let refused = solve(&workload, &SolveLimits::default());
        refused.unwrap_err().to_string()
    };
    let below = refused(&[
        "name: never, demand: {cpu: 3}, arrival_rate: 1e-150, mean_size: 1",
        "name: common, demand: {cpu: 3}, arrival_rate: 1, mean_size: 1",
    ]);
    assert!(below.contains("type `never`"), "{below}");
    assert!(below.contains("1e-150"), "{below}");
    let beyond = refused(&[
        "name: never, demand: {cpu: 4}, arrival_rate: 1e50, mean_size: 6e257",
        "name: common, demand: {cpu: 3}, arrival_rate: 1e50, mean_size: 3e257",
    ]);
    assert!(beyond.contains("more than a double can hold"), "{beyond}");
}

fn instance(class: &str, types: usize, seed: u64) -> Workload {
    let document = instances::document(class, types, seed);
    Workload::parse(&document, "instance").unwrap().workload
}

#[path = "../../../../lab/benches/instances/mod.rs"]
mod instances;

#[test]
fn proves_workloads_of_thirty_types() {
    for (class, seed) in instances::CLASSES.into_iter().cartesian_product(1..=3) {
        let workload = instance(class, 30, seed);
        let solution = solve(&workload, &SolveLimits::default()).unwrap();
        let certificate = &solution.certificate;
        let load = solution.mixes[0].loads(&workload);
        let load = load.into_iter().fold(0.0, f64::max);
        let is_proven = certificate.proven();
        assert!(is_proven, "{class} {seed}: {}", certificate.gap());
        assert!((load / certificate.load - 1.0).abs() < 1e-12);
        let packing = Packing::new(&workload);
        assert!(solution.mixes[0].schedules.iter().all(|u| packing.fits(u)));
    }
}

/// The checker's tests verify the search trees again (`tests/suite/checker.rs`).
#[test]
fn proves_hard_classes() {
    for (class, types, seed) in [
        ("hosts", 30, 12),
        ("hosts", 50, 1),
        ("hosts", 50, 8),
        ("mixed", 30, 4),
        ("coprime", 30, 3),
    ] {
        assert!(instances::HARD.contains(&class));
        let workload = instance(class, types, seed);
        let limits = SolveLimits::default();
        let certificate = solve(&workload, &limits).unwrap().certificate;
        let gap = certificate.gap();
        assert!(certificate.proven(), "{class} {types} {seed}: {gap}");
    }
}

#[test]
fn starts_from_known_schedules() {
    let workload = instance("cloud", 50, 1);
    let limits = SolveLimits::default();
    let solution = solve(&workload, &limits).unwrap();
    let values = [solution.mixes[0].schedules.clone()];
    let again = solve_from(&workload.clone().into(), &limits, &values).unwrap();
    assert!(again.certificate.proven(), "{}", again.rounds);
    assert!(again.rounds <= 3, "{}", again.rounds);
    let relative = again.certificate.load / solution.certificate.load - 1.0;
    assert!(relative.abs() < 1e-9, "{relative}");
    let foreign = [vec![vec![u32::MAX; 50]]];
    let from_nothing = solve_from(&workload.into(), &limits, &foreign).unwrap();
    assert!(from_nothing.certificate.proven());
}
