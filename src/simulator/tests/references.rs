//! Rules against values from independent simulators.

use super::*;
use crate::artifact::{AdaptiveMsrPolicy, Family, Switching};

/// Asserts that a mean agrees with an independent one, each with half its 95 % interval: their
/// difference lies within 3.29 standard errors of it (99.9 %), and that is narrow.
fn near(estimate: Option<Estimate>, mean: f64, half_width: f64, what: &str) {
    let estimate = estimate.unwrap();
    println!(
        "{what}: {:.3} ± {:.3}, expected {mean} ± {half_width}",
        estimate.mean, estimate.half_width
    );
    let within = estimate.half_width.hypot(half_width) * 3.29 / 1.96;
    assert!(
        (estimate.mean - mean).abs() <= within,
        "{what}: {mean} ± {half_width} against {estimate:?}"
    );
    assert!(within < 0.15 * mean, "{what}: {estimate:?} is too wide");
}

fn run(rule: &str, workload: &Workload, count: u64) -> Run {
    let contender = Contender::parse(rule).unwrap();
    let run = contender.simulate(workload, &events(count), quiet).unwrap();
    assert_eq!(run.health, Health::Settled, "{rule}");
    run
}

/// Section 7 at ρ = .9, mean number in system.
#[test]
fn max_weight_on_section_seven() {
    for (rule, mean, half_width) in [
        ("max-weight", 13.21, 0.24),
        ("max-weight-uncapped", 19.23, 0.23),
    ] {
        let run = run(rule, &model("section7"), 6_000_000);
        near(run.mean_number, mean, half_width, rule);
    }
}

/// Four types on 15 servers at total rate 4.5: mean response time, and weighted by load. The values
/// are known as written, and are taken to be good to 1 % and half a unit of their last digit.
#[test]
fn four_types() {
    let workload = model("four_types");
    for (rule, mean, weighted, unit, count) in [
        ("most-servers-first", 15.3, 22.7, 0.1, 12_000_000),
        ("best-fit", 15.3, 22.7, 0.1, 12_000_000),
        ("max-weight", 4.0, 13.2, 0.1, 6_000_000),
        ("max-weight-uncapped", 43.0, 154.0, 1.0, 12_000_000),
        ("server-filling", 5.06, 4.86, 0.01, 6_000_000),
    ] {
        let run = run(rule, &workload, count);
        let known = |value: f64| 0.01 * value + 0.5 * unit;
        near(run.mean_response, mean, known(mean), rule);
        near(run.weighted_response, weighted, known(weighted), rule);
    }
}

/// One-or-all on 32 servers at total rate 6: exactly 67.8704 by the analysis of Quickswap with
/// threshold 0.
#[test]
fn most_servers_first_on_one_or_all() {
    let run = run("msf", &model("one_or_all"), 30_000_000);
    near(run.mean_response, 67.8704, 0.0, "most-servers-first");
}

/// One-or-all, k = 32, λ = 5, with φ = .15, δ = .5, θ = 36: within 3 % of the optimum 4.821, where the
/// best threshold of Quickswap has 6.185 exactly.
#[test]
fn adaptive_switching_comes_near_the_optimum() {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 32}}\njobs:
  - {name: light, demand: {cpu: 1}, arrival_rate: 4.5, mean_size: 1}
  - {name: heavy, demand: {cpu: 32}, arrival_rate: .5, mean_size: 1}\n";
    let workload = Workload::parse(text, "one-or-all").unwrap().workload;
    let switching = Switching {
        waste: 0.15,
        margin: 0.5,
        floor: 36.0,
    };
    let policy = AdaptiveMsrPolicy {
        schedules: vec![vec![32, 0], vec![0, 1]],
        prices: vec![1.0 / 32.0, 1.0],
        switching,
    };
    let policy = Contender::from(Family::AdaptiveMsr(policy));
    let run = policy
        .simulate(&workload, &events(40_000_000), quiet)
        .unwrap();
    let found = run.mean_response.unwrap();
    let [low, high] = [found.mean - found.half_width, found.mean + found.half_width];
    assert!(high > 4.821 && low < 1.03 * 4.821, "{found:?}");
}
