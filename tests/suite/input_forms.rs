//! Tests of common inputs, such as standard input, keys of other programs and units.

use std::process::Command;

use crate::common::*;

const OPTIONS: &str = "--preemption none --family msr --work 4e6 -q";

fn fails_on(typed: &str, input: &str, words: &str) {
    let output = run_with_stdin(2, typed, input);
    assert_contains(&stderr(&output), words);
}

#[test]
fn reads_a_workload_with_and_without_the_option_and_from_stdin() {
    let model = "models/vms.yaml";
    let named = stdout(&run_ok!("--workload {model} {OPTIONS}"));
    assert_eq!(stdout(&run_ok!("{model} {OPTIONS}")), named);
    assert_eq!(stdout(&run_ok!("{OPTIONS} {model}")), named);
    for typed in ["--workload -", "--workload=-", "-"] {
        let piped = run_with_stdin(0, &format!("{typed} {OPTIONS}"), &read_text(model));
        assert_eq!(stdout(&piped), named, "{typed}");
    }
    let line = format!("{model} --workload {model} {OPTIONS}");
    run_err(&line, "cannot be used with");
}

/// The kind of a workload must be known before the options are parsed, but a pipe can only be read
/// once.
#[test]
fn reads_a_workload_from_a_pipe() {
    let typed = "exec \"$0\" --workload <(cat models/vms.yaml) --family msr --quiet";
    let piped = Command::new("bash")
        .args(["-c", typed, env!("CARGO_BIN_EXE_synth")])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let own = run_ok!("--workload models/vms.yaml --family msr --quiet");
    assert_eq!(stdout(&piped), stdout(&own), "{}", stderr(&piped));
}

#[test]
fn reads_each_kind_from_stdin_and_reports_errors_with_a_line() {
    let model = read_text("models/three_servers.yaml");
    let piped = stdout(&run_with_stdin(0, "- -q --interruptions 5", &model));
    assert_contains(&piped, "\"kind\": \"compatibility\"");
    let faulty = model.replacen("rate:", "rat:", 1);
    fails_on("-", &faulty, "--> standard input:");
    fails_on("-", &faulty, "did you mean `rate`?");
    let volunteer = read_text("models/campaign_small.yaml");
    let misspelt = volunteer.replacen("kind: volunteer", "kind: volunter", 1);
    fails_on("-", &misspelt, "did you mean `volunteer`?");
    // After an option for results, `-` is not an input file.
    let written = run_ok!("models/three_servers.yaml -q --interruptions 5 --output -");
    assert_eq!(stdout(&written), piped);
}

#[test]
fn all_commands_accept_a_policy_in_the_same_way() {
    let folder = Folder::new();
    let file = folder.policy("section7");
    let policy = folder.text("section7.json");
    for verb in ["check", "show", "simulate --events 1e4"] {
        let bare = synth(&format!("{verb} {file}"));
        assert!(code(&bare) < 2, "{verb:?}: {}", stderr(&bare));
        run_with_stdin(code(&bare), &format!("{verb} -"), &policy);
        run_err(&format!("{verb} --policy {file}"), "without an option");
        run_err(verb, "<POLICY>");
    }
    let words = "standard input can only be read once";
    fails_on("check - --workload -", &policy, words);
    fails_on("drive -", &policy, "save the policy");
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn other_commands_accept_a_workload_without_the_option() {
    let model = "models/section7.yaml";
    let text = read_text(model);
    run_with_stdin(0, "simulate first-fit --workload - --events 1e4", &text);
    run_ok!("compare {model} --policies fcfs,first-fit --loads .5 --events 1e4");
    run_with_stdin(0, "optimum - --load .3 --tolerance 50% --time 1m", &text);
    run_err("compare --policies fcfs", "--workload <FILE>");
    run_err("chek p.json", "did you mean the verb `check`?");
    let typed = "`no-such.yaml` is neither a file nor a verb";
    run_err("no-such.yaml --preemption none", typed);
}

/// Each key must be reported only once and in the order of the text.
#[test]
fn reports_all_keys_of_other_programs_together() {
    let typed = "kind: multi-resource
time_unit: s
nodes:
  - {machines: 4, capacity: {cpu: 8}}
tasks:
  - {name: web, resources: {cpu: 1}, lambda: 4, service_time: 1}
  - {id: batch, requests: {cpu: 2}, rate: .5, duration: 30m}
";
    let said = stderr(&run_with_stdin(2, "- --preemption none", typed));
    let mut rest = said.as_str();
    for [key, meant] in rows(
        "multi-resource | multiresource
        nodes           | servers
        machines        | count
        tasks           | jobs
        resources       | demand
        lambda          | arrival_rate
        service_time    | mean_size
        id              | name
        requests        | demand
        rate            | arrival_rate
        duration        | mean_size",
    ) {
        let at = rest.find(&format!("`{key}`"));
        let at = at.unwrap_or_else(|| panic!("{key} is not told, or not in order:\n{said}"));
        rest = &rest[at..];
        let help = rest.find("help: ").unwrap();
        let help = rest[help..].lines().next().unwrap();
        assert_eq!(help, format!("help: did you mean `{meant}`?"), "{said}");
    }
    assert_eq!(said.matches("error").count(), 11, "{said}");
}

#[test]
fn converts_times_with_units_and_explains_amounts() {
    let document = |mean: &str, cpu: &str, memory: &str| {
        let job = format!(
            "{{name: web, demand: {{cpu: {cpu}, memory: {memory}}}, arrival_rate: 1e-4, {mean}}}"
        );
        workload("server: {capacity: {cpu: 8, memory: 1024}}", &job)
    };
    let typed = format!("- {OPTIONS}");
    let policy_for = |size: &str| stdout(&run_with_stdin(0, &typed, &document(size, ".5", "64")));
    let plain = policy_for("size: {law: uniform, low: 90, high: 14400}");
    let found = policy_for("size: {law: uniform, low: 1m30s, high: 4h}");
    assert_eq!(found, plain);
    let amounts = document("mean_size: 4 h", "500m", "64Gi");
    fails_on(&typed, &amounts, "write 0.5 if m is Kubernetes' suffix");
    let text = "for 64Gi write 64 if the resource is counted in Gi";
    fails_on(&typed, &amounts, text);
    let slots = document("mean_size: 4h", "1", "1").replace("time_unit: s", "time_unit: slots");
    let text = "write 4 if all times are in h, or 14400 if they are in seconds";
    fails_on(&typed, &slots, text);
}
