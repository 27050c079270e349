#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::multiresource::program::solve;
use crate::multiresource::schedule::{Packing, Schedule, enumerate};

const AIMS: [Balance; 3] = [
    Balance::Headroom,
    Balance::TotalResponse,
    Balance::WorstResponse,
];

fn model(name: &str) -> Workload {
    let path = format!("{}/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

fn parsed(text: &str) -> Workload {
    Workload::parse(text, "test").unwrap().workload
}

/// Balanced with these weights; the least load beside it.
fn balanced(workload: &Workload, aim: Balance, weights: &[f64]) -> (Balanced, Solution) {
    let limits = Limits::default();
    let solution = solve(workload, &limits).unwrap();
    let weights = weights.to_vec();
    let found = balance(workload, &Balancing { aim, weights }, &solution, &limits).unwrap();
    (found, solution)
}

/// A random system of one to four types whose schedules can be listed, at a load of .5 to .95.
fn random_workload(random: &mut Xoshiro256PlusPlus) -> Workload {
    let (types, resources) = (random.random_range(1..=4), random.random_range(1..=2));
    let mut text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {".to_string();
    for j in 0..resources {
        text += &format!("r{j}: {}, ", random.random_range(5..13));
    }
    text += "}}\njobs:\n";
    for i in 0..types {
        text += &format!("  - {{name: t{i}, demand: {{");
        for j in 0..resources {
            text += &format!("r{j}: {}, ", random.random_range(i32::from(j == 0)..6));
        }
        let (rate, size) = (random.random::<f64>(), random.random::<f64>());
        text += &format!(
            "}}, arrival_rate: {:.3}, mean_size: {:.3}}}\n",
            0.05 + rate,
            0.1 + size
        );
    }
    let workload = parsed(&text);
    let load = solve(&workload, &Limits::default())
        .unwrap()
        .certificate
        .load;
    let wanted = 0.5 + 0.45 * random.random::<f64>();
    workload.scaled(wanted / load).unwrap()
}

fn random_weights(random: &mut Xoshiro256PlusPlus, types: usize) -> Vec<f64> {
    let weight = |_| 0.2 + 3.0 * random.random::<f64>();
    (0..types).map(weight).collect()
}

/// One type alone: `c` fit, and all else follows.
#[test]
fn one_type_has_a_closed_form() {
    let workload = parsed(
        "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: a, demand: {cpu: 3}, arrival_rate: 1.2, mean_size: 2}\n",
    );
    // Three fit, 2.4 are offered: ρ = .8.
    for (aim, expected) in AIMS.into_iter().zip([0.25 / 7.0, 7.0 / 0.2, 7.0 / 0.2]) {
        let (found, _) = balanced(&workload, aim, &[7.0]);
        assert!((found.value / expected - 1.0).abs() < 1e-12, "{aim:?}");
        assert!(found.gap() < 1e-9, "{aim:?}: {found:?}");
        assert_eq!(found.mix.schedules, [[3]]);
    }
}

/// Two types that never run together, one at a time: `c = (p/b_1, (1 − p)/b_2)`. The least total
/// response has `w_i b_i/(x_i − b_i)²` alike, so `x_i − b_i ∝ √(w_i b_i)`.
#[test]
fn two_types_in_turn_have_a_closed_form() {
    let workload = parsed(
        "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 1}}\njobs:
  - {name: a, demand: {cpu: 1}, arrival_rate: .3, mean_size: 1}
  - {name: b, demand: {cpu: 1}, arrival_rate: 1, mean_size: .5}\n",
    );
    let (b, w) = ([0.3, 0.5], [2.0, 0.7]);
    let spare = 1.0 - b[0] - b[1];
    let root = |i: usize| f64::sqrt(w[i] * b[i]);
    let total = w[0] + w[1] + (root(0) + root(1)).powi(2) / spare;
    let (found, _) = balanced(&workload, Balance::TotalResponse, &w);
    assert!(
        (found.value / total - 1.0).abs() < 1e-9,
        "{found:?} {total}"
    );
    let served = found.mix.mean_schedule();
    let expected = b[0] + spare * root(0) / (root(0) + root(1));
    assert!((served[0] / expected - 1.0).abs() < 1e-6, "{served:?}");
    assert!((served[0] + served[1] - 1.0).abs() < 1e-9, "{served:?}");
    // x_i = b_i (1 + w_i s), and they sum to 1.
    let (found, _) = balanced(&workload, Balance::Headroom, &w);
    let headroom = spare / (b[0] * w[0] + b[1] * w[1]);
    assert!((found.value / headroom - 1.0).abs() < 1e-9, "{found:?}");
    // b_1/(1 − w_1/τ) + b_2/(1 − w_2/τ) = 1, a quadratic equation in τ.
    let (found, _) = balanced(&workload, Balance::WorstResponse, &w);
    let middle = 0.5 * (w[0] + w[1] - b[0] * w[1] - b[1] * w[0]) / spare;
    let worst = middle + (middle * middle - w[0] * w[1] / spare).sqrt();
    assert!(
        (found.value / worst - 1.0).abs() < 1e-9,
        "{found:?} {worst}"
    );
}

/// Among equals the headroom is that of the least load, and the mix as good.
#[test]
fn equal_weights_give_the_least_load() {
    for name in ["section7", "vms", "four_types", "one_or_all"] {
        let workload = model(name);
        let (found, solution) = balanced(
            &workload,
            Balance::Headroom,
            &vec![1.0; workload.types().len()],
        );
        let load = solution.certificate.load;
        assert!(
            (found.value * load / (1.0 - load) - 1.0).abs() < 1e-8,
            "{name}"
        );
        assert!(found.proven(), "{name}: {}", found.gap());
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for n in 0..40 {
        let workload = random_workload(&mut random);
        let equal = vec![1.0; workload.types().len()];
        let (found, solution) = balanced(&workload, Balance::Headroom, &equal);
        let load = found.mix.loads(&workload).into_iter().fold(0.0, f64::max);
        assert!((load / solution.certificate.load - 1.0).abs() < 1e-8, "{n}");
    }
}

/// Weights only count against each other.
#[test]
fn the_mix_does_not_depend_on_the_unit_of_weights() {
    let workload = model("section7");
    for aim in [Balance::TotalResponse, Balance::WorstResponse] {
        let value = |unit: f64| balanced(&workload, aim, &[unit, 2.0 * unit, unit]).0.value / unit;
        assert!((value(1e-6) / value(1e6) - 1.0).abs() < 1e-8, "{aim:?}");
    }
}

/// Coverage `c = x/b` of each schedule.
fn coverage(workload: &Workload, all: &[Schedule]) -> Vec<Vec<f64>> {
    let of = |u: &Schedule| {
        let types = u.iter().zip(workload.types());
        types
            .map(|(u, job_type)| f64::from(*u) / job_type.offered_load())
            .collect()
    };
    all.iter().map(of).collect()
}

/// The least total response over all schedules, by pairwise exchange of weights: the schedule of
/// steepest descent against that of steepest ascent, to the best length by bisection. Slow,
/// and nothing in it is shared with the program.
fn exchanged(columns: &[Vec<f64>], costs: &[f64], start: Vec<f64>) -> f64 {
    let mut weights = start;
    let types = costs.len();
    let covered = |weights: &[f64]| -> Vec<f64> {
        (0..types)
            .map(|i| columns.iter().zip(weights).map(|(c, p)| c[i] * p).sum())
            .collect()
    };
    for _ in 0..200_000 {
        let c = covered(&weights);
        let slope = |s: usize| -> f64 {
            (0..types)
                .map(|i| -costs[i] / (c[i] - 1.0).powi(2) * columns[s][i])
                .sum()
        };
        let slopes: Vec<f64> = (0..columns.len()).map(slope).collect();
        let by_slope = |a: &usize, b: &usize| slopes[*a].total_cmp(&slopes[*b]);
        let down = (0..columns.len()).min_by(by_slope).unwrap();
        let used = (0..columns.len()).filter(|s| weights[*s] > 0.0);
        let up = used.max_by(by_slope).unwrap();
        if slopes[up] - slopes[down] < 1e-9 * slopes[down].abs() {
            break;
        }
        let change: Vec<f64> = (0..types)
            .map(|i| columns[down][i] - columns[up][i])
            .collect();
        let falls = |t: f64| {
            let at = |i: usize| c[i] + t * change[i] - 1.0;
            let alive = (0..types).all(|i| at(i) > 0.0);
            let terms = (0..types).map(|i| costs[i] / at(i).powi(2) * change[i]);
            alive && terms.sum::<f64>() > 0.0
        };
        let (mut low, mut high) = (0.0, weights[up]);
        if !falls(high) {
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if falls(middle) {
                    low = middle
                } else {
                    high = middle
                }
            }
            high = low;
        }
        weights[down] += high;
        weights[up] = if high == weights[up] {
            0.0
        } else {
            weights[up] - high
        };
    }
    let c = covered(&weights);
    (0..types).map(|i| costs[i] * c[i] / (c[i] - 1.0)).sum()
}

/// Another way to the headroom and the worst response: bisection over the value, each asked
/// whether the loads it takes can be carried, by the program over all schedules at once.
fn bisected(workload: &Workload, balancing: &Balancing) -> f64 {
    let reached = |value: f64| {
        let factor = |w: &f64| match balancing.aim {
            Balance::Headroom => 1.0 + w * value,
            _ => 1.0 / (1.0 - w / value),
        };
        let factors: Vec<f64> = balancing.weights.iter().map(factor).collect();
        let busier = workload.scaled_by_type(&factors).unwrap();
        let mix = crate::multiresource::program::solve_by_enumeration(&busier, 50_000)
            .unwrap()
            .unwrap();
        mix.loads(&busier).into_iter().fold(0.0, f64::max) <= 1.0
    };
    let largest = balancing.weights.iter().copied().fold(0.0, f64::max);
    let (mut good, mut bad) = match balancing.aim {
        Balance::Headroom => (0.0, 100.0),
        _ => (1e4 * largest, largest * (1.0 + 1e-9)),
    };
    for _ in 0..45 {
        let middle = 0.5 * (good + bad);
        if reached(middle) {
            good = middle
        } else {
            bad = middle
        }
    }
    good
}

/// All three against their second way, on random systems; the bound holds against every schedule,
/// one by one, and theorem 2 for the mix.
#[test]
fn values_agree_with_a_second_way_on_random_systems() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for n in 0..25 {
        let workload = random_workload(&mut random);
        let types = workload.types().len();
        let weights = random_weights(&mut random, types);
        let all = enumerate(&Packing::new(&workload), 50_000).schedules;
        let columns = coverage(&workload, &all);
        for aim in AIMS {
            let (found, solution) = balanced(&workload, aim, &weights);
            let weights = weights.clone();
            let balancing = Balancing { aim, weights };
            let expected = match aim {
                Balance::TotalResponse => {
                    let place = |u: &Schedule| {
                        let at = solution.mix.schedules.iter().position(|v| v == u);
                        at.map_or(0.0, |s| solution.mix.weights[s])
                    };
                    let start = all.iter().map(place).collect();
                    exchanged(&columns, &balancing.weights, start)
                }
                _ => bisected(&workload, &balancing),
            };
            let context = format!("{n} {aim:?}: {expected} {found:?}");
            assert!((found.value / expected - 1.0).abs() < 1e-6, "{context}");
            assert!(found.proven(), "{context}");
            assert!(found.mix.schedules.len() <= types, "{context}");
            let bound = by_hand(&workload, &balancing, &found, &columns);
            assert!(
                (bound / found.bound - 1.0).abs() < 1e-8,
                "{context} {bound}"
            );
        }
    }
}

/// The bound from the prices and all schedules one by one, as the module's head has it.
fn by_hand(
    workload: &Workload,
    balancing: &Balancing,
    found: &Balanced,
    columns: &[Vec<f64>],
) -> f64 {
    let types = workload.types().iter().zip(&found.prices);
    let works: Vec<f64> = types.map(|(t, v)| t.offered_load() * v).collect();
    let worth = |c: &Vec<f64>| -> f64 { c.iter().zip(&works).map(|(c, y)| c * y).sum() };
    let dearest = columns.iter().map(worth).fold(0.0, f64::max);
    let each = || works.iter().zip(&balancing.weights);
    match balancing.aim {
        Balance::TotalResponse => {
            let root: f64 = each().map(|(y, w)| (y * w).sqrt()).sum();
            balancing.weights.iter().sum::<f64>() + root * root / (dearest - 1.0)
        }
        Balance::Headroom => (dearest - 1.0) / each().map(|(y, w)| y * w).sum::<f64>(),
        // At the bound as much is needed as the dearest schedule is worth.
        Balance::WorstResponse => {
            let priced = each().filter(|(y, _)| **y > 0.0);
            let needed: f64 = priced.map(|(y, w)| y / (1.0 - w / found.bound)).sum();
            found.bound * needed / dearest
        }
    }
}

/// No time for the proof: the answer says so, and its mix is still stable.
#[test]
fn without_time_nothing_is_called_proven() {
    let workload = model("section7");
    let solution = solve(&workload, &Limits::default()).unwrap();
    let limits = Limits {
        time: std::time::Duration::ZERO,
        ..Limits::default()
    };
    for aim in AIMS {
        let balancing = Balancing {
            aim,
            weights: vec![1.0, 2.0, 4.0],
        };
        let found = balance(&workload, &balancing, &solution, &limits).unwrap();
        assert!(!found.proven() && found.gap() > BALANCE_GAP, "{found:?}");
        assert!(found.mix.loads(&workload).iter().all(|load| *load < 1.0));
    }
}

/// Nearly saturated, and a type of rate 1e-9 beside one of rate 1.
#[test]
fn extremes_are_proven_or_said() {
    let near = model("section7").scaled((1.0 - 1e-4) / 0.9).unwrap();
    let rare = parsed(
        "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: common, demand: {cpu: 3}, arrival_rate: 2, mean_size: 1}
  - {name: rare, demand: {cpu: 7}, arrival_rate: 1e-9, mean_size: 1}\n",
    );
    for workload in [near, rare] {
        for aim in AIMS {
            let balancing = Balancing::new(&workload, aim, &[]).unwrap();
            let (found, _) = balanced(&workload, aim, &balancing.weights);
            assert!(found.proven(), "{aim:?} {found:?}");
            assert!(found.mix.loads(&workload).iter().all(|load| *load < 1.0));
        }
    }
}

/// A weight on ρ_i itself could leave the capacity region; one on the headroom never does.
#[test]
fn heavy_weights_keep_every_type_stable() {
    let workload = model("section7");
    let (found, _) = balanced(&workload, Balance::Headroom, &[1e6, 1.0, 1.0]);
    let loads = found.mix.loads(&workload);
    assert!(found.value > 0.0 && loads.iter().all(|load| *load < 1.0));
}

#[test]
fn weights_are_given_by_name() {
    let workload = model("section7");
    let named = |name: &str, weight| {
        Balancing::new(&workload, Balance::TotalResponse, &[(name.into(), weight)])
    };
    assert_eq!(named("type-2", 5.0).unwrap().weights, [0.45, 5.0, 0.9]);
    let refused = |name, weight| named(name, weight).unwrap_err().to_string();
    assert!(refused("type-4", 1.0).contains("type-1, type-2, type-3"));
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused("type-2", weight).contains("finite number above 0"));
    }
    let twice = [("type-1".to_string(), 1.0), ("type-1".to_string(), 2.0)];
    assert!(Balancing::new(&workload, Balance::Headroom, &twice).is_err());
}
