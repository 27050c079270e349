//! This benchmark measures the solver of the program, the synthesis, the checker, and the solvers
//! for queues. The effort of the synthesis is 1, or 0.01 if the name contains `large`.
#![allow(clippy::unwrap_used, missing_docs)]

#[allow(dead_code, reason = "used by another benchmark")]
mod instances;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use synth::ctmc::{Edge, Environment, ModulatedQueue, rounds};
use synth::multiresource::analysis::one_or_all::{MsfqQueue, OneOrAllType};
use synth::multiresource::artifact::{Artifact, Preemption, ShapeValue};
use synth::multiresource::program::{self, LoadCertificate, Mix, Solution, SolveLimits};
use synth::multiresource::synthesis::{Analysed, SynthesisOptions, SynthesisOutcome, synthesize};
use synth::multiresource::workload::{Fleet, Workload};

const MODELS: [&str; 9] = [
    "section7",
    "section7_phases",
    "vms",
    "one_or_all",
    "four_types",
    "borg_top10",
    "borg_cell_a",
    "borg_cell_b",
    "cloud_instances",
];

fn model(name: &str) -> Workload {
    let path = format!("{}/../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

fn synthesized(workload: &Workload, options: &SynthesisOptions) -> Option<Artifact> {
    match synthesize(workload, options).unwrap() {
        SynthesisOutcome::Policy(synthesis) => Some(synthesis.artifact),
        _ => None,
    }
}

fn programs(c: &mut Criterion) {
    for name in MODELS {
        let workload = model(name);
        let large = name.starts_with("borg") || name == "cloud_instances";
        let options = SynthesisOptions {
            effort: if large { 0.01 } else { 1.0 },
            ..SynthesisOptions::new(Preemption::None)
        };
        let artifact = synthesized(&workload, &options).unwrap();
        let prefix = if large { "large/" } else { "" };
        let mut group = c.benchmark_group("pipeline");
        group.sample_size(10);
        group.bench_function(format!("program/{name}"), |b| {
            b.iter(|| program::solve(black_box(&workload), &SolveLimits::default()).unwrap());
        });
        group.bench_function(format!("synthesis/{prefix}{name}"), |b| {
            b.iter(|| synthesized(black_box(&workload), &options));
        });
        group.bench_function(format!("check/{prefix}{name}"), |b| {
            b.iter(|| black_box(&artifact).check().unwrap())
        });
        group.finish();
    }
    // The policy is tuned using an exact analysis of 21 types and of a chain with 278 phases.
    let workload = model("cloud_instances");
    let mut group = c.benchmark_group("exact");
    group.sample_size(10);
    group.bench_function("synthesis/cloud_instances", |b| {
        b.iter(|| {
            synthesized(
                black_box(&workload),
                &SynthesisOptions::new(Preemption::None),
            )
        });
    });
    group.finish();
}

fn quickswap(c: &mut Criterion) {
    let mut group = c.benchmark_group("quickswap");
    group.sample_size(10);
    for (servers, threshold, light, heavy) in [(32, 7, 5.4, 0.6), (512, 300, 300.0, 0.3)] {
        let stream = |arrival_rate| OneOrAllType {
            arrival_rate,
            service_rate: 1.0,
        };
        let queue = MsfqQueue::new(servers, threshold, stream(light), stream(heavy)).unwrap();
        group.bench_function(format!("means/{servers}"), |b| {
            b.iter(|| black_box(&queue).means().unwrap());
        });
    }
    group.finish();
}

fn ring(states: usize) -> (Environment, Vec<u32>, Vec<bool>) {
    let servers: Vec<u32> = (0..states).map(|s| ((s * 7) % 9) as u32).collect();
    let serves: Vec<bool> = (0..states).map(|s| s % 3 == 1 && servers[s] > 0).collect();
    let edge = |s: usize| Edge {
        from: s,
        to: (s + 1) % states,
        rate: match serves[s] {
            true => f64::from(servers[s]),
            false => 0.5 + (s % 5) as f64,
        },
    };
    let edges = (0..states).map(edge).collect();
    (Environment::new(states, edges).unwrap(), servers, serves)
}

/// Solves the queue of a type using logarithmic reduction and using rounds.
fn queues(c: &mut Criterion) {
    let mut group = c.benchmark_group("queue");
    group.sample_size(10);
    for states in [13, 50, 100, 270, 500] {
        let (environment, servers, serves) = ring(states);
        let queue = ModulatedQueue::new(&environment, 1.0, 1.0, servers, serves);
        let queue = queue.with_arrival_rate(0.9 * queue.capacity());
        group.bench_function(format!("qbd-twice/{states}"), |b| {
            b.iter(|| black_box(&queue).qbd().solve().unwrap().mean());
        });
        group.bench_function(format!("rounds/{states}"), |b| {
            b.iter(|| {
                rounds::stationary_distribution(black_box(&queue))
                    .unwrap()
                    .mean
            });
        });
    }
    group.finish();
}

/// Returns a workload and the optimum, where the number of types is equal to the number of
/// schedules. The loads have nine decimals, so that the weights have as many digits as possible.
fn full_basis(types: usize) -> (Workload, Solution) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let demand: Vec<u32> = (0..types)
        .map(|i| {
            if i == 0 {
                1
            } else {
                random.random_range(20..80)
            }
        })
        .collect();
    let capacity = 50 * types as u32;
    let mut schedule = || {
        let mut schedule: Vec<u32> = demand.iter().map(|_| random.random_range(0..2)).collect();
        let used: u32 = schedule.iter().zip(&demand).map(|(u, d)| u * d).sum();
        schedule[0] += capacity - used;
        schedule
    };
    let schedules: Vec<Vec<u32>> = (0..types).map(|_| schedule()).collect();
    let offered: Vec<String> = (0..types)
        .map(|i| {
            let served: u32 = schedules.iter().map(|u| u[i]).sum();
            format!("{:.9}", LOAD * f64::from(served) / types as f64)
        })
        .collect();
    let jobs = offered.iter().zip(&demand).enumerate().map(|(i, (b, d))| {
        format!("  - {{name: t{i}, demand: {{cpu: {d}}}, arrival_rate: {b}, mean_size: 1}}\n")
    });
    let text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: {capacity}}}}}\njobs:\n{}",
        jobs.collect::<String>()
    );
    let workload = Workload::parse(&text, "full").unwrap().workload;
    let solution = Solution {
        mixes: vec![Mix {
            weights: vec![1.0 / types as f64; types],
            schedules,
        }],
        certificate: LoadCertificate {
            load: LOAD,
            prices: vec![1.0 / types as f64; types],
            servers: vec![ShapeValue {
                worth: 1.0 / LOAD,
                resource_prices: vec![1.0 / f64::from(capacity)],
                mix: None,
                search: None,
            }],
            bound: LOAD,
        },
        exact: None,
        face: Vec::new(),
        rounds: 0,
        columns: types,
    };
    (workload, solution)
}

const LOAD: f64 = 0.712_345_678_9;

fn fractions(c: &mut Criterion) {
    let mut group = c.benchmark_group("fractions");
    group.sample_size(10);
    for types in [50, 100, 200] {
        let (workload, solution) = full_basis(types);
        assert!(program::exact(&workload, &solution, 0).unwrap().is_proven());
        group.bench_function(format!("exact/{types}"), |b| {
            b.iter(|| program::exact(black_box(&workload), &solution, 0).unwrap());
        });
    }
    group.finish();
}

fn fleets(c: &mut Criterion) {
    let options = SynthesisOptions::new(Preemption::None);
    let model = format!("{}/../models/fleet.yaml", env!("CARGO_MANIFEST_DIR"));
    let large = instances::large_fleet(1);
    let both = [
        ("fleet", Fleet::read(model.as_ref()).unwrap()),
        ("10000", Fleet::parse(&large, "large").unwrap()),
    ];
    let mut group = c.benchmark_group("partition");
    group.sample_size(10);
    for (name, parsed) in both {
        let fleet = parsed.workload;
        let synthesize_slots = || match Analysed::of_fleet(black_box(&fleet), &options).unwrap() {
            SynthesisOutcome::Policy(own) => own.partitioned(&fleet).unwrap().artifact,
            SynthesisOutcome::Overloaded(_) => unreachable!("the load is below 1"),
        };
        let artifact = synthesize_slots();
        group.bench_function(format!("synthesis/{name}"), |b| b.iter(synthesize_slots));
        group.bench_function(format!("check/{name}"), |b| {
            b.iter(|| black_box(&artifact).check().unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, programs, fractions, queues, quickswap, fleets);
criterion_main!(benches);
