//! `cargo bench`: the program and the whole synthesis on the models, the checker, and the
//! simulator's events a second. Inputs are read before the clock starts.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synth::artifact::{Artifact, Backfill, EmptySlots, Preemption, check};
use synth::program::{self, Limits};
use synth::simulator::{Contender, Settings};
use synth::synthesis::{Options, Outcome, synthesize};
use synth::workload::Workload;

const MODELS: [&str; 8] = [
    "section7",
    "vms",
    "one_or_all",
    "four_types",
    "borg_top10",
    "borg_cell_a",
    "borg_cell_b",
    "cloud_instances",
];

fn model(name: &str) -> Workload {
    let path = format!("{}/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

fn made(workload: &Workload, options: &Options) -> Option<Artifact> {
    match synthesize(workload, options).unwrap() {
        Outcome::Policy(synthesis) => Some(synthesis.artifact),
        _ => None,
    }
}

fn programs(c: &mut Criterion) {
    for name in MODELS {
        let workload = model(name);
        let options = Options::new(Preemption::None);
        let artifact = made(&workload, &options).unwrap();
        c.bench_function(&format!("program/{name}"), |b| {
            b.iter(|| program::solve(black_box(&workload), &Limits::default()).unwrap());
        });
        c.bench_function(&format!("synthesis/{name}"), |b| {
            b.iter(|| made(black_box(&workload), &options));
        });
        c.bench_function(&format!("check/{name}"), |b| {
            b.iter(|| check(black_box(&artifact)).unwrap())
        });
    }
}

fn simulations(c: &mut Criterion) {
    let events = 1_000_000;
    let mut group = c.benchmark_group("simulator");
    group.throughput(Throughput::Elements(events));
    group.sample_size(10);
    let analysed = |preemption| Options {
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..Options::new(preemption)
    };
    for (name, options) in [
        ("msr-full", Some(analysed(Preemption::Full))),
        ("msr-none", Some(analysed(Preemption::None))),
        ("msr-none-backfill", Some(Options::new(Preemption::None))),
        ("first-fit", None),
    ] {
        for on in ["section7", "one_or_all", "borg_cell_b"] {
            let workload = model(on);
            let contender = match &options {
                Some(options) => Contender::Msr(Box::new(made(&workload, options).unwrap().policy)),
                None => Contender::FirstFit,
            };
            let settings = Settings {
                events,
                precision: 1e-9,
                ..Settings::default()
            };
            group.bench_function(format!("{name}/{on}"), |b| {
                b.iter(|| contender.simulate(&workload, &settings, |_, _| {}).unwrap());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, programs, simulations);
criterion_main!(benches);
