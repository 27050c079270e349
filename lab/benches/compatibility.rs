//! This benchmark measures the time to compute the margin and the exact means of a system, and the
//! number of events per second of the simulator.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use synth::compatibility::analysis::{Graph, fair, margin};
use synth::compatibility::simulator::{Rule, simulate};
use synth::compatibility::workload::ClusterDocument;
use synth::document::WorkloadDocument as _;
use synth::simulation::Settings;

const EVENTS: u64 = 5_000_000;

fn graph(servers: usize, classes: usize) -> Graph<f64> {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let service_rates: Vec<f64> = (0..servers)
        .map(|_| random.random_range(0.5..2.0))
        .collect();
    let each = 0.5 * service_rates.iter().sum::<f64>() / classes as f64;
    let own = (0..classes).map(|_| {
        let mut own = sample(&mut random, servers, 3).into_vec();
        own.sort_unstable();
        own
    });
    let own: Vec<Vec<usize>> = own.collect();
    let rates = (0..classes).map(|_| each * random.random_range(0.5..1.5));
    Graph {
        arrival_rates: rates.collect(),
        service_rates,
        servers: own,
    }
}

fn analysis(c: &mut Criterion) {
    let mut group = c.benchmark_group("compatibility");
    group.sample_size(10);
    let large = graph(200, 2000);
    group.bench_function("margin/200x2000", |b| b.iter(|| margin(black_box(&large))));
    for (servers, classes) in [(20, 40), (30, 20)] {
        let graph = graph(servers, classes);
        group.bench_function(format!("means/{servers}x{classes}"), |b| {
            b.iter(|| fair(black_box(&graph), None).unwrap());
        });
    }
    group.finish();
}

fn simulation(c: &mut Criterion) {
    let drawn = |degree: u32| {
        let text = format!(
            "kind: compatibility\nassignment: {{random: {{servers: 100, rate: 1, degree: {degree}}}, arrival_rate: 90}}\nmean_size: 1\n"
        );
        ClusterDocument::parse(&text, "drawn").unwrap().workload
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/data_locality.yaml");
    let local = ClusterDocument::read(path.as_ref()).unwrap().workload;
    let mut group = c.benchmark_group("compatibility");
    group.throughput(Throughput::Elements(EVENTS));
    group.sample_size(10);
    let settings = Settings {
        events: EVENTS,
        precision: 1e-9,
        replications: 1,
        ..Settings::default()
    };
    for (name, cluster, rule) in [
        ("fcfs/100_2", &drawn(2), Rule::Fair(0.0)),
        ("balanced-fairness-1/100_2", &drawn(2), Rule::Fair(1.0)),
        ("balanced-fairness-5/100_2", &drawn(2), Rule::Fair(5.0)),
        ("balanced-fairness-5/100_3", &drawn(3), Rule::Fair(5.0)),
        ("balanced-fairness-5/data_locality", &local, Rule::Fair(5.0)),
        ("shortest-ps/100_2", &drawn(2), Rule::ShortestPs),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let run = simulate(cluster, &rule, &settings, |_| ()).unwrap();
                assert!(run.events >= EVENTS, "{name}: {:?}", run.ending);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, analysis, simulation);
criterion_main!(benches);
