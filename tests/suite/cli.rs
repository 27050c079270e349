//! End-to-end tests of the program: the arguments, the output and the exit code.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::common::*;
use crate::golden::assert_matches_golden;

const SECTION7: &str = "--workload models/section7.yaml";
const MSR: &str = "--workload models/section7.yaml --preemption none --family msr";

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn policies_for_all_models_are_valid() {
    let folder = Folder::new();
    let file = folder.path_string("policy.json");
    let mut count = 0;
    for model in models("multiresource") {
        let found = read_text(&model);
        let model = model.to_str().unwrap();
        let ways = match found.contains("\nservers:") {
            true => "none --family partition",
            false => "none --family msr | full --family msr | setup --setup-rate 10 --family msr",
        };
        for preemption in ways.split(" | ") {
            let options = format!("--work 4e6 --preemption {preemption}");
            let output = run_ok!("--workload {model} --output {file} {options}");
            let said = stdout(&output);
            let is_proved = said.contains("(proved") || said.contains("which is proved");
            assert!(is_proved, "{said}");
            run_ok!("check {file} --workload {model}");
            count += 1;
        }
    }
    assert_eq!(count, 33);
}

#[test]
fn accepts_common_options_in_any_position() {
    assert_eq!(run_ok!("--quiet rules").stdout, run_ok!("rules").stdout);
    let msr = "models/vms.yaml --family msr";
    let behind = run_ok!("{msr} --quiet");
    let before = run_ok!("-q --accept-changes {msr}");
    assert_eq!(before.stdout, behind.stdout);
    assert_eq!(before.stderr, behind.stderr);
    let said = stderr(&synth("--quiet rulse"));
    assert_contains(&said, "did you mean the verb `rules`?");
}

#[test]
fn writes_the_artifact_to_stdout_and_the_summary_to_stderr() {
    let typed = "--workload models/vms.yaml --preemption none --family msr";
    let output = synth(typed);
    let artifact = json(&output);
    assert_eq!(artifact["format"], "synth-policy");
    assert_eq!(artifact["evidence"]["proven"], true);
    let load = artifact["evidence"]["load"].as_f64().unwrap();
    assert!((load - 131.0 / 200.0).abs() < 1e-12);
    assert_matches_golden("summary", &json!(stderr(&output)));
    let quiet = synth(&format!("{typed} --quiet"));
    assert_eq!(
        quiet.stdout, output.stdout,
        "the result must be deterministic"
    );
    assert!(quiet.stderr.is_empty());
}

fn overloaded(folder: &Folder) -> String {
    let text = read_text("models/section7.yaml").replace("arrival_rate: 1.8,", "arrival_rate: 3,");
    folder.write("overloaded.yaml", &text)
}

#[test]
fn rejects_an_overloaded_workload_with_a_proof() {
    let folder = Folder::new();
    let (workload, output) = (overloaded(&folder), folder.path("never.json"));
    let to = output.display();
    let typed = format!("--workload {workload} --preemption full --output {to}");
    let refused = run_expecting_code(1, &typed);
    assert!(!output.exists());
    assert_matches_golden("overload", &json!(stdout(&refused)));
}

/// No single resource is overloaded at these rates, but no policy can be stable.
#[test]
fn rejects_a_load_of_exactly_one() {
    let folder = Folder::new();
    let text = section7_with_rates([(".45,", ".5,"), ("1.8,", "2,"), (".9,", "1,")]);
    let file = folder.write("one.yaml", &text);
    let refused = run_expecting_code(1, &format!("--workload {file} --preemption none"));
    assert_contains(&all_output(&refused), "is exactly ρ = 1,");
    assert_contains(&all_output(&refused), "the jobs do not fit together");
}

#[test]
fn simulate_judges_the_claims_and_is_deterministic() {
    let folder = Folder::new();
    let policy = folder.policy("section7");
    let run = |seed| run_ok!("simulate {policy} --events 2e6 --output - --seed {seed}");
    let one = run(7);
    assert!(all_output(&one).contains("confirmed") && !all_output(&one).contains("REFUTED"));
    assert_eq!(one.stdout, run(7).stdout, "one seed, one result");
    assert_ne!(one.stdout, run(8).stdout);
}

#[test]
fn simulate_prints_approximate_claims() {
    let folder = Folder::new();
    let policy = folder.path_string("p.json");
    for (rate, table, note) in [
        ("0.1", "approximate, off by ", ""),
        ("0.5", "approximate", "it is unstable, so these claims"),
    ] {
        let options = format!("--route sequential-eager --switching-rate {rate}");
        let workload = "models/section7_phases.yaml --preemption none";
        synth(&format!("{workload} {options} --output {policy}"));
        let run = run_ok!("simulate {policy} --events 2e6");
        let printed = stdout(&run);
        assert_contains(&printed, table);
        assert!(!printed.contains("NaN"), "{printed}");
        assert!(!printed.contains("REFUTED"), "{printed}");
        assert_contains(&stderr(&run), note);
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn compare_prints_a_table_and_unstable_policies() {
    let folder = Folder::new();
    let policy = folder.path_string("p.json");
    synth(&format!("{MSR} --output {policy}"));
    let rules = format!("first-fit,fcfs,{policy}");
    let table = run_ok!("compare {SECTION7} --policies {rules} --loads 0.5,0.9 --events 6e6");
    let text = all_output(&table);
    let row = |name: &str| {
        let mut lines = text.lines();
        lines.find(|l| l.trim_start().starts_with(name)).unwrap()
    };
    assert!(row("fcfs").contains("unstable"), "{text}");
    assert!(!row("first-fit").contains("unstable"), "{text}");
}

#[test]
fn reports_bad_input() {
    for [typed, expected] in rows(include_str!("tables/cli/bad_input.txt")) {
        run_err(&typed.replace("SECTION7", SECTION7), expected);
    }
    let folder = Folder::new();
    let heavy = overloaded(&folder);
    run_err(&format!("optimum {heavy}"), "use `--load`");
}

#[test]
fn reports_all_errors_of_a_workload() {
    let folder = Folder::new();
    let line = "{name: big, demand: {cpu: 9}, arrival_rate: 1, mean_size: 1}
        {name: slow, demand: {cpu: 1}, arrival_rate: 1, mean_size: -2}";
    let text = workload("server: {capacity: {cpu: 8}}", line);
    let file = folder.write("faulty.yaml", &text);
    let typed = format!("--workload {file} --preemption none");
    let report = stderr(&run_expecting_code(2, &typed));
    assert!(!report.contains("error: error:"), "{report}");
    assert_contains(&report, "faulty.yaml:5:");
    assert_contains(&report, "faulty.yaml:6:");
}

#[test]
fn prints_help_completions_manual_and_schema() {
    let printed = |typed: &str| stdout(&synth(typed));
    let help = printed("--help");
    assert!(help.contains("Examples:") && help.contains("Exit codes:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(printed(&format!("completions {shell}")).contains("synth"));
    }
    assert!(printed("man").starts_with(".ie"));
    assert!(printed("schema").contains("\"$schema\""));
}

#[cfg(unix)]
#[test]
fn writes_to_files_links_and_devices() {
    let folder = Folder::new();
    let (file, link) = (folder.path("p.json"), folder.path("link.json"));
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let to = |path: &str| synth(&format!("{MSR} -q -o {path}"));
    assert_eq!(code(&to(link.to_str().unwrap())), 0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(read_text(&file).starts_with('{'));
    let piped = to("/dev/stdout");
    assert_eq!(code(&piped), 0, "{}", stderr(&piped));
    assert_eq!(stdout(&piped), read_text(&file));
    let nowhere = to("/nonexistent/p.json");
    assert_eq!(code(&nowhere), 2);
    assert_eq!(folder.files().len(), 2, "nothing is left behind");
    // The permissions of a file must not change, and a pipe must be read to the end.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o606)).unwrap();
    assert_eq!(code(&to(file.to_str().unwrap())), 0);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o606);
    let pipe = folder.path("pipe");
    let status = Command::new("mkfifo").arg(&pipe).status();
    assert!(status.unwrap().success());
    // If the pipe is held open, the reader and the writer must not wait for each other.
    let held = OpenOptions::new().read(true).write(true).open(&pipe);
    let mut reader = Command::new("cat");
    let reader = reader.stdin(std::fs::File::open(&pipe).unwrap());
    let reader = reader.stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(code(&to(pipe.to_str().unwrap())), 0);
    drop(held);
    let read = reader.wait_with_output().unwrap();
    assert_eq!(read.stdout, std::fs::read(&file).unwrap());
}

#[test]
fn checks_output_files_first() {
    let folder = Folder::new();
    folder.write("file", "as it was");
    // These files do not exist, so the command would fail if it read them first.
    for verb in [
        "judge none.swf --html",
        "judge none.swf -o",
        "advise slurm none.txt --slurm none.conf --html",
        "forecast none.swf --output",
        "forecast none.swf --metrics",
        "fit none.swf -o",
        "--workload none.yaml --preemption none -o",
        "--workload none.yaml --preemption none -o - --log",
        "simulate fcfs --workload none.yaml -o",
        "replay none.swf --policies fcfs --jobs",
        "limit none.yaml --policies fcfs -o",
        "optimum none.yaml --proof",
        "export lp none.yaml -o",
    ] {
        let places = folder.paths(["missing/x", "file/x", "."]);
        let long = folder.path_string(&"x".repeat(300));
        for place in places.into_iter().chain([long, "/proc/x".into()]) {
            run_err(&format!("{verb} {place}"), "cannot write");
        }
    }
    for moved in ["bench", "figures", "sweep-alpha"] {
        run_err(moved, &format!("`synth-lab {moved}`"));
    }
    assert_eq!(folder.files(), ["file"]);
    assert_eq!(folder.bytes("file"), b"as it was");
}

#[test]
fn tables_have_the_width_of_the_terminal() {
    let widest = |columns: &str| {
        let mut rules = command("rules");
        let printed = stdout(&rules.env("COLUMNS", columns).output().unwrap());
        let widths = printed.lines().map(|line| line.chars().count());
        widths.max().unwrap()
    };
    assert!((61..=100).contains(&widest("unknown")));
    assert!((61..=100).contains(&widest("4000")));
    assert!(widest("60") <= 60);
    assert!(widest("300") > 100);
}

#[test]
fn prints_the_result_if_the_file_cannot_be_written() {
    for [typed, answer] in rows(
        "simulate SECTION7 fcfs --load .5 --events 4e5 -o /dev/full | E[T]
        compare SECTION7 --policies fcfs,msf --loads .5 --events 1e5 --html /dev/full | msf",
    ) {
        let output = run_expecting_code(2, &typed.replace("SECTION7", SECTION7));
        assert_contains(&stdout(&output), answer);
        assert_contains(&stderr(&output), "cannot write /dev/full: No space left");
    }
    let output = run_expecting_code(2, &format!("{MSR} -o /dev/full"));
    assert_contains(&stdout(&output), "load");
    assert_contains(&stderr(&output), "cannot write /dev/full: No space left");
}

#[test]
fn handles_extreme_workloads() {
    let folder = Folder::new();
    for (rate, size, expected) in [
        ("1e10", "1", 1),
        ("1e-16", "1", 0),
        ("0.1", "1e12", 1),
        ("1e300", "1e-300", 2),
        ("1e-300", "1", 2),
    ] {
        let jobs = job_type("a", 1, rate, size) + &job_type("b", 3, 0.2, 1);
        let text = workload("server: {capacity: {cpu: 3}}", &jobs);
        let file = folder.write("extreme.yaml", &text);
        for preemption in ["none", "full"] {
            let typed = format!("--workload {file} --family msr --preemption {preemption}");
            let said = stderr(&run_expecting_code(expected, &typed));
            assert!(!said.contains("NaN"), "{said}");
        }
    }
}

const OPTIMUM: &str = "optimum models/section7.yaml --load .5";

/// An independent computation gives a mean response time of 1.2781 s (2.2366 jobs).
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn the_optimum_is_a_lower_bound_for_all_policies() {
    let found = run_ok!("{OPTIMUM} --policies first-fit,fcfs --output -");
    for words in [
        "No policy without preemption that knows only the type of each job",
        "(proved by the linear program; 1.277 s by the dynamic program, in floating point)",
    ] {
        assert_contains(&stderr(&found), words);
    }
    let json = json(&found);
    let number = |pointer: &str| json.pointer(pointer).unwrap().as_f64().unwrap();
    let (lower, upper) = (number("/lower_bound"), number("/upper_bound_in_box"));
    assert!(lower <= 2.2366 / 1.75, "{lower} {upper}");
    assert!(2.2366 / 1.75 <= upper * 1.0005, "{lower} {upper}");
    for (n, name) in ["first-fit", "fcfs"].iter().enumerate() {
        let at = |key: &str| number(&format!("/policies/{n}/response/{key}"));
        assert_eq!(json["policies"][n]["policy"], *name);
        assert!(at("mean") + 2.0 * at("half_width") > lower, "{name}");
    }
}

#[test]
fn check_verifies_the_proof_of_a_bound() {
    let folder = Folder::new();
    let file = folder.path_string("bound.json");
    let found = run_ok!("{OPTIMUM} --preemption full --work 2e5 --proof {file}");
    let line = all_output(&found);
    assert_contains(&line, "exact below 0, 0, 0 jobs");
    let proved = run_ok!("check {file}");
    let line = all_output(&proved);
    assert_contains(&line, "proved: no policy with preemption");
    let text = read_text(&file);
    let piped = run_with_stdin(0, "check -", &text);
    assert_eq!(stdout(&piped), stdout(&proved));
    std::fs::write(&file, text.replace("\"bound\": 1.", "\"bound\": 2.")).unwrap();
    let said = stdout(&run_expecting_code(1, &format!("check {file}")));
    assert_contains(&said, "the certificate proves only 1.");
}

#[test]
fn describes_a_policy() {
    let folder = Folder::new();
    let file = folder.path_string("p.json");
    let shown_of = |typed: &str| {
        run_ok!("{typed} --preemption none --quiet --output {file}");
        stdout(&run_ok!("show {file}"))
    };
    let exact = shown_of(&format!("{SECTION7} --family msr"));
    for words in [
        "3 types of jobs on one server",
        "ρ = 0.9 of the maximum that any policy can sustain (proved",
        "the policy uses 2 schedules in turn",
        "50.0   2 type-3",
        "Exact: mean number, mean response, response p95, weighted response.",
        "does not include the backfilling",
    ] {
        assert_contains(&exact, words);
    }
    let chosen = shown_of(&format!("{SECTION7} --work 2e7"));
    assert_contains(&chosen, "±");
    let fleet = shown_of("--workload models/fleet.yaml --family partition");
    assert_contains(&fleet, "48 servers of 2 shapes");
    assert_contains(&fleet, "each server always uses the same schedule");
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    for text in [exact, chosen, fleet] {
        assert!(widest(&text) <= Some(100), "{text}");
    }
}

#[test]
fn reports_a_wrong_kind_of_file() {
    let folder = Folder::new();
    let files = [
        ("w", "kind: multiresource\n", "is a workload: "),
        ("p", "{\"format\": \"synth-policy\"}", "is a policy file: "),
        ("l", "; Version: 2.2\n", "is a log of jobs: "),
        ("j", "JobID|Submit\n1|2026-01-01\n", "is a log of jobs: "),
        ("s", "# ours\nNodeName=n1\n", "is a Slurm configuration: "),
        ("c", "import os\n", "is program source code; "),
        ("b", "\u{7f}ELF\0\u{1}", "is not a text file; "),
        ("e", "", "empty"),
    ];
    let mut files = files
        .map(|(name, text, words)| (folder.write(name, text), words))
        .to_vec();
    files.push((folder.path_string(""), "it is a folder, not a file"));
    for [verb, expected] in rows(
        "| a workload
        compare --policies first-fit | a workload
        optimum | a workload
        check | a policy file
        show | a policy file
        simulate | a policy file
        drive | a policy file
        fit | a log of jobs
        judge | a log of jobs
        replay --policies first-fit | a log of jobs",
    ) {
        for (file, words) in files.iter().filter(|(_, words)| !words.contains(expected)) {
            let refused = synth(&format!("{verb} {file}"));
            let said = stderr(&refused);
            assert_eq!(code(&refused), 2, "{verb} {file}: {said}");
            assert!(said.contains(words), "{verb} {file}: {said}");
            let is_other = words.ends_with(": ") || words.ends_with("; ");
            let ends = format!("; {expected} is expected here");
            assert!(!is_other || said.contains(&ends), "{verb} {file}: {said}");
        }
    }
}
