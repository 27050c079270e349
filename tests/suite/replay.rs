//! Traces, end to end: a small log, replayed by the binary.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::common::*;

/// On four processors. At 10 two jobs end and one comes; the last line never ran.
const LOG: &str = "; MaxProcs: 4
1 100 -1 10 2 -1 -1 -1 20 -1 1 -1 -1 -1 -1 -1 -1 -1
2 100 -1 10 2 -1 -1 -1 20 -1 1 -1 -1 -1 -1 -1 -1 -1
3 101 -1 5 4 -1 -1 -1 10 -1 1 -1 -1 -1 -1 -1 -1 -1
4 102 -1 5 2 -1 -1 -1 10 -1 1 -1 -1 -1 -1 -1 -1 -1
5 110 -1 7 1 -1 -1 -1 10 -1 1 -1 -1 -1 -1 -1 -1 -1
6 110 -1 -1 1 -1 -1 -1 10 -1 5 -1 -1 -1 -1 -1 -1 -1
";

const TYPES: &str = "kind: multiresource
time_unit: s
server: {capacity: {cpu: 4}}
jobs:
  - {name: half, demand: {cpu: 2}, arrival_rate: .1, mean_size: 8}
  - {name: whole, demand: {cpu: 4}, arrival_rate: .05, mean_size: 5}
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::write(folder.name("log.swf"), LOG).unwrap();
        fs::write(folder.name("types.yaml"), TYPES).unwrap();
        folder
    }

    fn name(&self, file: &str) -> String {
        self.0.path().join(file).display().to_string()
    }
}

/// By hand: two jobs of 10 s start at 0 and hold their room until 10.9; so it goes on.
#[test]
fn dead_time_counts_in_every_replay() {
    let folder = Folder::new();
    let (log, jobs) = (folder.name("log.swf"), folder.name("late.csv"));
    let typed = ["simulate", "--trace", &log, "--policy", "fcfs"];
    let late = ["--measure", "all", "--start-latency", ".9", "--jobs", &jobs];
    let run = works(&[&typed[..], &late].concat());
    let told = stdout(&run).replace('\n', " ");
    has(&told, "each job holds its room 0.9 s");
    let written = fs::read_to_string(&jobs).unwrap();
    let waits = written
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(9).unwrap());
    let waits: f64 = waits.map(|wait| wait.parse::<f64>().unwrap()).sum();
    assert!((waits - 31.5).abs() < 1e-9, "{waits}");
    let third = written.lines().nth(3).unwrap();
    assert!(
        third.starts_with("fcfs,1,4,cpu=4,1,10.9,16.8,5,"),
        "{third}"
    );
    let fine = ends(2, &[&typed[..], &["--start-latency", "1e-9"]].concat());
    has(&stderr(&fine), "fewer digits");
}

#[test]
fn recorded_jobs_run_once_and_faults_have_a_line() {
    let folder = Folder::new();
    let (types, jobs) = (folder.name("types.yaml"), folder.name("jobs.csv"));
    fs::write(&jobs, "type,arrival,size\nhalf,0,4\nwhole,1,2\nhalf,2,4\n").unwrap();
    let simulate = |more: &[&str]| {
        let typed = ["simulate", "--policy", "first-fit", "--jobs", &jobs];
        synth(&[&typed[..], more].concat())
    };
    let run = simulate(&["--workload", &types, "--start-latency", ".5", "-o", "-"]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let found: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    // First-Fit lets the third pass, which ends at 6.5; the second starts then.
    assert_eq!(found["all"]["mean_response"], (4.5 + 8.0 + 4.5) / 3.0);
    assert_eq!(found["types"][1]["mean_wait"], 5.5);
    assert_eq!(found["makespan"], 9.0);
    assert!(found["seed"].is_null(), "nothing is drawn");
    for (more, expected) in [
        (&[][..], "give --workload FILE"),
        (
            &["--workload", &types, "--start-latency", "-1"],
            "expected a number ≥ 0",
        ),
        (&["--workload", &types, "-o", &jobs], "would be overwritten"),
    ] {
        let run = simulate(more);
        assert_eq!(code(&run), 2);
        has(&stderr(&run), expected);
    }
    let compared = [
        "compare",
        "--policies",
        "fcfs",
        "--workload",
        &types,
        "--jobs",
        &jobs,
    ];
    let run = ends(2, &compared);
    has(&stderr(&run), "`synth simulate`");
    fs::write(&jobs, "type,arrival,size\nhalf,0,4\nhuge,1,2\n").unwrap();
    let run = simulate(&["--workload", &types]);
    assert_eq!(code(&run), 2);
    let expected = "line 3: unknown type `huge`; those of the policy are half, whole";
    has(&stderr(&run), expected);
}

#[test]
fn a_log_is_replayed_and_every_job_is_told() {
    let folder = Folder::new();
    let (log, jobs) = (folder.name("log.swf"), folder.name("jobs.csv"));
    let typed = ["simulate", "--trace", &log, "--policy", "first-fit"];
    let run = works(&[&typed[..], &["--measure", "all", "--jobs", &jobs]].concat());
    let told = stdout(&run).replace('\n', " ");
    // 27 s over five jobs, of which three waited.
    has(&told, "5.400");
    has(&told, "no interval: the trace is too short");
    let said = stderr(&run);
    has(&said, "5 jobs with 3 different demands");
    has(&said, "never ran");
    let written = fs::read_to_string(&jobs).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(
        lines,
        [
            "policy,speed,line,type,submit,start,end,size,limit,wait,slowdown,backfilled,measured",
            "first-fit,1,2,cpu=2,0,0,10,10,20,0,1,0,1",
            "first-fit,1,3,cpu=2,0,0,10,10,20,0,1,0,1",
            "first-fit,1,4,cpu=4,1,10,15,5,10,9,1.4,0,1",
            "first-fit,1,5,cpu=2,2,15,20,5,10,13,1.8,0,1",
            "first-fit,1,6,cpu=1,10,15,22,7,10,5,1.2,0,1",
        ]
    );
}

/// From standard input, twice as fast, and as types: the job of one processor then holds two.
#[test]
fn a_log_comes_from_standard_input_and_as_types() {
    let folder = Folder::new();
    let types = folder.name("types.yaml");
    let typed = words("simulate --trace - --policy fcfs --measure all --jobs -");
    let more = ["--workload", &types, "--demands", "rounded", "--speed", "2"];
    let mut child = command(&[&typed[..], &more].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(LOG.as_bytes())
        .unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let told = stdout(&run);
    assert!(
        told.ends_with("fcfs,2,6,half,5,15,22,7,10,10,1.7,0,1\n"),
        "{told}"
    );
    let said = stderr(&run);
    has(&said, "As 2 types jobs hold");
}

#[test]
fn policies_are_compared_on_a_log() {
    let folder = Folder::new();
    let (log, types) = (folder.name("log.swf"), folder.name("types.yaml"));
    let [json, csv, html] = ["c.json", "c.csv", "c.html"].map(|name| folder.name(name));
    let typed = ["compare", "--trace", &log, "--workload", &types];
    let typed = [
        &typed[..],
        &["--policies", "first-fit,best-fit,easy", "--loads", ".5,1.2"],
    ]
    .concat();
    let written = [
        "--output",
        &json,
        "--csv",
        &csv,
        "--html",
        &html,
        "--measure",
        "all",
    ];
    let typed = [&typed[..], &written].concat();
    let run = works(&typed);
    has(&stderr(&run), "at 1 and more queues grow");
    let document = fs::read_to_string(&json).unwrap();
    let value: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(value["paces"][0]["policies"][2]["policy"], "easy");
    assert_eq!(
        value["paces"][0]["policies"][2]["replayed"]["measured"]["jobs"],
        5
    );
    let numbers = fs::read_to_string(&csv).unwrap();
    let page = fs::read_to_string(&html).unwrap();
    for text in [&document, &numbers, &page] {
        assert!(!text.contains("NaN"), "{text}");
    }
    // The same options, the same bytes.
    assert_eq!(code(&synth(&typed)), 0);
    assert_eq!(fs::read_to_string(&json).unwrap(), document);
    assert_eq!(fs::read_to_string(&html).unwrap(), page);
}

#[test]
fn what_cannot_be_replayed_is_told_with_what_to_do() {
    let folder = Folder::new();
    let (log, types) = (folder.name("log.swf"), folder.name("types.yaml"));
    let small = folder.name("small.yaml");
    fs::write(&small, TYPES.replace("cpu: 4}, arr", "cpu: 3}, arr")).unwrap();
    let simulate = |more: &[&str]| synth(&[&["simulate", "--trace", &log], more].concat());
    for (more, expected) in [
        (&["--policy", "no-such-rule"][..], "there is no rule"),
        (&["--policy", "msfq"], "rules that can are first-fit"),
        (
            &["--policy", "fcfs", "--demands", "rounded"],
            "give --workload FILE",
        ),
        (&["--policy", "fcfs", "--speed", "0"], "such as 5/4"),
        (
            &["--policy", "fcfs", "--load", "1e9"],
            "choose a load nearer to it",
        ),
        (&["--policy", "fcfs", "--measure", ".5,.6"], "--measure all"),
        (
            &["--policy", "fcfs", "--jobs", &log],
            "would be overwritten",
        ),
        (
            &[
                "--policy",
                "fcfs",
                "--demands",
                "rounded",
                "--workload",
                &small,
            ],
            "--unknown-out",
        ),
        (
            &[
                "--policy",
                "fcfs",
                "--demands",
                "rounded",
                "--workload",
                &types,
                "--capacity",
                "cpu=8",
            ],
            "leave --capacity and --servers out",
        ),
    ] {
        let run = simulate(more);
        assert_eq!(code(&run), 2, "{more:?}");
        assert!(
            stderr(&run).contains(expected),
            "{more:?}: {}",
            stderr(&run)
        );
    }
    let left_out = [
        "--policy",
        "fcfs",
        "--demands",
        "rounded",
        "--workload",
        &small,
        "--unknown-out",
    ];
    let run = simulate(&left_out);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    has(&stderr(&run), "1 jobs, ");
    let run = synth(&["compare", "--policies", "fcfs"]);
    has(&stderr(&run), "give --workload FILE");
    let typed = [
        "compare",
        "--workload",
        &types,
        "--policies",
        "fcfs",
        "--loads",
        "1.2",
    ];
    assert!(stderr(&synth(&typed)).contains("give a load below 1"));
    let typed = [
        "compare",
        "--trace",
        &log,
        "--policies",
        "fcfs",
        "--resample",
    ];
    assert!(stderr(&synth(&typed)).contains("fewer than two"));
}
