//! This benchmark measures the simulation of campaigns, and the time that is needed to answer the
//! request of a host if there are 20 candidates.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synth::document::WorkloadDocument as _;
use synth::simulation::Settings;
use synth::volunteer::policy::{Candidate, Host, Request, UsableVersion, decide};
use synth::volunteer::simulator::{Rule, simulate};
use synth::volunteer::synthesis::{default_rule, fixed_bound};
use synth::volunteer::workload::{Campaign, CampaignDocument, Processor};

fn campaign(model: &str) -> Campaign {
    let path = format!("{}/../models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
    CampaignDocument::read(path.as_ref()).unwrap().workload
}

fn campaigns(c: &mut Criterion) {
    let settings = Settings {
        replications: 1,
        ..Settings::default()
    };
    let mut group = c.benchmark_group("campaign");
    group.sample_size(10);
    for model in ["campaign_small", "campaign_mixed"] {
        let campaign = campaign(model);
        let rules = [
            ("percentile", Rule::Dispatch(default_rule(&campaign))),
            ("boinc-2025", Rule::Tail(fixed_bound(&campaign))),
        ];
        for (name, rule) in rules {
            let run = simulate(&campaign, rule, &settings, |_| ());
            let events = run.expect("no budget").events();
            group.throughput(Throughput::Elements(events));
            group.bench_function(format!("{model}/{name}"), |b| {
                b.iter(|| black_box(simulate(&campaign, rule, &settings, |_| ())));
            });
        }
    }
}

fn requests(c: &mut Criterion) {
    let rule = default_rule(&campaign("campaign_small"));
    let host = Host {
        count: 8,
        wanted: 100.0,
        queue: 6.0,
        busy: 0.0,
        first: 0,
        idle: 0,
    };
    let version = |application: u32| UsableVersion {
        application,
        version: application,
        processor: Processor::Cpu,
        speed: 0.5,
        percentile: 60.0,
        ceiling: 99.0,
    };
    let job = |id: u64| Candidate {
        id,
        application: (id % 4) as u32,
        size: 2.0,
        end: id.is_multiple_of(3).then_some(130.0),
        waiting: 0.0,
        had: id.is_multiple_of(7),
    };
    let request = Request {
        now: 100.0,
        delay: 0.0,
        processors: [host, Host::default()],
        versions: (0..4).map(version).collect(),
        jobs: (0..20).map(job).collect(),
    };
    c.bench_function("request/20 jobs", |b| {
        b.iter(|| decide(black_box(&rule), black_box(&request)));
    });
}

criterion_group!(benches, campaigns, requests);
criterion_main!(benches);
