//! Several servers by the engine of one.

use super::*;
use crate::multiresource::artifact::Routing;
use crate::multiresource::policy::{Router, ShapeShare};

fn share(workload: &Workload, count: usize) -> ShapeShare {
    let types = workload.types().len();
    ShapeShare {
        count,
        fractions: vec![1.0; types],
        serves: vec![1.0; types],
    }
}

pub(super) fn on_servers(workload: &Workload, count: u32, rule: &str, settings: &Settings) -> Run {
    let shapes = [Alike { workload, count }];
    let contender = Contender::parse(rule).unwrap();
    let policy = |_| contender.online(workload).unwrap();
    let router = Router::of_shapes(&[share(workload, count as usize)], Routing::Probabilistic);
    simulate_servers(workload, &shapes, policy, &router, settings, quiet).unwrap()
}

/// Types of all laws and processes.
fn of_all_laws() -> Workload {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 8, memory: 5}}\njobs:\n  \
        - {name: a, demand: {cpu: 1, memory: 1}, arrival_rate: 1.5, size: {law: weibull, mean: 1, scv: 3}}\n  \
        - {name: b, demand: {cpu: 4}, arrivals: {process: batches, rate: .2, sizes: [1, 2]}, size: {law: deterministic, mean: .7}}\n  \
        - {name: c, demand: {cpu: 2, memory: 2}, arrivals: {process: markov-modulated, rates: [.1, .8], switching: [[0, .1], [.2, 0]]}, size: {law: lognormal, mean: 1, scv: 2}}\n  \
        - {name: d, demand: {cpu: 3}, arrivals: {process: renewal, interarrival: {law: erlang, stages: 2, mean: 4}}, mean_size: 1.3}\n";
    Workload::parse(text, "laws").unwrap().workload
}

/// Rules of all kinds, with clocks, preemption and sizes that are known, on all laws: the same run
/// to the last bit, whether the server is alone or the only one of a fleet.
#[test]
fn a_fleet_of_one_server_is_that_server() {
    let poisson = model("section7").scaled(0.6 / 0.9).unwrap();
    let settings = Settings {
        watch: vec![Watch {
            job_type: 0,
            threshold: Threshold::Number(2),
        }],
        replications: 2,
        ..events(150_000)
    };
    for workload in [of_all_laws(), poisson, model("section7_phases")] {
        for rule in [
            "fcfs",
            "first-fit",
            "easy-backfill",
            "randomized-timers",
            "max-weight",
            "static-quickswap",
            "adaptive-quickswap",
        ] {
            let contender = Contender::parse(rule).unwrap();
            let alone = contender.simulate(&workload, &settings, quiet).unwrap();
            let fleet = on_servers(&workload, 1, rule, &settings);
            let [alone, fleet] = [alone, fleet].map(|run| serde_json::to_string(&run).unwrap());
            assert_eq!(alone, fleet, "{rule}");
        }
    }
}

/// Two M/M/1 queues of the same rates, jobs sent to either with probability ½, by rules of several
/// families: E[N] = 2ρ/(1−ρ), of jobs that come in batches `2ρ/(1−ρ) E[B(B+1)]/2E[B]` if a batch
/// keeps together; split at random, of two jobs each queue gets 0, 1 or 2.
#[test]
fn queues_in_parallel_have_their_means() {
    let text = |arrivals: &str| {
        format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, mean_size: 1, {arrivals}}}\n"
        )
    };
    let settings = events(4_000_000);
    // Batches of two split: of the jobs that a queue gets E[B] = 1 and E[B²] = 1.5 a batch, empty
    // ones included. M^X/M/1: E[N] = ρ (1 + E[B²]/E[B]) / (2(1−ρ)).
    for (arrivals, exact) in [
        ("arrival_rate: 1.2", 2.0 * 0.6 / 0.4),
        (
            "arrivals: {process: batches, rate: .6, sizes: [2]}",
            2.0 * 0.6 * (1.0 + 1.5) / (2.0 * 0.4),
        ),
    ] {
        let workload = Workload::parse(&text(arrivals), "two").unwrap().workload;
        for rule in ["fcfs", "adaptive-quickswap", "max-weight"] {
            let run = on_servers(&workload, 2, rule, &settings);
            agrees(run.mean_number, exact, 0.03, rule);
            assert!((run.own.utilization[0] - 0.6).abs() < 0.01, "{rule}");
        }
    }
}
