//! What is typed and what is written, as people do it first: files with and without the name of an option, standard
//! input, keys that other programs have, numbers with units.

use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::common::*;

/// The program, with this on its standard input.
fn fed(arguments: &[&str], input: &str) -> Output {
    let mut program = command(arguments);
    let program = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = program.spawn().unwrap();
    let mut stdin = running.stdin.take().unwrap();
    // It may have ended before it read all.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    running.wait_with_output().unwrap()
}

fn text(file: &str) -> String {
    std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

const WISHES: [&str; 7] = [
    "--preemption",
    "none",
    "--family",
    "msr",
    "--effort",
    "0.01",
    "-q",
];

#[test]
fn a_workload_is_taken_as_it_is_after_its_name_and_from_standard_input() {
    let model = "models/vms.yaml";
    let named = works(&[&["--workload", model][..], &WISHES].concat());
    let bare = synth(&[&[model][..], &WISHES].concat());
    let last = synth(&[&WISHES[..], &[model]].concat());
    for same in [&bare, &last] {
        assert_eq!(code(same), 0, "{}", stderr(same));
        assert_eq!(stdout(same), stdout(&named));
    }
    for typed in [&["--workload", "-"][..], &["--workload=-"], &["-"]] {
        let piped = fed(&[typed, &WISHES].concat(), &text(model));
        assert_eq!(code(&piped), 0, "{typed:?}: {}", stderr(&piped));
        assert_eq!(stdout(&piped), stdout(&named), "{typed:?}");
    }
    let both = ends(2, &[&[model, "--workload", model][..], &WISHES].concat());
    has(&stderr(&both), "cannot be used with");
}

/// The kind of what comes from standard input is seen before the options are.
#[test]
fn standard_input_may_be_of_any_kind_and_its_faults_have_their_lines() {
    let model = text("models/three_servers.yaml");
    let piped = fed(&["-", "-q"], &model);
    assert_eq!(code(&piped), 0, "{}", stderr(&piped));
    has(&stdout(&piped), "\"kind\": \"compatibility\"");
    let faulty = fed(&["-"], &model.replacen("rate:", "rat:", 1));
    assert_eq!(code(&faulty), 2);
    let said = stderr(&faulty);
    has(&said, "--> standard input:");
    has(&said, "did you mean `rate`?");
    // `-` behind an option for results is no file that is read.
    let written = fed(&["models/three_servers.yaml", "-q", "--output", "-"], "");
    assert_eq!(stdout(&written), stdout(&piped), "{}", stderr(&written));
}

#[test]
fn a_policy_is_taken_in_the_same_way_by_all_verbs() {
    let folder = Folder::new();
    let file = folder.policy("section7");
    let policy = std::fs::read_to_string(&file).unwrap();
    for verb in [&["check"][..], &["show"], &["simulate", "--events", "1e4"]] {
        let bare = synth(&[verb, &[&file]].concat());
        assert!(code(&bare) < 2, "{verb:?}: {}", stderr(&bare));
        let told = |output: &Output| stdout(output) + &stderr(output);
        for typed in [&["--policy", &file][..], &[&format!("--policy={file}")]] {
            let named = synth(&[verb, typed].concat());
            assert_eq!(told(&named), told(&bare), "{verb:?}");
        }
        let piped = fed(&[verb, &["-"]].concat(), &policy);
        assert_eq!(code(&piped), code(&bare), "{verb:?}: {}", stderr(&piped));
        let both = ends(2, &[verb, &[&file, "--policy", &file]].concat());
        has(&stderr(&both), "cannot be used with");
        let none = ends(2, verb);
        has(&stderr(&none), "--policy");
    }
    let twice = fed(&["check", "-", "--workload", "-"], &policy);
    assert_eq!(code(&twice), 2);
    has(&stderr(&twice), "standard input is one file");
    let driven = fed(&["drive", "-"], &policy);
    has(&stderr(&driven), "save the policy");
}

/// Rules are simulated on a workload from standard input; comparisons and optima take one without a name.
#[test]
fn other_verbs_take_a_workload_without_the_option() {
    let model = "models/section7.yaml";
    let few = ["--events", "1e4"];
    let piped = fed(
        &[&["simulate", "first-fit", "--workload", "-"][..], &few].concat(),
        &text(model),
    );
    assert_eq!(code(&piped), 0, "{}", stderr(&piped));
    let compare = [
        "compare",
        model,
        "--policies",
        "fcfs,first-fit",
        "--loads",
        ".5",
    ];
    works(&[&compare[..], &few].concat());
    let none = synth(&["compare", "--policies", "fcfs"]);
    has(&stderr(&none), "--workload FILE");
    let piped = fed(
        &[
            "optimum",
            "-",
            "--load",
            ".3",
            "--tolerance",
            "50%",
            "--time-limit",
            "1m",
        ],
        &text(model),
    );
    assert_eq!(code(&piped), 0, "{}", stderr(&piped));
}

#[test]
fn what_is_no_file_and_no_verb_is_told_with_the_verb_that_is_near() {
    let missing = ends(2, &["chek", "p.json"]);
    has(&stderr(&missing), "did you mean the verb `check`?");
    let missing = ends(2, &["no-such.yaml", "--preemption", "none"]);
    has(&stderr(&missing), "`no-such.yaml` is no file");
}

/// As somebody writes it who has not read the documentation: each key is told once, in the order of the text, and nothing
/// else.
#[test]
fn all_keys_of_other_programs_are_told_at_once() {
    let said = fed(
        &["-", "--preemption", "none"],
        "kind: multi-resource
time_unit: s
nodes:
  - {machines: 4, capacity: {cpu: 8}}
tasks:
  - {name: web, resources: {cpu: 1}, lambda: 4, service_time: 1}
  - {id: batch, requests: {cpu: 2}, rate: .5, duration: 30m}
",
    );
    assert_eq!(code(&said), 2);
    let said = stderr(&said);
    let mut rest = said.as_str();
    for (key, meant) in [
        ("multi-resource", "multiresource"),
        ("nodes", "servers"),
        ("machines", "count"),
        ("tasks", "jobs"),
        ("resources", "demand"),
        ("lambda", "arrival_rate"),
        ("service_time", "mean_size"),
        ("id", "name"),
        ("requests", "demand"),
        ("rate", "arrival_rate"),
        ("duration", "mean_size"),
    ] {
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
fn a_misspelt_kind_is_found_among_all_kinds() {
    let campaign =
        text("models/campaign_small.yaml").replacen("kind: volunteer", "kind: volunter", 1);
    let said = stderr(&fed(&["-"], &campaign));
    has(&said, "did you mean `volunteer`?");
}

/// A time with its unit is the number that it is in the unit of the document, to the byte.
#[test]
fn times_with_units_are_numbers_and_amounts_are_explained() {
    let document = |mean: &str, cpu: &str, memory: &str| {
        format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 8, memory: 1024}}}}\njobs:\n  \
             - {{name: web, demand: {{cpu: {cpu}, memory: {memory}}}, arrival_rate: 1e-4, {mean}}}\n"
        )
    };
    let made = |text: &str| fed(&[&["-"][..], &WISHES].concat(), text);
    let plain = made(&document(
        "size: {law: uniform, low: 90, high: 14400}",
        ".5",
        "64",
    ));
    assert_eq!(code(&plain), 0, "{}", stderr(&plain));
    let timed = made(&document(
        "size: {law: uniform, low: 1m30s, high: 4h}",
        ".5",
        "64",
    ));
    assert_eq!(stdout(&timed), stdout(&plain), "{}", stderr(&timed));
    let said = stderr(&made(&document("mean_size: 4 h", "500m", "64Gi")));
    for help in [
        "write 0.5 if m is Kubernetes' thousandth",
        "for 64Gi write 64 where all of it is counted in Gi",
    ] {
        has(&said, help);
    }
    let text = document("mean_size: 4h", "1", "1").replace("time_unit: s", "time_unit: slots");
    let said = stderr(&made(&text));
    has(&said, "write 4 with h everywhere, 14400 with seconds");
}
