//! This benchmark measures the time to create and check a plan for jobs with the same speedup, the
//! time to create a plan for 20 different speedups, and the number of events per second.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synth::document::WorkloadDocument as _;
use synth::malleable::artifact::Checked;
use synth::malleable::policy::{Online, Sharing};
use synth::malleable::simulator::simulate;
use synth::malleable::synthesis::plan;
use synth::malleable::workload::{Pool, PoolDocument, Stream, Workload};
use synth::simulation::Settings;

const EVENTS: u64 = 2_000_000;

fn pool(text: &str) -> Pool {
    match PoolDocument::parse(text, "bench").unwrap().workload {
        Workload::Pool(pool) => pool,
        Workload::Stream(_) => panic!("expected a pool"),
    }
}

fn stream(text: &str) -> Stream {
    match PoolDocument::parse(text, "bench").unwrap().workload {
        Workload::Stream(stream) => stream,
        Workload::Pool(_) => panic!("expected a stream"),
    }
}

fn drawn(speedup: &str, count: u32) -> Pool {
    pool(&format!(
        "kind: malleable\nservers: 1000\nspeedup: {speedup}\nsizes: {{pareto: {{shape: 1.5, count: {count}, seed: 1}}}}\n"
    ))
}

fn plans(c: &mut Criterion) {
    let mut group = c.benchmark_group("malleable");
    group.sample_size(10);
    for (name, pool) in [
        ("power/10000", drawn("{power: {p: .5}}", 10_000)),
        (
            "amdahl/1000",
            drawn("{amdahl: {parallel_fraction: .9}}", 1000),
        ),
        ("logarithm/1000", drawn("{logarithm: {scale: 1}}", 1000)),
        (
            "table/1000",
            drawn("{table: [[1, 1], [4, 3.2], [16, 8], [64, 12]]}", 1000),
        ),
    ] {
        group.bench_function(format!("plan/{name}"), |b| {
            b.iter(|| plan(black_box(&pool)).1.least);
        });
        let artifact = plan(&pool).0;
        group.bench_function(format!("check/{name}"), |b| {
            b.iter(|| Checked::check(artifact.clone()).unwrap());
        });
    }
    let jobs = (1..=20).map(|n| {
        format!(
            "  - {{name: j{n}, size: {n}, speedup: {{power: {{p: .{}}}}}}}\n",
            40 + 2 * n
        )
    });
    let different = pool(&format!(
        "kind: malleable\nservers: 64\njobs:\n{}",
        jobs.collect::<String>()
    ));
    group.bench_function("plan/different/20", |b| {
        b.iter(|| plan(black_box(&different)).1.least);
    });
    group.finish();
}

fn simulation(c: &mut Criterion) {
    let stream = stream(
        "kind: malleable\nservers: 64\nspeedup: {amdahl: {parallel_fraction: .95}}\narrivals: {rate: 4, mean_size: 10}\n",
    );
    let settings = Settings {
        replications: 1,
        precision: 1e-9,
        events: EVENTS,
        ..Settings::default()
    };
    let mut group = c.benchmark_group("malleable/events");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(EVENTS));
    for (name, sharing) in [
        ("hesrpt", Sharing::HeSrpt(Online::PLAIN)),
        ("equi", Sharing::Equi),
        ("hell", Sharing::Hell),
        ("knee", Sharing::Knee(0.1)),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| simulate(black_box(&stream), sharing, &settings, |_| ()).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, plans, simulation);
criterion_main!(benches);
