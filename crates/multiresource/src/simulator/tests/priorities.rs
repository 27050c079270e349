use super::*;
use crate::workload::Fleet;

fn means_are(fleet: &Fleet, exact: &[f64]) {
    for name in ["priority", "strict-priority"] {
        let run = rule(name).simulate_on(fleet, &events(12_000_000), quiet);
        for (own, exact) in run.unwrap().types.iter().zip(exact) {
            agrees(own.mean_response, *exact, 0.05, name);
        }
    }
}

/// Cobham's formula for M/G/1: `W_k = R / ((1 − σ_{k−1})(1 − σ_k))` with `R = Σ λ_i E[S_i²] / 2`.
#[test]
fn one_server_by_cobham() {
    let lines = [
        "arrival_rate: .1, size: {law: erlang, stages: 2, mean: 3}, priority: -1.5",
        "arrival_rate: .2, mean_size: 1, priority: 10",
        "arrival_rate: .15, size: {law: deterministic, mean: 2}",
    ];
    let workload = one_server("", 1, &lines);
    let r = 1.175;
    let exact = [3.0 + r / (0.5 * 0.2), 1.0 + r / 0.8, 2.0 + r / (0.8 * 0.5)];
    means_are(&workload.into(), &exact);
}

/// The waiting times of an M/M/4 queue with equal means by Kella and Yechiali (1985),
/// `W_k = C(4, a) / (4 μ (1 − σ_{k−1})(1 − σ_k))`, for one server with four CPUs and four servers.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn several_servers_by_kella_and_yechiali() {
    let lines = [
        "arrival_rate: 1.4, mean_size: 1, priority: 1",
        "arrival_rate: .8, mean_size: 1, priority: 3",
        "arrival_rate: 1.2, mean_size: 1, priority: 2",
    ];
    let workload = one_server("", 4, &lines);
    let yaml = workload.to_yaml();
    let (_, jobs) = yaml.split_once("jobs:").unwrap();
    let text = format!(
        "kind: multiresource\ntime_unit: s\nservers: [{{count: 4, capacity: {{cpu: 1}}}}]\njobs:{jobs}"
    );
    let fleet = Fleet::parse(&text, "four").unwrap().workload;
    let w = erlang_c(4, 3.4) / 4.0;
    let exact = [1.0 + w / (0.5 * 0.15), 1.0 + w / 0.8, 1.0 + w / (0.8 * 0.5)];
    means_are(&workload.into(), &exact);
    means_are(&fleet, &exact);
}

#[test]
fn rejects_priority_rules_without_priorities() {
    for servers in [
        "server: {capacity: {cpu: 2}}",
        "servers: [{count: 2, capacity: {cpu: 1}}]",
    ] {
        let text = format!(
            "kind: multiresource\ntime_unit: s\n{servers}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, arrival_rate: 1, mean_size: 1}}\n"
        );
        let fleet = Fleet::parse(&text, "none").unwrap().workload;
        let why = rule("priority").build_policy(&fleet).err().unwrap();
        let why = why.to_string();
        let is_named = why.contains("no type of the workload has a `priority`");
        assert!(is_named, "{why}");
        assert!(why.contains("rules that can are first-fit"), "{why}");
        assert!(!why.contains("strict-priority"), "{why}");
    }
}
