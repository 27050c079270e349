//! End-to-end tests of the forecasts of start times.

use super::fake_slurm::{FakeSlurm, job};
use crate::common::*;

/// If `tells` is true, the log has users and limits, which are three times the run times.
fn log_of_jobs(count: u64, tells: bool) -> String {
    let (mut submit, mut below) = (0, random_integers(7));
    let lines = (1..=count).map(|n| {
        submit += below(1000);
        let (size, processors) = (60 + below(2400), 1 << below(4));
        let (limit, user) = match tells {
            true => ((3 * size) as i64, below(4) as i64),
            false => (-1, -1),
        };
        swf_line(n, [submit, size], processors, limit, user)
    });
    format!("; MaxProcs: 16\n{}", lines.collect::<String>())
}

#[test]
fn scores_forecasts_on_a_log() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log_of_jobs(500, true));
    let document = folder.path_string("f.json");
    let forecast = || run_ok!("forecast {file} --policy easy+saf --map -o {document}");
    let printed = stdout(&forecast());
    for words in ["nine of ten", "uncalibrated", "under easy+saf", "limit "] {
        assert_contains(&printed, words);
    }
    let found = folder.json("f.json");
    let record = &found["record"];
    let counted = record["forecasts"].as_u64().unwrap() as usize;
    assert_eq!(found["forecasts"].as_array().unwrap().len(), counted);
    assert!(record["error"].as_f64() < record["error_by_limits"].as_f64());
    assert!(found["map"]["cells"].as_array().unwrap().len() > 1);
    forecast();
    let told = folder.json("f.json");
    assert_eq!(told, found, "the result must not depend on the clock");
}

#[test]
fn scores_forecasts_of_a_site_against_recorded_starts() {
    let folder = Folder::new();
    let document = folder.path_string("f.json");
    let (log, site) = ("models/traces/slurm.sacct.gz", "models/traces/site");
    let printed = stdout(&run_ok!(
        "forecast {log} --slurm {site} --every 40 -o {document}"
    ));
    assert_contains(&printed, "forecasts under slurm");
    let found = folder.json("f.json");
    assert!(found["misfits"].is_u64());
    for own in found["forecasts"].as_array().unwrap() {
        assert!(own["wait"].as_f64().unwrap() > 60.0);
    }
    let record = &found["record"];
    assert!(record["width"].as_f64().unwrap() > 0.0);
    assert!(record["error"].as_f64().unwrap() < record["wait"].as_f64().unwrap());
    let typed = format!("forecast {log} --slurm {site} --servers cpu=4");
    run_err(&typed, "`--servers` and `--capacity` cannot be used");
    let replayed = folder.write("log.swf", &log_of_jobs(300, true));
    let printed = stdout(&run_ok!("forecast {replayed}"));
    assert_contains(&printed, "does not contain all start times");
}

#[test]
fn reports_missing_data_in_a_log() {
    let folder = Folder::new();
    let bare = folder.write("bare.swf", &log_of_jobs(300, false));
    let printed = stdout(&run_ok!("forecast {bare} --policy easy+fcfs"));
    for words in [
        "There are no limits in the log",
        "the run time of a job is based on other jobs of the same user",
        "There are no users in the log",
    ] {
        assert_contains(&printed, words);
    }
    let text = "; MaxProcs: 4\n1 0 -1 5 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n";
    let idle = folder.write("idle.swf", text);
    let printed = stdout(&run_ok!("forecast {idle}"));
    assert_contains(&printed, "no forecasts to evaluate");
    let full = folder.write("log.swf", &log_of_jobs(50, true));
    assert_contains(&stdout(&run_ok!("forecast {full}")), "not certain");
    let table = "forecast FULL --policy server-filling | preempts jobs
        forecast FULL --policy esy | did you mean
        forecast FULL --policy easy:1 | sizes
        forecast FULL --every 0 | 0 is not in
        forecast FULL --partition nix | no usable job
        forecast FULL --partition batch --log past.txt | use `synth forecast slurm";
    assert_errors(table, &[("FULL", &full)]);
}

#[test]
fn each_waiting_job_has_a_forecast_or_a_reason() {
    let (fake, folder) = (FakeSlurm::new(), Folder::new());
    let waits = |id: &'static str| {
        vec![
            ("JobArrayID", id),
            ("EligibleTime", "2026-11-25T17:54:42"),
            ("Reason", "Resources"),
            ("PriorityLong", "7"),
            ("TimeLimit", "1:00:00"),
        ]
    };
    let with = |id, more: &[(&'static str, &'static str)]| job(&[more, &waits(id)].concat());
    let runs = [
        ("StateCompact", "R"),
        ("TimeLimit", "UNLIMITED"),
        ("tres-alloc", "cpu=16,mem=10M,node=1,billing=1"),
        ("NodeList", "n1"),
    ];
    let given = [
        with("11", &runs),
        with("12", &[("tres-alloc", "cpu=4,node=1")]),
        with("13", &[("tres-alloc", "cpu=8,node=1")]),
        with("14", &[("tres-alloc", "cpu=64,node=1")]),
        with("15", &[("Dependency", "afterok:11(unfulfilled)")]),
        with("16", &[("EligibleTime", "2100-01-01T00:00:00")]),
        job(&[("JobArrayID", "17")]),
    ]
    .concat();
    fake.queue(&given);
    let past = folder.write("past.swf", &log_of_jobs(300, true));
    let run = |typed: &str| {
        let output = fake.run(typed);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output
    };
    let bare = run("forecast slurm --partition synth");
    assert_contains(&stderr(&bare), "There is no log of past jobs");
    for words in [
        "never: it",
        "waits for other",
        "its begin time",
        "held: its owner",
    ] {
        assert_contains(&stdout(&bare), words);
    }
    for option in ["--map", "--output x.json"] {
        let typed = format!("forecast slurm --partition synth {option}");
        run_err(&typed, "only be used if");
    }
    // The start depends on a job without a limit, whose run time is sampled if there is a log.
    assert_contains(&stdout(&bare), "unknown");
    let typed = format!("forecast slurm --partition synth --log {past}");
    let printed = stdout(&run(&typed));
    assert_contains(&printed, "for the log of past jobs under easy");
    let mut lines = printed.lines();
    let row = lines.find(|line| line.trim_start().starts_with("13"));
    assert_contains(row.unwrap(), "UTC, in");
}

const ONE: &str = "kind: multiresource\ntime_unit: min\nserver: {capacity: {cpu: 20}}\n\
    jobs: [{name: all, demand: {cpu: 20}, arrival_rate: .05, mean_size: 10}]\n";

/// Returns events of jobs that run for ten minutes, one after the other, and of three jobs that
/// arrive at time 300.
fn lines(count: u32) -> Vec<String> {
    let each = (0..count).flat_map(|n| {
        let t = 12 * n;
        let id = format!("{n}@{}", 60 * t);
        [
            format!("{{\"t\":{t},\"arrive\":\"all\",\"job\":\"{id}\"}}"),
            format!("{{\"t\":{},\"leave\":\"{id}\"}}", t + 10),
        ]
    });
    let last = (20..23).map(|n| format!("{{\"t\":300,\"arrive\":\"all\",\"job\":\"{n}@18000\"}}"));
    each.chain(last).collect()
}

fn policy(folder: &Folder) -> String {
    let (workload, policy) = (folder.write("w.yaml", ONE), folder.path_string("p.json"));
    run_ok!("--workload {workload} --family first-fit -o {policy}");
    policy
}

/// The start times are not known if others use the capacity or if no job has ended yet.
#[test]
fn drive_predicts_when_a_job_starts() {
    let folder = Folder::new();
    let policy = policy(&folder);
    let ask = |t: u32, job: &str| format!("{{\"t\":{t},\"forecast\":\"{job}@18000\"}}");
    let questions = [
        ask(304, "21"),
        ask(304, "22"),
        ask(304, "20"),
        ask(304, "23"),
        "{\"t\":305,\"occupy\":{\"cpu\":1}}".into(),
        ask(305, "22"),
    ];
    let given = [lines(20), questions.to_vec()].concat().join("\n");
    let drive = format!("drive {policy}");
    let printed = stdout(&output_with_stdin(&drive, &given));
    let answers: Vec<&str> = printed.lines().skip(43).collect();
    for (answer, words) in answers.iter().zip([
        "\"forecast\":[310.0,310.0,310.0]}",
        "\"forecast\":[320.0,320.0,320.0]}",
        "\"forecast\":\"the job has already started\"}",
        "no job \\\"23@18000\\\" is known",
        "\"stop\":[]}",
        "\"forecast\":\"the resources that are needed",
    ]) {
        assert_contains(answer, words);
    }
    let early = [lines(9), vec![ask(300, "22")]].concat().join("\n");
    let said = stdout(&output_with_stdin(&drive, &early));
    assert_contains(&said, "only 9 jobs have ended so far, but at least 10");
}

#[test]
fn a_bridge_predicts_when_a_job_starts() {
    let (fake, folder) = (FakeSlurm::new(), Folder::new());
    let policy = policy(&folder);
    let head = format!(
        "{{\"policy\":\"p.json\",\"digest\":\"{}\",\"cluster\":\"fake\",\"partition\":\"synth\",\"time_unit\":\"min\",\"seed\":1}}",
        synth::document::digest(&read_text(&policy))
    );
    let rounds = |lines: Vec<String>| {
        let rounds = lines.into_iter().map(|line| {
            let t = line[5..].split([',', '}']).next().unwrap().to_owned();
            format!("{{\"t\":{t},\"told\":[{line}],\"start\":[],\"ms\":0}}")
        });
        let all = std::iter::once(head.clone()).chain(rounds);
        all.map(|line| synth::document::line::sealed(&line) + "\n")
            .collect::<String>()
    };
    let short = folder.write("short.jsonl", &rounds(lines(3)));
    // The bridge was restarted, and the past jobs in the journal must still be used.
    let whole = rounds(lines(20)[..40].to_vec()) + &rounds(lines(0));
    let journal = folder.write("j.jsonl", &whole);
    let why = |journal: &str| stdout(&run_ok!("bridge --replay {journal} {policy} --why 22"));
    assert_contains(&why(&journal), "1 job of its type is ahead of it");
    let expected = "five of ten start within 20 min, and nine of ten start within 20 min";
    assert_contains(&why(&journal), expected);
    assert_contains(&why(&short), "only 3 jobs have ended so far");
    let typed = format!("bridge --replay {journal} {policy} --why 5");
    run_err(&typed, "synth bridge slurm POLICY");
    let held = |id: &'static str, more: &[(&'static str, &'static str)]| {
        job(&[more, &[("JobArrayID", id), ("tres-alloc", "cpu=20,node=1")]].concat())
    };
    let given = [
        held("22", &[]),
        held("31", &[("Dependency", "afterok:22(unfulfilled)")]),
        held("32", &[("EligibleTime", "2100-01-01T00:00:00")]),
        held("33", &[("tres-alloc", "cpu=64,node=1")]),
        held("34", &[("Reason", "JobHeldAdmin")]),
    ]
    .concat();
    fake.queue(&given);
    let bridge = format!("bridge slurm {policy} --partition synth --journal {journal}");
    for [job, words] in rows(
        "22 | nine of ten
        31 | it depends on other jobs. Its start cannot be predicted.
        32 | its earliest start is in the future. Its
        33 | it has no type, because no type fits. Its
        34 | it is held (JobHeldAdmin), but not for the policy. Its
        35 | job 35 is neither waiting nor running in the partition synth",
    ) {
        let output = fake.run(&format!("{bridge} --why {job}"));
        assert_contains(&all_output(&output), words);
    }
}

#[test]
fn writes_metrics_for_prometheus() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log_of_jobs(400, true));
    let [document, metrics] = folder.paths(["f.json", "f.prom"]);
    run_ok!("forecast {file} -o {document} --metrics {metrics}");
    let record = &folder.json("f.json")["record"];
    let text = read_text(metrics);
    let labels = format!("log=\"{file}\",policy=\"easy\"");
    let started = &record["started"];
    for (name, more, value) in [
        ("forecasts", "", &record["forecasts"]),
        ("started_ratio", ",quantile=\"0.1\"", &started[0]),
        ("started_ratio", ",quantile=\"0.9\"", &started[2]),
        ("error_seconds", "", &record["error"]),
        ("error_by_limits_seconds", "", &record["error_by_limits"]),
    ] {
        let value = value.as_f64().unwrap();
        assert_contains(&text, &format!("# TYPE synth_forecast_{name} gauge\n"));
        let line = format!("\nsynth_forecast_{name}{{{labels}{more}}} {value}\n");
        assert_contains(&text, &line);
    }
}
