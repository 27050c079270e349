use super::{Objective, Pool, Speedup, Workload};
use synth_core::document::WorkloadDocument as _;

const POOL: &str = "kind: malleable
servers: 10
speedup: {power: {p: .5}}
jobs:
  - {name: a, size: 3}
  - {name: b, size: 5}
";

fn faults(text: &str) -> String {
    Workload::parse(text, "here").unwrap_err().to_string()
}

#[test]
fn jobs_are_read_and_ordered_from_the_largest_on() {
    let pool = Pool::sample(POOL);
    assert_eq!(pool.by_size(), [1, 0]);
    assert_eq!(pool.objective(), Objective::FlowTime);
    assert_eq!(pool.curves().len(), 1);
    let record = pool.record();
    assert_eq!(
        record.recorded(&record.digest()).unwrap(),
        Workload::Pool(pool.clone())
    );
}

#[test]
fn slowdown_weighs_by_size() {
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

/// What is replaced, by what, and the words of the message.
const FAULTS: &str = "\
.5 => 1.5 => p is 1.5, expected a number above 0 and at most 1
.5 => 0 => p is 0, expected a number above 0 and at most 1
size: 3 => size: 0 => size is 0, expected a number > 0
size: 3 => size: -2 => size is -2, expected a number > 0
name: b => name: a => a second job is named `a`
size: 3 => size: 3, weight: 2 => this objective does not know
{power: {p: .5}} => {table: [[0, 1], [2, 3]]} => s(0) is 1
{power: {p: .5}} => {table: [[1, 1], [2, .8]]} => the speedup falls from 1
servers: 10 => servers: 0 => servers is 0
servers: 10 => servers: 10\\nwhole_servers: yes => yes, expected true or false
servers: 10 => servers: 9.5\\nwhole_servers: true => there are 9.5";

#[test]
fn every_fault_is_reported_where_it_stands() {
    let with = |from: &str, to: &str| faults(&POOL.replace(from, to));
    for case in FAULTS.lines() {
        let parts: Vec<String> = case.split(" => ").map(|p| p.replace("\\n", "\n")).collect();
        let [from, to, reported] = &parts[..] else {
            panic!("{case}")
        };
        let found = with(from, to);
        assert!(found.contains(reported), "{found}");
    }
}

#[test]
fn a_table_is_lifted_to_its_hull_with_a_warning() {
    let table = "{table: [[1, 1], [2, 1.2], [4, 3]]}";
    let parsed = Workload::parse(&POOL.replace("{power: {p: .5}}", table), "here").unwrap();
    let corners = vec![(0.0, 0.0), (1.0, 1.0), (4.0, 3.0)];
    let expected = Speedup::Table(corners);
    let Workload::Pool(pool) = parsed.workload else {
        panic!("its jobs are all there")
    };
    assert_eq!(pool.curves()[0].speedup, expected);
    // The hull has 1 + 2/3 on two servers.
    assert!(
        parsed.warnings[0].contains("28.00 %"),
        "{:?}",
        parsed.warnings
    );
}
