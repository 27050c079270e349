//! These tests compare the exact means of MSFQ with values that were computed with more than 100
//! digits (see `tests/reference/msfq.py`).
#![allow(clippy::unwrap_used)]

use crate::common::*;
use serde::Deserialize;
use synth::multiresource::analysis::one_or_all::{MsfqQueue, OneOrAllType};

#[derive(Deserialize)]
struct Case {
    name: String,
    servers: usize,
    threshold: usize,
    light: [f64; 2],
    heavy: [f64; 2],
    mean_number: [String; 2],
}

/// The cases include passages of 1e20 s, rates and sizes that differ by six orders of magnitude,
/// loads from 0.001 to 0.99, and up to 200 servers.
#[test]
fn means_are_as_precise_as_their_error_bounds() {
    let cases: Vec<Case> = read_json("tests/reference/msfq.json");
    assert_eq!(cases.len(), 96);
    for case in cases {
        let stream = |[arrival_rate, service_rate]: [f64; 2]| OneOrAllType {
            arrival_rate,
            service_rate,
        };
        let (light, heavy) = (stream(case.light), stream(case.heavy));
        let queue = MsfqQueue::new(case.servers, case.threshold, light, heavy).unwrap();
        let means = queue.means();
        let means = means.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert!(means.error < 1e-10, "{}: {:e}", case.name, means.error);
        for (found, expected) in means.number.into_iter().zip(&case.mean_number) {
            let expected: f64 = expected.parse().unwrap();
            let error = (found / expected - 1.0).abs();
            assert!(error <= means.error, "{}: {error:e}", case.name);
        }
    }
}

/// Writes a one-or-all system to a file. The arrays contain the arrival rate and the mean size.
fn one_or_all(servers: u32, light: [f64; 2], heavy: [f64; 2]) -> (Folder, String) {
    let folder = Folder::new();
    let job = |name, need, [rate, size]: [f64; 2]| {
        format!(
            "{{name: {name}, demand: {{cpu: {need}}}, arrival_rate: {rate}, mean_size: {size}}}"
        )
    };
    let jobs = [job("light", 1, light), job("heavy", servers, heavy)].join("\n");
    let server = format!("server: {{capacity: {{cpu: {servers}}}}}");
    let file = folder.write("w.yaml", &workload(&server, &jobs));
    (folder, file)
}

fn thresholds(workload: &str) -> String {
    let printed = stderr(&run_ok!("{workload} --family msfq-strict"));
    let from = printed.find("MSFQ(ℓ)");
    printed[from.unwrap_or_else(|| panic!("{printed}"))..].to_owned()
}

fn rows(table: &str) -> Vec<Vec<&str>> {
    let is_row = |row: &Vec<&str>| row.first().is_some_and(|l| l.parse::<u32>().is_ok());
    table.lines().map(words).filter(is_row).collect()
}

fn objective(table: &str, threshold: &str) -> f64 {
    let rows = rows(table);
    let row = rows.iter().find(|row| row[0] == threshold).unwrap();
    row[1].parse().unwrap()
}

/// If `ℓ = 1`, light jobs are served for 6e6 s. The effect of one job is much smaller than the
/// square of this time, so it must be computed separately.
#[test]
fn the_table_is_precise_for_long_passages() {
    let (_folder, workload) = one_or_all(32, [10.0, 2.0], [0.02, 10.0]);
    let table = thresholds(&workload);
    for (threshold, expected) in [("1", 444_100.6), ("2", 47_280.79)] {
        let found = objective(&table, threshold);
        assert!((found / expected - 1.0).abs() < 2e-7, "{found}: {table}");
    }
    // For 100 servers at load 0.75, no mean response time can be less than the mean size.
    let (_folder, workload) = one_or_all(100, [50.0, 1.0], [0.25, 1.0]);
    let table = thresholds(&workload);
    let values: Vec<[f64; 3]> = rows(&table)
        .iter()
        .map(|row| [1, 2, 3].map(|i| row[i].parse().unwrap()))
        .collect();
    assert!(values.iter().flatten().all(|value| *value > 1.0), "{table}");
    let best = rows(&table).into_iter().find(|row| row[4] == "ℓ*").unwrap();
    let best: f64 = best[1].parse().unwrap();
    assert!(values.iter().all(|row| best <= row[0]), "{table}");
}

#[test]
fn the_table_contains_each_threshold() {
    let (_folder, workload) = one_or_all(4, [2.0, 1.0], [0.2, 1.0]);
    let table = thresholds(&workload);
    assert_eq!(rows(&table).len(), 4, "{table}");
    assert_eq!(table.matches("ℓ*").count(), 1, "{table}");
}

#[test]
fn reports_means_that_are_not_known() {
    let (_folder, workload) = one_or_all(8, [4.0, 1.0], [0.49999, 1.0]);
    let typed = format!("{workload} --family msfq-strict");
    run_err(&typed, "no exact means: the load is 0.9999");
}

#[test]
fn strict_msfq_is_a_policy_with_exact_means() {
    let folder = Folder::new();
    let at = folder.path_string("p.json");
    let options = "--workload models/one_or_all.yaml --family msfq-strict";
    let printed = stdout(&run_ok!("{options} --output {at}"));
    assert_contains(&printed, "light (7)");
    let policy = folder.json("p.json");
    let turns = &policy["policy"]["static-quickswap"];
    assert_eq!(turns["strict"], true);
    assert_eq!(turns["thresholds"][0], 7);
    // This value is from an independent computation.
    let mean = claim(&policy, "mean_response");
    assert_eq!(mean["method"], "exact-renewal-reward");
    let is_near = (mean["value"].as_f64().unwrap() - 10.648).abs() < 5e-4;
    assert!(is_near, "{mean}");
    let checked = all_output(&run_ok!("check {at}"));
    assert_contains(&checked, "7 claims about 2 types, 7 derived again");
    let lie = errors_after_change(&policy, |p| {
        for own in p["claims"].as_array_mut().unwrap() {
            if own["quantity"] != "load" {
                own["value"] = (own["value"].as_f64().unwrap() * 1.0001).into();
            }
        }
    });
    assert_eq!(lie.len(), 6, "{lie:?}");
    let ran = run_ok!("simulate {at} --events 2e7 --precision 2%");
    assert!(!all_output(&ran).contains("REFUTED"));
    // A custom threshold can be set in the name.
    let policies = "msfq-strict:8,msfq-strict";
    run_ok!("compare models/one_or_all.yaml --policies {policies} --loads .7 --events 2e5");
    // Other systems and other distributions are not supported.
    run_err(
        "models/four_types.yaml --family msfq-strict",
        "it needs two job types",
    );
    let text = read_text("models/one_or_all.yaml");
    let text = text.replace("mean_size: 1}", "size: {law: deterministic, mean: 1}}");
    let constant = folder.write("c.yaml", &text);
    let typed = format!("--workload {constant} --family msfq-strict");
    run_err(&typed, "Poisson arrivals and exponential sizes");
}

#[test]
fn the_checker_and_the_maker_agree_on_strict_msfq() {
    let folder = Folder::new();
    for (servers, light, heavy) in [
        (2, [0.9, 1.0], [0.1, 2.0]),
        (5, [2.0, 0.5], [0.02, 20.0]),
        (32, [20.0, 1.0], [0.3, 1.0]),
        (80, [60.0, 1.0], [0.05, 4.0]),
    ] {
        let (_kept, workload) = one_or_all(servers, light, heavy);
        let at = folder.path_string("p.json");
        run_ok!("--workload {workload} --family msfq-strict --output {at}");
        assert_contains(&stdout(&run_ok!("check {at}")), "7 derived again");
    }
}
