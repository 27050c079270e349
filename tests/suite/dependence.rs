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

/// Returns the files of a workload and of its policy, and the output of the synthesis.
fn synthesized(workload: &str, options: &str) -> (Folder, String, String, String) {
    let folder = Folder::new();
    let from = folder.write("workload.yaml", workload);
    let to = folder.path_string("policy.json");
    let options = format!("--preemption none {options} --work 4e6");
    let output = run_ok!("--workload {from} {options} --output {to}");
    (folder, from, to, all_output(&output))
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn synthesizes_checks_simulates_and_compares_policies_for_dependent_jobs() {
    for (before, servers, alike) in [
        ("", SERVER, ", alike: .85"),
        (COMMON, SERVER, ""),
        (COMMON, FLEET, ", alike: .85"),
    ] {
        let (_folder, from, to, _) = synthesized(&workload(before, servers, alike), "");
        let checked = all_output(&run_ok!("check {to} --workload {from}"));
        assert!(checked.starts_with("valid: "), "{checked}");
        run_ok!("simulate {to} --events 1e6");
        run_ok!("compare {from} --loads .3,.6 --policies fcfs,{to} --events 2e5");
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
        let workload = workload(before, SERVER, alike);
        let (_folder, _, to, summary) = synthesized(&workload, "--family msr --verbose");
        (summary, all_output(&run_ok!("simulate {to} --events 3e6")))
    };
    let (summary, printed) = msr("", ", alike: .85");
    assert_contains(
        &summary,
        "as if arrivals were Poisson and sizes independent",
    );
    assert_contains(claim_line(&printed, "working time"), "approximate, off by");
    let (summary, printed) = msr(COMMON, "");
    assert_contains(&summary, "as if arrivals were Poisson (the loads");
    assert_contains(claim_line(&printed, "working time"), "confirmed");
    let response = claim_line(&printed, "mean response [");
    assert_contains(response, "approximate, off by");
}

#[test]
fn rejects_a_policy_for_another_modulation() {
    let (_folder, from, to, _) = synthesized(&workload(COMMON, SERVER, ""), "--family msr");
    std::fs::write(&from, workload("", SERVER, "")).unwrap();
    let refused = run_expecting_code(1, &format!("check {to} --workload {from}"));
    let printed = all_output(&refused);
    assert_contains(&printed, "workload.modulation: made for {");
    assert_contains(&printed, "but the workload has none");
}
