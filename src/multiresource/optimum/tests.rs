#![allow(clippy::unwrap_used)]
use super::*;

fn workload(text: &str) -> Workload {
    Workload::parse(text, "t").unwrap().workload
}

fn solve(workload: &Workload, tolerance: f64) -> Optimum {
    let limits = Limits {
        tolerance,
        ..Limits::default()
    };
    let never = AtomicBool::new(false);
    optimum(workload, Objective::Mean, &limits, &never, |_| {}).unwrap()
}

/// One type on three servers: nothing to decide, M/M/3.
#[test]
fn one_type_is_erlang() {
    let workload = workload(
        "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 3}}\njobs:\n  - {name: a, demand: {cpu: 1}, arrival_rate: 2.1, mean_size: 1}\n",
    );
    let exact = 1.0 + crate::multiresource::analysis::erlang_c(3.0, 2.1) / (3.0 - 2.1);
    let found = solve(&workload, 1e-6);
    assert!((found.lower / exact - 1.0).abs() < 1e-6, "{found:?}");
}

/// One server, two types of which the second is ten times faster: the cμ rule. Its mean waiting
/// times (Cobham) are `W₀/((1 − σ)(1 − σ'))`.
#[test]
fn one_server_follows_c_mu() {
    let workload = workload(
        "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 1}}\njobs:\n  - {name: slow, demand: {cpu: 1}, arrival_rate: .4, mean_size: 1}\n  - {name: fast, demand: {cpu: 1}, arrival_rate: 3, mean_size: .1}\n",
    );
    let residual = 0.4 * 1.0 + 3.0 * 0.01;
    let (fast, slow) = (
        residual / (1.0 - 0.3),
        residual / ((1.0 - 0.3) * (1.0 - 0.7)),
    );
    let exact = (3.0 * (fast + 0.1) + 0.4 * (slow + 1.0)) / 3.4;
    let found = solve(&workload, 1e-5);
    assert!(
        (found.lower / exact - 1.0).abs() < 1e-5,
        "{exact} {found:?}"
    );
    assert!(found.upper_in_box >= found.lower);
}
