//! What is typed and what is written, as people do it first: files with and without the name of an option, standard
//! input, keys that other programs have, numbers with units.

use std::io::Write as _;
use std::process::{Output, Stdio};

use crate::common::{Folder, code, command, stderr, stdout, synth};

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
    let named = synth(&[&["--workload", model][..], &WISHES].concat());
    assert_eq!(code(&named), 0, "{}", stderr(&named));
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
    let both = synth(&[&[model, "--workload", model][..], &WISHES].concat());
    assert_eq!(code(&both), 2);
    assert!(
        stderr(&both).contains("cannot be used with"),
        "{}",
        stderr(&both)
    );
}

/// The kind of what comes from standard input is seen before the options are.
#[test]
fn standard_input_may_be_of_any_kind_and_its_faults_have_their_lines() {
    let model = text("models/three_servers.yaml");
    let piped = fed(&["-", "-q"], &model);
    assert_eq!(code(&piped), 0, "{}", stderr(&piped));
    assert!(stdout(&piped).contains("\"kind\": \"compatibility\""));
    let faulty = fed(&["-"], &model.replacen("rate:", "rat:", 1));
    assert_eq!(code(&faulty), 2);
    let said = stderr(&faulty);
    assert!(said.contains("--> standard input:"), "{said}");
    assert!(said.contains("did you mean `rate`?"), "{said}");
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
        let both = synth(&[verb, &[&file, "--policy", &file]].concat());
        assert_eq!(code(&both), 2);
        assert!(
            stderr(&both).contains("cannot be used with"),
            "{}",
            stderr(&both)
        );
        let none = synth(verb);
        assert_eq!(code(&none), 2);
        assert!(stderr(&none).contains("--policy"), "{}", stderr(&none));
    }
    let twice = fed(&["check", "-", "--workload", "-"], &policy);
    assert_eq!(code(&twice), 2);
    assert!(
        stderr(&twice).contains("standard input is one file"),
        "{}",
        stderr(&twice)
    );
    let driven = fed(&["drive", "-"], &policy);
    assert!(
        stderr(&driven).contains("save the policy"),
        "{}",
        stderr(&driven)
    );
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
    let compared = synth(&[&compare[..], &few].concat());
    assert_eq!(code(&compared), 0, "{}", stderr(&compared));
    let none = synth(&["compare", "--policies", "fcfs"]);
    assert!(
        stderr(&none).contains("--workload FILE"),
        "{}",
        stderr(&none)
    );
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
    let missing = synth(&["chek", "p.json"]);
    assert_eq!(code(&missing), 2);
    assert!(
        stderr(&missing).contains("did you mean the verb `check`?"),
        "{}",
        stderr(&missing)
    );
    let missing = synth(&["no-such.yaml", "--preemption", "none"]);
    assert_eq!(code(&missing), 2);
    assert!(
        stderr(&missing).contains("`no-such.yaml` is no file"),
        "{}",
        stderr(&missing)
    );
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
    assert!(said.contains("did you mean `volunteer`?"), "{said}");
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
        assert!(said.contains(help), "{said}");
    }
    let text = document("mean_size: 4h", "1", "1").replace("time_unit: s", "time_unit: slots");
    let said = stderr(&made(&text));
    assert!(
        said.contains("write 4 with h everywhere, 14400 with seconds"),
        "{said}"
    );
}
