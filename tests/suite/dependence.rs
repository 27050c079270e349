//! Tests of batches of similar jobs, and of a chain that modulates all arrivals.

use crate::common::*;

const COMMON: &str = "modulation: {factors: [.4, 2.2], switching: [[0, .1], [.3, 0]]}\n";
const SERVER: &str = "server: {capacity: {cpu: 8}}\n";
const FLEET: &str = "servers:\n  - {name: x, count: 2, capacity: {cpu: 8}}\n  - {name: y, count: 1, capacity: {cpu: 4}}\n";

/// On one server, the load of this workload is about 1/2.
fn workload(before: &str, servers: &str, alike: &str) -> String {
    format!(
        "kind: multiresource\ntime_unit: h\n{before}{servers}jobs:\n  \
        - {{name: a, demand: {{cpu: 1}}, mean_size: 1, arrivals: {{process: batches, rate: .4, sizes: [1, 5]{alike}}}}}\n  \
        - {{name: b, demand: {{cpu: 4}}, mean_size: 1.5, arrival_rate: .4}}\n"
    )
}

fn run_and_collect_output(arguments: &[&str]) -> String {
    let output = run_ok(arguments);
    stdout(&output) + &stderr(&output)
}

fn written(text: &str) -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [from, to] = ["workload.yaml", "policy.json"].map(path);
    std::fs::write(&from, text).unwrap();
    (folder, from, to)
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn synthesizes_checks_simulates_and_compares_policies_for_dependent_jobs() {
    for (before, servers, alike) in [
        ("", SERVER, ", alike: .85"),
        (COMMON, SERVER, ""),
        (COMMON, FLEET, ", alike: .85"),
    ] {
        let (_folder, from, to) = written(&workload(before, servers, alike));
        let arguments = ["--workload", &from, "--preemption", "none"];
        run_and_collect_output(&[&arguments[..], &["--work", "4e6", "--output", &to]].concat());
        let checked = run_and_collect_output(&["check", &to, "--workload", &from]);
        assert!(checked.starts_with("valid: "), "{checked}");
        run_and_collect_output(&["simulate", &to, "--events", "1e6"]);
        let compared = ["compare", "--workload", &from, "--loads", ".3,.6"];
        run_and_collect_output(
            &[
                &compared[..],
                &["--policies", &format!("fcfs,{to}"), "--events", "2e5"],
            ]
            .concat(),
        );
    }
}

fn claim_line<'a>(printed: &'a str, claim: &str) -> &'a str {
    let line = printed.lines().find(|line| line.contains(claim));
    line.unwrap_or_else(|| panic!("{claim}:\n{printed}"))
}

/// Without preemption, the loop waits for completions. Similar jobs complete together, so the
/// claims are approximate even if the sizes are exponential.
#[test]
fn claims_about_completions_are_approximate_for_similar_jobs() {
    let msr = |before: &str, alike: &str| {
        let (_folder, from, to) = written(&workload(before, SERVER, alike));
        let arguments = [
            "--workload",
            &from,
            "--preemption",
            "none",
            "--family",
            "msr",
            "--verbose",
        ];
        let summary =
            run_and_collect_output(&[&arguments[..], &["--work", "4e6", "--output", &to]].concat());
        (
            summary,
            run_and_collect_output(&["simulate", &to, "--events", "3e6"]),
        )
    };
    let (summary, printed) = msr("", ", alike: .85");
    let expected = "as if arrivals were Poisson and sizes independent";
    assert_contains(&summary, expected);
    assert_contains(claim_line(&printed, "working time"), "approximate, off by");
    let (summary, printed) = msr(COMMON, "");
    assert_contains(&summary, "as if arrivals were Poisson (the loads");
    assert_contains(claim_line(&printed, "working time"), "confirmed");
    assert_contains(
        claim_line(&printed, "mean response ["),
        "approximate, off by",
    );
}

#[test]
fn rejects_a_policy_for_another_modulation() {
    let (_folder, from, to) = written(&workload(COMMON, SERVER, ""));
    let arguments = [
        "--workload",
        &from,
        "--preemption",
        "none",
        "--family",
        "msr",
    ];
    run_and_collect_output(&[&arguments[..], &["--work", "4e6", "--output", &to]].concat());
    std::fs::write(&from, workload("", SERVER, "")).unwrap();
    let refused = run_expecting_code(1, &["check", &to, "--workload", &from]);
    let printed = stdout(&refused) + &stderr(&refused);
    let is_told = printed.contains("workload.modulation: made for {")
        && printed.contains("but the workload has none");
    assert!(is_told, "{printed}");
}
