//! Batches whose jobs are alike, and one chain that modulates all types, from the command line.

use crate::common::*;

const COMMON: &str = "modulation: {factors: [.4, 2.2], switching: [[0, .1], [.3, 0]]}\n";
const SERVER: &str = "server: {capacity: {cpu: 8}}\n";
const FLEET: &str = "servers:\n  - {name: x, count: 2, capacity: {cpu: 8}}\n  - {name: y, count: 1, capacity: {cpu: 4}}\n";

/// Small jobs in batches that are alike, and large ones; ρ is near ½ on one server.
fn workload(before: &str, servers: &str, alike: &str) -> String {
    format!(
        "kind: multiresource\ntime_unit: h\n{before}{servers}jobs:\n  \
        - {{name: a, demand: {{cpu: 1}}, mean_size: 1, arrivals: {{process: batches, rate: .4, sizes: [1, 5]{alike}}}}}\n  \
        - {{name: b, demand: {{cpu: 4}}, mean_size: 1.5, arrival_rate: .4}}\n"
    )
}

/// What it says that ends with code 0.
fn done(arguments: &[&str]) -> String {
    let output = works(arguments);
    stdout(&output) + &stderr(&output)
}

/// A folder with a workload, and the paths of that and of a policy to be synthesized.
fn written(text: &str) -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [from, to] = ["workload.yaml", "policy.json"].map(path);
    std::fs::write(&from, text).unwrap();
    (folder, from, to)
}

/// Chosen by simulation, the policy passes its checks, no claim is refuted, and it is compared over
/// loads.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn policies_for_dependent_jobs_are_made_checked_simulated_and_compared() {
    for (before, servers, alike) in [
        ("", SERVER, ", alike: .85"),
        (COMMON, SERVER, ""),
        (COMMON, FLEET, ", alike: .85"),
    ] {
        let (_folder, from, to) = written(&workload(before, servers, alike));
        let arguments = ["--workload", &from, "--preemption", "none"];
        done(&[&arguments[..], &["--work", "4e6", "--output", &to]].concat());
        let checked = done(&["check", &to, "--workload", &from]);
        assert!(checked.starts_with("valid: "), "{checked}");
        done(&["simulate", &to, "--events", "1e6"]);
        let compared = ["compare", "--workload", &from, "--loads", ".3,.6"];
        done(
            &[
                &compared[..],
                &["--policies", &format!("fcfs,{to}"), "--events", "2e5"],
            ]
            .concat(),
        );
    }
}

/// The line of a claim about all types in a judgement.
fn judged<'a>(printed: &'a str, claim: &str) -> &'a str {
    let line = printed.lines().find(|line| line.contains(claim));
    line.unwrap_or_else(|| panic!("{claim}:\n{printed}"))
}

/// Without preemption the loop waits for completions. Jobs that are alike complete together, so that
/// it is no chain of independent exponential times, and what is derived from one is an approximation,
/// though sizes are exponential. What modulates arrivals does not touch it.
#[test]
fn claims_about_completions_are_approximate_where_jobs_are_alike() {
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
        let summary = done(&[&arguments[..], &["--work", "4e6", "--output", &to]].concat());
        (summary, done(&["simulate", &to, "--events", "3e6"]))
    };
    let (summary, printed) = msr("", ", alike: .85");
    let expected = "as if arrivals were Poisson and sizes independent";
    has(&summary, expected);
    has(judged(&printed, "working time"), "approximate, off by");
    let (summary, printed) = msr(COMMON, "");
    has(&summary, "as if arrivals were Poisson (the loads");
    has(judged(&printed, "working time"), "confirmed");
    has(judged(&printed, "mean response"), "approximate, off by");
}

#[test]
fn a_policy_for_another_modulation_is_refused() {
    let (_folder, from, to) = written(&workload(COMMON, SERVER, ""));
    let arguments = [
        "--workload",
        &from,
        "--preemption",
        "none",
        "--family",
        "msr",
    ];
    done(&[&arguments[..], &["--work", "4e6", "--output", &to]].concat());
    std::fs::write(&from, workload("", SERVER, "")).unwrap();
    let refused = ends(1, &["check", &to, "--workload", &from]);
    let printed = stdout(&refused) + &stderr(&refused);
    let is_told = printed.contains("workload.modulation: made for {")
        && printed.contains("but the workload has none");
    assert!(is_told, "{printed}");
}
