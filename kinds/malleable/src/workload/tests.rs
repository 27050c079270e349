use super::{Objective, Pool, PoolDocument, Speedup, Workload};
use synth_core::document::WorkloadDocument as _;

const POOL: &str = "kind: malleable
servers: 10
speedup: {power: {p: .5}}
jobs:
  - {name: a, size: 3}
  - {name: b, size: 5}
";

pub(crate) fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * b.abs(), "{a} is not {b}");
}

#[test]
fn reads_jobs_and_orders_them_by_size() {
    let pool = Pool::sample(POOL);
    assert_eq!(pool.by_size(), [1, 0]);
    assert_eq!(pool.objective(), Objective::FlowTime);
    assert_eq!(pool.curves().len(), 1);
    let record = &pool.record;
    let found = record.recorded(&record.digest()).unwrap();
    assert_eq!(found, Workload::Pool(pool.clone()));
}

#[test]
fn slowdown_weights_are_inverse_sizes() {
    let text = format!("{POOL}objective: slowdown\n");
    let pool = Pool::sample(&text);
    assert_eq!(pool.jobs()[1].weight, 0.2);
}

#[test]
fn drawn_sizes_are_a_pareto_sample() {
    let text = "kind: malleable
servers: 10
speedup: {power: {p: .5}}
sizes: {pareto: {shape: 1.5, count: 20000, seed: 3}}
";
    let pool = Pool::sample(text);
    for above in [1.0f64, 2.0, 10.0] {
        let n = pool.jobs().iter().filter(|job| job.size > above).count() as f64 / 20_000.0;
        let expected = above.powf(-1.5);
        let spread = 4.0 * (expected * (1.0 - expected) / 20_000.0).sqrt();
        assert!((n - expected).abs() <= spread, "{n} above {above}");
    }
}

#[test]
fn replaces_a_nonconcave_table_by_its_hull_with_a_warning() {
    let table = "{table: [[1, 1], [2, 1.2], [4, 3]]}";
    let parsed = PoolDocument::parse(&POOL.replace("{power: {p: .5}}", table), "here").unwrap();
    let corners = vec![(0.0, 0.0), (1.0, 1.0), (4.0, 3.0)];
    let expected = Speedup::Table(corners);
    let Workload::Pool(pool) = parsed.workload else {
        panic!("all jobs are present")
    };
    assert_eq!(pool.curves()[0].speedup, expected);
    let is_told = parsed.warnings[0].contains("28.00 %");
    assert!(is_told, "{:?}", parsed.warnings);
}
