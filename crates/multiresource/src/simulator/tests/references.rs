use super::*;
use crate::artifact::{AdaptiveMsrConfig, Family, Switching};

/// Checks that the difference from an independent value is at most 3.29 standard errors (99.9 %).
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
    let contender = self::rule(rule);
    let run = contender.simulate(workload, &events(count), quiet).unwrap();
    assert_eq!(run.health, Health::Settled, "{rule}");
    run
}

#[test]
fn max_weight_on_section_seven() {
    let run = run("max-weight", &model("section7"), 6_000_000);
    near(run.mean_number, 13.21, 0.24, "max-weight");
}

/// The values are assumed to be accurate to 1 % and half a unit of the last digit.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn four_types() {
    let workload = model("four_types");
    for (rule, mean, weighted, unit, count) in [
        ("most-servers-first", 15.3, 22.7, 0.1, 12_000_000),
        ("best-fit", 15.3, 22.7, 0.1, 12_000_000),
        ("max-weight", 4.0, 13.2, 0.1, 6_000_000),
        ("server-filling", 5.06, 4.86, 0.01, 6_000_000),
    ] {
        let run = run(rule, &workload, count);
        let known = |value: f64| 0.01 * value + 0.5 * unit;
        near(run.mean_response, mean, known(mean), rule);
        near(run.weighted_response, weighted, known(weighted), rule);
    }
}

/// The exact value is from the analysis of Quickswap with a threshold of 0.
#[test]
fn most_servers_first_on_one_or_all() {
    let run = run("msf", &model("one_or_all"), 30_000_000);
    near(run.mean_response, 67.8704, 0.0, "most-servers-first");
}

fn adaptive(schedules: [&[u32]; 2], prices: &[f64], knobs: [f64; 4]) -> Contender {
    let [waste, margin, floor, patience] = knobs;
    Contender::from(Family::AdaptiveMsr(AdaptiveMsrConfig {
        limits: false,
        schedules: schedules.map(<[u32]>::to_vec).into(),
        prices: prices.to_vec(),
        switching: Switching {
            waste,
            margin,
            floor,
            patience,
            drain: 0.0,
            let_in: 0.0,
        },
    }))
}

fn near_the_optimum(found: Option<Estimate>, optimum: f64, within: f64) {
    let found = found.unwrap();
    let [low, high] = [-1.0, 1.0].map(|sign| found.mean + sign * found.half_width);
    assert!(high > optimum, "{found:?}");
    assert!(low < (1.0 + within) * optimum, "{found:?}");
}

/// The optimum is 4.821, and the exact value for the best threshold of Quickswap is 6.185.
#[test]
fn adaptive_switching_comes_near_the_optimum() {
    let workload = model("one_or_all").scaled(5.0 / 6.0).unwrap();
    let values = [0.15, 0.5, 36.0, 0.0];
    let policy = adaptive([&[32, 0], &[0, 1]], &[1.0 / 32.0, 1.0], values);
    let run = policy.simulate(&workload, &events(40_000_000), quiet);
    let run = run.unwrap();
    near_the_optimum(run.mean_response, 4.821, 0.03);
}

/// The optimum is 7.77, and the result of First-Fit is 9.0.
#[test]
fn adaptive_switching_comes_near_the_optimum_of_section_seven() {
    let workload = model("section7").scaled(0.8 / 0.9).unwrap();
    let policy = adaptive(
        [&[0, 0, 2], &[1, 4, 0]],
        &[0.2, 0.2, 0.5],
        [0.5, 0.0, 1.75, 1.0],
    );
    let run = policy.simulate(&workload, &events(40_000_000), quiet);
    let run = run.unwrap();
    near_the_optimum(run.mean_number, 7.77, 0.05);
}

/// The value for one server is from the formula of Schrage and Miller, the others from a program.
#[test]
fn shortest_remaining_work_first_with_known_sizes() {
    let of = |cpu, jobs: &[&str]| run("srpt", &one_server("known: size\n", cpu, jobs), 6_000_000);
    let one = of(1, &["arrival_rate: .8, mean_size: 1"]);
    near(one.mean_response, 2.353, 0.0, "one server");
    let two = of(2, &["arrival_rate: 1.4, mean_size: 1"]);
    near(two.mean_response, 1.3773, 0.0132, "two servers");
    let jobs = [
        "arrival_rate: .72, mean_size: 1",
        "demand: {cpu: 2}, arrival_rate: .54, mean_size: 1",
    ];
    near(of(3, &jobs).mean_response, 1.4382, 0.0094, "two needs");
}
