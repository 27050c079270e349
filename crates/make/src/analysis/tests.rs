#![allow(clippy::unwrap_used)]

use serde::Deserialize;

use super::*;
use crate::tests::model;
use synth_multiresource::artifact::{MsrConfig, Route, section_seven};
use synth_queues::ctmc::{Edge, Environment, PhaseType};

fn section7(preemption: Preemption, route: Route, rate: f64) -> (Workload, MsrConfig) {
    (model("section7"), section_seven(preemption, route, rate))
}

fn assert_digits(found: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let is_near = (found / expected - 1.0).abs() < relative;
        assert!(is_near, "{found}, expected {expected}");
    }
}

/// These values are from an independent computation with 10 digits for section 7 of the MSR paper.
#[test]
fn matches_mean_numbers_of_section_seven() {
    let table = "
        full  sequential-eager 2       .9 10.125      15.00379781 11.68192948
        full  sequential-eager 2       .5 1.125       2.574179743 1.560344828
        none  sequential-eager .17308  .9 29.08763411 50.87428322 88.50923004
        none  concurrent-eager .11523  .9 22.37138649 198.3340159 47.79831279
        none  concurrent-late  .06471  .9 85.53297327 288.9985312 153.3226186
        none  sequential-late  .0527   .9 126.3276531 190.4975158 230.5249014
        none  concurrent-eager .5      .5 1.138800545 3.875992036 1.711609901
        setup concurrent-late  .235    .9 32.37999682 83.73510898 49.44573918";
    for line in table.trim().lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let preemption = match cells[0] {
            "full" => Preemption::Full,
            "none" => Preemption::None,
            _ => Preemption::Setup,
        };
        let route: Route = cells[1].parse().unwrap();
        let numbers: Vec<f64> = cells[2..].iter().map(|n| n.parse().unwrap()).collect();
        let (rate, load, numbers) = (numbers[0], numbers[1], &numbers[2..]);
        let (workload, policy) = section7(preemption, route, rate);
        let workload = workload.scaled(load / 0.9).unwrap();
        let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
        let found = exact(&workload, &modulation, preemption, 1e9).unwrap();
        assert_digits(&found, numbers, 1e-9);
        let faster = MsrConfig {
            switching_rate: 1.0,
            ..policy
        };
        let far = Modulation::new(&workload, &faster, 1000);
        let moved = exact(&workload, &far.unwrap().at(rate), preemption, 1e9).unwrap();
        assert_digits(&moved, &found, 1e-12);
    }
}

/// If switching is very fast, each type of the preemptive loop is an M/M/β queue of half the speed.
#[test]
fn fast_switching_approaches_its_limit() {
    let (workload, policy) = section7(Preemption::Full, Route::ALL[0], 1e6);
    let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
    let found = exact(&workload, &modulation, Preemption::Full, 1e9).unwrap();
    assert_digits(&found, &[9.0, 10.68977938, 9.473684211], 2e-6);
}

#[derive(Deserialize)]
struct Staged {
    name: String,
    arrival_rate: f64,
    servers: Vec<u32>,
    edges: Vec<(usize, usize, f64, bool)>,
    size: Law,
    mean_number: String,
}

#[derive(Deserialize)]
struct Law {
    start: Vec<f64>,
    rates: Vec<f64>,
    exits: Vec<f64>,
}

/// The expected values are from a brute-force solution (`tests/reference/phase_type.py`).
#[test]
fn phase_type_means_agree_with_brute_force() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/reference/phase_type.json"
    );
    let cases: Vec<Staged> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let edges = case.edges.iter();
        let edges = edges.map(|&(from, to, rate, _)| Edge { from, to, rate });
        let environment = Environment::new(case.servers.len(), edges.collect()).unwrap();
        let none = vec![false; case.edges.len()];
        let queue = ModulatedQueue::new(
            &environment,
            case.arrival_rate,
            1.0,
            case.servers.clone(),
            none,
        );
        let size = PhaseType {
            initial: case.size.start,
            onward: case.size.exits.iter().map(|e| 1.0 - e).collect(),
            rates: case.size.rates,
        };
        let law = staged_qbd(&queue, &size).solve().unwrap();
        let expected: f64 = case.mean_number.parse().unwrap();
        let error = (law.mean() / expected - 1.0).abs();
        assert!(error < 1e-12, "{}: {} {error:e}", case.name, law.mean());
    }
}

#[test]
fn single_stage_sizes_are_exponential() {
    let (workload, policy) = section7(Preemption::Setup, Route::ALL[0], 0.3);
    let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
    for i in 0..3 {
        let queue = modulation.queue(&workload, i);
        let size = workload.types()[i].size().phases().unwrap();
        let staged = staged_qbd(&queue, &size).solve().unwrap();
        let plain = queue.qbd().solve().unwrap();
        assert!((staged.mean() / plain.mean() - 1.0).abs() < 1e-13);
    }
}

#[test]
fn exact_means_satisfy_the_papers_bounds() {
    for preemption in [Preemption::None, Preemption::Setup, Preemption::Full] {
        for route in Route::ALL {
            let (workload, policy) = section7(preemption, route, 0.05);
            let chain = Modulation::new(&workload, &policy, 1000).unwrap();
            for rate in [0.01, 0.03, 0.05, 0.09] {
                let modulation = chain.at(rate);
                for i in 0..3 {
                    let queue = TypeQueue::new(&workload, &modulation, preemption, i);
                    let slack = 1e-12;
                    let (bounds, exact) = (queue.bounds(), queue.mean_number(1e9).unwrap());
                    assert!(bounds.lower <= exact * (1.0 + slack), "{route} {rate} {i}");
                    assert!(exact <= bounds.upper * (1.0 + slack), "{route} {rate} {i}");
                    assert!(bounds.lower <= bounds.approximation);
                    assert!(bounds.approximation <= bounds.upper);
                }
            }
        }
    }
}

#[test]
fn rejects_large_or_unstable_queues_with_their_numbers() {
    let (workload, policy) = section7(Preemption::None, Route::ALL[0], 0.3);
    let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
    let error = exact(&workload, &modulation, Preemption::None, 10.0).unwrap_err();
    let is_named = error.to_string().contains("type `type-1` has 9 phases");
    assert!(is_named, "{error}");
    let error = exact(&workload, &modulation.at(0.5), Preemption::None, 1e9).unwrap_err();
    assert!(error.to_string().contains("has load 1."), "{error}");
}

#[test]
fn rare_numbers_are_quantiles() {
    let (workload, policy) = section7(Preemption::Full, Route::ALL[0], 2.0);
    let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
    let queue = TypeQueue::new(&workload, &modulation, Preemption::Full, 0);
    let law = queue.distribution(1e9).unwrap();
    let (x, above) = law.rarely_above(0.01).unwrap();
    assert!(above <= 0.01);
    let (less, more) = law.rarely_above(above * 1.0000001 + 1e-9).unwrap();
    assert_eq!((less, more), (x, above));
    let solved = queue.queue.qbd().solve().unwrap();
    assert!((solved.above(x as usize) - above).abs() < 1e-13);
    assert!(solved.above(x as usize - 1) > 0.01);
}
