//! The binary, end to end: what a person types, what comes out where, and the exit code.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::*;

fn in_folder(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

/// The main job, on every model and under every kind of preemption: a policy that checks.
#[test]
fn every_model_becomes_a_policy_that_checks() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for model in models("multiresource") {
        let text = std::fs::read_to_string(&model).unwrap();
        let ways = if text.contains("\nservers:") {
            // Rules over all servers stop nothing.
            &[&["none", "--family", "partition"][..]][..]
        } else {
            &[
                &["none", "--family", "msr"][..],
                &["full", "--family", "msr"],
                &["setup", "--setup-rate", "10", "--family", "msr"],
            ]
        };
        for preemption in ways {
            let policy = in_folder(&folder, "policy.json");
            let (model, file) = (model.to_str().unwrap(), policy.to_str().unwrap());
            let typed = ["--workload", model, "--output", file, "--effort", "0.01"];
            let typed = [&typed[..], &["--preemption"]].concat();
            let made = works(&[&typed[..], preemption].concat());
            assert!(stdout(&made).is_empty(), "the policy goes to the file");
            let said = stderr(&made);
            let proved = said.contains("proven best") || said.contains("no policy has less");
            assert!(proved, "{said}");
            works(&["check", file, "--workload", model]);
            count += 1;
        }
    }
    assert_eq!(count, 33);
}

/// Standard output holds the artifact and nothing else; the summary is for people.
#[test]
fn the_artifact_goes_to_standard_output_and_the_summary_to_standard_error() {
    let made = synth("--workload models/vms.yaml --preemption none --family msr");
    let artifact: serde_json::Value = serde_json::from_str(&stdout(&made)).unwrap();
    assert_eq!(artifact["format"], "synth-policy");
    assert_eq!(artifact["evidence"]["proven"], true);
    let load = artifact["evidence"]["load"].as_f64().unwrap();
    assert!((load - 131.0 / 200.0).abs() < 1e-12);
    insta::assert_snapshot!(stderr(&made));
    let quiet = synth("--workload models/vms.yaml --preemption none --family msr --quiet");
    assert_eq!(
        quiet.stdout, made.stdout,
        "the same input gives the same bytes"
    );
    assert!(quiet.stderr.is_empty());
}

fn overloaded(folder: &tempfile::TempDir, rate: &str) -> String {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml"));
    let text = text
        .unwrap()
        .replace("arrival_rate: 1.8,", &format!("arrival_rate: {rate},"));
    let path = in_folder(folder, "overloaded.yaml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// ρ > 1: exit code 1, no artifact, the prices that prove it and the factor to shrink by.
#[test]
fn an_overloaded_workload_is_refused_with_its_proof() {
    let folder = tempfile::tempdir().unwrap();
    let workload = overloaded(&folder, "3");
    let output = in_folder(&folder, "never.json");
    let refused = ends(
        1,
        &[
            "--workload",
            &workload,
            "--preemption",
            "full",
            "--output",
            output.to_str().unwrap(),
        ],
    );
    assert!(refused.stdout.is_empty() && !output.exists());
    insta::assert_snapshot!(stderr(&refused));
}

/// ρ = 1 exactly, by section 7's own rates at ρ = 1: no single resource is over-committed,
/// and still nothing can stabilize it.
#[test]
fn a_load_of_exactly_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "one.yaml");
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml"));
    let text = ["rate: .45", "rate: 1.8", "rate: .9"]
        .iter()
        .zip(["rate: .5", "rate: 2", "rate: 1"])
        .fold(text.unwrap(), |text, (from, to)| {
            text.replace(&format!("{from},"), &format!("{to},"))
        });
    std::fs::write(&path, text).unwrap();
    let refused = ends(
        1,
        &["--workload", path.to_str().unwrap(), "--preemption", "none"],
    );
    has(&stderr(&refused), "load ρ = 1 ");
    has(&stderr(&refused), "the jobs do not pack");
}

#[test]
fn simulate_judges_the_claims_and_repeats_itself() {
    let folder = tempfile::tempdir().unwrap();
    let policy = in_folder(&folder, "p.json");
    let policy = policy.to_str().unwrap();
    synth(&format!(
        "--workload models/section7.yaml --preemption full --family msr --output {policy}"
    ));
    let arguments = [
        "simulate", "--policy", policy, "--events", "2e6", "--seed", "7", "--output", "-",
    ];
    let run = works(&arguments);
    assert!(stderr(&run).contains("confirmed") && !stderr(&run).contains("REFUTED"));
    assert_eq!(run.stdout, synth(&arguments).stdout, "one seed, one result");
    let other = synth(&format!(
        "simulate --policy {policy} --events 2e6 --seed 8 --output -"
    ));
    assert_ne!(run.stdout, other.stdout);
}

/// Where claims are approximations the table says how far off they are, and nothing is refuted;
/// a policy that is unstable as analysed is told apart.
#[test]
fn simulate_shows_approximations_and_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let policy = in_folder(&folder, "p.json");
    let policy = policy.to_str().unwrap();
    for (rate, table, note) in [
        ("0.1", "approximate, off by ", ""),
        (
            "0.5",
            "approximate",
            "the policy is unstable: of these claims",
        ),
    ] {
        synth(&format!(
            "--workload models/section7_phases.yaml --preemption none --route sequential-eager --switching-rate {rate} --output {policy}"
        ));
        let run = works(&["simulate", "--policy", policy, "--events", "2e6"]);
        let told = stdout(&run);
        has(&told, table);
        assert!(!told.contains("NaN") && !told.contains("REFUTED"), "{told}");
        has(&stderr(&run), note);
    }
}

#[test]
fn compare_prints_a_table_and_says_what_is_unstable() {
    let folder = tempfile::tempdir().unwrap();
    let policy = in_folder(&folder, "p.json");
    let policy = policy.to_str().unwrap();
    synth(&format!(
        "--workload models/section7.yaml --preemption none --family msr --output {policy}"
    ));
    let rules = format!("first-fit,fcfs,{policy}");
    let table = works(&format!(
        "compare --workload models/section7.yaml --policies {rules} --loads 0.5,0.9 --events 6e6"
    ));
    let text = format!("{}{}", stdout(&table), stderr(&table));
    let row = |name: &str| {
        text.lines()
            .find(|l| l.trim_start().starts_with(name))
            .unwrap()
            .to_string()
    };
    assert!(row("fcfs").contains("unstable"), "{text}");
    assert!(!row("first-fit").contains("unstable"), "{text}");
}

/// Usage and input errors: exit code 2, one clear message, nothing on standard output.
#[test]
fn bad_input_gets_a_clear_error() {
    let workload = "models/section7.yaml";
    for (arguments, expected) in [
        (
            &["--workload", "nowhere.yaml", "--preemption", "none"][..],
            "nowhere.yaml",
        ),
        (
            &["--workload", workload, "--preemption", "setup"],
            "--setup-rate",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "none",
                "--setup-rate",
                "2",
            ],
            "setup",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "none",
                "--switching-rate",
                "0",
            ],
            "positive",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "none",
                "--switching-rate",
                "nan",
            ],
            "positive",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "none",
                "--switching-rate",
                "5",
            ],
            "unstable",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "none",
                "--route",
                "scenic",
            ],
            "sequential-eager",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "full",
                "--route",
                "sequential-late",
            ],
            "nothing to wait for",
        ),
        (
            &[
                "--workload",
                workload,
                "--preemption",
                "none",
                "--switching-rate",
                "1e300",
            ],
            "out of range",
        ),
        (
            &[
                "compare",
                "--workload",
                workload,
                "--policies",
                "fcfs",
                "--loads",
                "90",
            ],
            "90%",
        ),
        (&["check", "models/vms.yaml"], "not a synth policy"),
        (&["check", "nowhere.json"], "nowhere.json"),
        (&["simulate", "--policy", "nowhere.json"], "first-fit, fcfs"),
        (&["simulate", "--policy", "fcfs"], "--workload"),
        (
            &["compare", "--workload", workload, "--policies", "worst-fit"],
            "first-fit, fcfs",
        ),
        (
            &[
                "compare",
                "--workload",
                workload,
                "--policies",
                "fcfs",
                "--loads",
                "0",
            ],
            "positive",
        ),
        (
            &[
                "simulate",
                "--policy",
                "fcfs",
                "--workload",
                workload,
                "--events",
                "0",
            ],
            "whole number",
        ),
    ] {
        let output = ends(2, arguments);
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!stderr(&output).contains("panicked"), "{arguments:?}");
    }
}

/// A faulty workload: every fault at once, each with its place.
#[test]
fn faults_of_a_workload_are_reported_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "faulty.yaml");
    let text = "kind: multiresource\ntime_unit: s\nserver:\n  capacity: {cpu: 8}\njobs:
  - {name: big, demand: {cpu: 9}, arrival_rate: 1, mean_size: 1}
  - {name: slow, demand: {cpu: 1}, arrival_rate: 1, mean_size: -2}\n";
    std::fs::write(&path, text).unwrap();
    let refused = ends(
        2,
        &["--workload", path.to_str().unwrap(), "--preemption", "none"],
    );
    let report = stderr(&refused);
    assert!(!report.contains("error: error:"), "{report}");
    assert!(
        report.contains("faulty.yaml:6:") && report.contains("faulty.yaml:7:"),
        "{report}"
    );
}

#[test]
fn help_completions_manual_and_schema_are_there() {
    let help = stdout(&synth(&["--help"]));
    assert!(help.contains("Examples:") && help.contains("Exit codes:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&synth(&["completions", shell])).contains("synth"));
    }
    assert!(stdout(&synth(&["man"])).starts_with(".ie"));
    assert!(stdout(&synth(&["schema"])).contains("\"$schema\""));
}

/// A file is replaced behind a link; a device is written to and stays one.
#[cfg(unix)]
#[test]
fn output_goes_where_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (
        in_folder(&folder, "p.json"),
        in_folder(&folder, "link.json"),
    );
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let to = |path: &str| {
        synth(&format!(
            "--workload models/section7.yaml --preemption none --family msr -q -o {path}"
        ))
    };
    assert_eq!(code(&to(link.to_str().unwrap())), 0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(&file).unwrap().starts_with('{'));
    let piped = to("/dev/stdout");
    assert_eq!(code(&piped), 0, "{}", stderr(&piped));
    assert_eq!(stdout(&piped), std::fs::read_to_string(&file).unwrap());
    let nowhere = to("/nonexistent/p.json");
    assert_eq!(code(&nowhere), 2);
    assert!(
        std::fs::read_dir(folder.path()).unwrap().count() == 2,
        "nothing is left behind"
    );
    // A file keeps its permissions, and a pipe its reader until all is read.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o606)).unwrap();
    assert_eq!(code(&to(file.to_str().unwrap())), 0);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o606);
    let pipe = in_folder(&folder, "pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    // While it is held open, neither end waits for the other.
    let held = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    let reader = Command::new("cat")
        .stdin(std::fs::File::open(&pipe).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(code(&to(pipe.to_str().unwrap())), 0);
    drop(held);
    let read = reader.wait_with_output().unwrap();
    assert_eq!(read.stdout, std::fs::read(&file).unwrap());
}

/// Loads many decades apart and far beyond capacity: an answer, and no panic.
#[test]
fn extreme_workloads_get_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "extreme.yaml");
    for (rate, size, expected) in [
        ("1e10", "1", 1),
        ("1e-16", "1", 0),
        ("0.1", "1e12", 1),
        ("1e300", "1e-300", 2),
        ("1e-300", "1", 2),
    ] {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 3}}}}\njobs:
  - {{name: a, demand: {{cpu: 1}}, arrival_rate: {rate}, mean_size: {size}}}
  - {{name: b, demand: {{cpu: 3}}, arrival_rate: .2, mean_size: 1}}\n"
        );
        std::fs::write(&path, text).unwrap();
        for preemption in ["none", "full"] {
            let output = ends(
                expected,
                &[
                    "--workload",
                    path.to_str().unwrap(),
                    "--family",
                    "msr",
                    "--preemption",
                    preemption,
                ],
            );
            assert!(!stderr(&output).contains("NaN"), "{}", stderr(&output));
        }
    }
}

/// Section 7 at ρ = .5: 1.2781 by an independent computation (2.2366 jobs in the mean). Nobody is
/// below the bound but by chance.
#[test]
fn the_optimum_bounds_all_policies() {
    let asked = [
        "optimum",
        "--workload",
        "models/section7.yaml",
        "--load",
        ".5",
        "--policies",
        "first-fit,fcfs",
        "--output",
        "-",
    ];
    let found = works(&asked);
    has(
        &stderr(&found),
        "no policy without preemption has a mean response time below 1.27",
    );
    let json: serde_json::Value = serde_json::from_str(&stdout(&found)).unwrap();
    let number = |pointer: &str| json.pointer(pointer).unwrap().as_f64().unwrap();
    let (lower, upper) = (number("/lower_bound"), number("/upper_bound_in_box"));
    assert!(
        lower <= 2.2366 / 1.75 && 2.2366 / 1.75 <= upper * 1.0005,
        "{lower} {upper}"
    );
    for (n, name) in ["first-fit", "fcfs"].iter().enumerate() {
        let at = |key: &str| number(&format!("/policies/{n}/response/{key}"));
        assert_eq!(json["policies"][n]["policy"], *name);
        assert!(at("mean") + 2.0 * at("half_width") > lower, "{name}");
    }
}

#[test]
fn an_optimum_out_of_reach_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let heavy = overloaded(&folder, "3");
    let cases: [(&[&str], &str); 6] = [
        (&["models/borg_cell_b.yaml"], "at most 5000 schedules"),
        (&["models/bursty.yaml"], "Poisson arrivals"),
        (&[&heavy], "give --load"),
        (&["models/section7.yaml", "--load", "1"], "below 1"),
        (
            &["models/four_types.yaml", "--states", "1e5"],
            "the limit is 1.0e5",
        ),
        (
            &["models/section7.yaml", "--policies", "frst-fit"],
            "did you mean `first-fit`?",
        ),
    ];
    for (arguments, expected) in cases {
        let refused = ends(2, &[&["optimum", "--workload"], arguments].concat());
        assert!(
            stderr(&refused).contains(expected),
            "{arguments:?}: {}",
            stderr(&refused)
        );
        assert!(stdout(&refused).is_empty());
    }
}

/// Somebody who got a policy from a colleague is told what it is for, what it does, what it promises and
/// how sure that is.
#[test]
fn a_policy_is_shown_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = in_folder(&folder, "p.json");
    let file = file.to_str().unwrap();
    let shown_of = |typed: &[&str]| {
        let typed = [typed, &["--quiet", "--output", file]].concat();
        works(&typed);
        let shown = works(&["show", file]);
        stdout(&shown)
    };
    let none = ["--workload", "models/section7.yaml", "--preemption", "none"];
    let exact = shown_of(&[&none[..], &["--family", "msr"]].concat());
    for words in [
        "3 types of jobs on one server",
        "Load ρ = 0.9: no policy can have less, which is proved.",
        "it works on 2 schedules in turn",
        "50.0 %   ██████████",
        "exact, as analysed",
        "without the backfilling and the release of empty slots with which it runs",
    ] {
        has(&exact, words);
    }
    let chosen = shown_of(&[&none[..], &["--budget", "2e7"]].concat());
    has(&chosen, "simulated, 95 % interval");
    let fleet = ["--workload", "models/fleet.yaml", "--preemption", "none"];
    let fleet = shown_of(&[&fleet[..], &["--family", "partition"]].concat());
    for words in [
        "48 servers of 2 shapes",
        "A partition: each server keeps one schedule",
    ] {
        has(&fleet, words);
    }
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    for text in [exact, chosen, fleet] {
        assert!(widest(&text) <= Some(100), "{text}");
    }
    let refused = ends(2, &["show", "models/vms.yaml"]);
    has(&stderr(&refused), "not a synth policy");
}
