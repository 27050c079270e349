#![allow(clippy::unwrap_used)]

use super::*;
use crate::workload::ClusterDocument;
use synth_core::document::WorkloadDocument as _;
use synth_simulation::{Estimate, Health, Settings};

fn cluster(text: &str) -> Cluster {
    let text = format!("kind: compatibility\n{text}");
    ClusterDocument::parse(&text, "test").unwrap().workload
}

fn three(size: &str) -> Cluster {
    cluster(&format!(
        "servers: [{{name: a, rate: 1}}, {{name: b, rate: 1}}, {{name: c, rate: 1}}]
classes:
  - {{name: x, servers: [a, c], arrival_rate: .9}}
  - {{name: y, servers: [b, c], arrival_rate: .9}}
size: {size}"
    ))
}

fn settings(precision: f64) -> Settings {
    Settings {
        precision,
        ..Settings::default()
    }
}

fn run(cluster: &Cluster, rule: &Rule) -> Run {
    simulate(cluster, rule, &settings(0.01), |_| ()).unwrap()
}

fn assert_covers(found: Option<Estimate>, exact: f64) {
    let found = found.unwrap();
    assert!(found.covers(exact, 0.999), "{found:?} for {exact}");
    assert!(found.relative() < 0.05);
}

const EXPONENTIAL: &str = "{law: exponential, mean: 1}";

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn means_of_exponential_sizes_do_not_depend_on_interruptions() {
    let cluster = three(EXPONENTIAL);
    for interruptions in [0.0, 1.0, 5.0] {
        let run = run(&cluster, &Rule::Fair(interruptions));
        assert_eq!(run.health, Health::Settled);
        assert_covers(run.mean_response, 1.18983957219);
        assert_covers(run.types[0].mean_response, 1.18983957219);
        let busy: f64 = run.own.utilization.iter().sum();
        assert!((busy - 1.8).abs() < 0.02, "{busy}");
        let measured = run.own.interruption_frequency.unwrap();
        assert!(measured.covers(1.8 * interruptions, 0.999), "{measured:?}");
    }
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn many_interruptions_make_means_insensitive() {
    let cluster = three("{law: hyperexponential, mean: 1, scv: 9}");
    let fair = run(&cluster, &Rule::Fair(200.0));
    let found = fair.mean_response.unwrap();
    assert!((found.mean / 1.18983957219 - 1.0).abs() < 0.03, "{found:?}");
    let fcfs = run(&cluster, &Rule::Fair(0.0));
    assert!(fcfs.mean_response.unwrap().mean > 1.5 * 1.19);
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn one_server_matches_mm1_and_mg1_formulas() {
    let text = |size: &str| {
        cluster(&format!(
            "servers: [{{name: a, rate: 2}}]\nclasses: [{{name: x, servers: [a], arrival_rate: .7}}]\nsize: {size}"
        ))
    };
    let exponential = text("{law: exponential, mean: 2}");
    assert_covers(run(&exponential, &Rule::Fair(0.0)).mean_response, 1.0 / 0.3);
    let bounded = text("{law: deterministic, mean: 2}");
    let waiting = 0.7 / (2.0 * 0.3);
    assert_covers(run(&bounded, &Rule::Fair(0.0)).mean_response, 1.0 + waiting);
    let spread = text("{law: hyperexponential, mean: 2, scv: 5}");
    for rule in [Rule::RandomPs, Rule::ShortestPs] {
        assert_covers(run(&spread, &rule).mean_response, 1.0 / 0.3);
    }
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn random_routing_gives_independent_mg1_queues() {
    let cluster = three("{law: hyperexponential, mean: 1, scv: 4}");
    let random = run(&cluster, &Rule::RandomPs);
    let (own, shared) = (1.0 / (1.0 - 0.45), 1.0 / (1.0 - 0.9));
    assert_covers(random.mean_response, 0.5 * (own + shared));
    for (found, busy) in random.own.utilization.iter().zip([0.45, 0.45, 0.9]) {
        assert!((found - busy).abs() < 0.01, "{found}");
    }
}

#[test]
fn random_assignment_matches_the_closed_form() {
    let cluster = cluster(
        "assignment: {random: {servers: 100, rate: 1, degree: 2}, arrival_rate: 90}\nmean_size: 1",
    );
    for interruptions in [0.0, 1.0] {
        let run = run(&cluster, &Rule::Fair(interruptions));
        assert_covers(run.mean_response, 1.765103);
    }
}

#[test]
fn overload_is_unstable_and_has_no_mean() {
    let cluster = three(EXPONENTIAL).scaled(2.0).unwrap();
    let run = run(&cluster, &Rule::Fair(1.0));
    assert_eq!(run.health, Health::Unstable);
    assert_eq!(run.mean_response, None);
}

#[test]
fn measures_at_most_a_thousand_servers() {
    let text = "assignment: {random: {servers: 3000, rate: 1, degree: 2}, arrival_rate: 1500}\nsize: {law: exponential, mean: 1}";
    let mut few = settings(0.01);
    few.events = 400_000;
    let run = simulate(&cluster(text), &Rule::Fair(0.0), &few, |_| ()).unwrap();
    assert_eq!(run.own.utilization.len(), 1000);
    let mean: f64 = run.own.utilization.iter().sum::<f64>() / 1000.0;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
}
