//! End-to-end tests of replays of a small log.

use crate::common::*;
use std::fs;

/// The log is for four processors. At time 10, two jobs end and another job arrives.
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

fn files() -> (Folder, String, String) {
    let folder = Folder::new();
    let log = folder.write("log.swf", LOG);
    let types = folder.write("types.yaml", TYPES);
    (folder, log, types)
}

/// The expected values were computed by hand. Two jobs of 10 s start at time 0 and use their
/// processors until 10.9.
#[test]
fn the_start_latency_is_used_in_all_replays() {
    let (folder, log, _) = files();
    let jobs = folder.path_string("late.csv");
    let typed = format!("replay {log} --policies fcfs");
    let run = run_ok!("{typed} --measure all --start-latency .9 --jobs {jobs}");
    assert_contains(&stdout(&run), "Each job holds its capacity for 0.9 s");
    let written = read_text(&jobs);
    let waits = written.lines().skip(1).map(|line| {
        let wait = line.split(',').nth(9).unwrap();
        wait.parse::<f64>().unwrap()
    });
    let waits: f64 = waits.sum();
    assert!((waits - 31.5).abs() < 1e-9, "{waits}");
    let expected = "fcfs,1,4,cpu=4,1,10.9,16.8,5,";
    assert_contains(written.lines().nth(3).unwrap(), expected);
    run_err(&format!("{typed} --start-latency 1e-9"), "fewer digits");
}

#[test]
fn replays_recorded_jobs_and_reports_errors_with_a_line() {
    let (folder, _, types) = files();
    let text = "type,arrival,size\nhalf,0,4\nwhole,1,2\nhalf,2,4\n";
    let jobs = folder.write("jobs.csv", text);
    let simulate = format!("simulate first-fit --jobs {jobs}");
    let typed = format!("{simulate} --workload {types}");
    let found = json(&run_ok!("{typed} --start-latency .5 -o -"));
    // With First-Fit, the third job passes the second one, which starts at 6.5.
    assert_eq!(found["all"]["mean_response"], (4.5 + 8.0 + 4.5) / 3.0);
    assert_eq!(found["types"][1]["mean_wait"], 5.5);
    assert_eq!(found["makespan"], 9.0);
    assert!(found["seed"].is_null(), "it is not random");
    run_err(&simulate, "use `--workload FILE`");
    let negative = format!("{typed} --start-latency -1");
    run_err(&negative, "expected a number ≥ 0");
    run_err(&format!("{typed} -o {jobs}"), "would be overwritten");
    fs::write(&jobs, "type,arrival,size\nhalf,0,4\nhuge,1,2\n").unwrap();
    let message = "line 3: unknown type `huge`; the types of the policy are half, whole";
    run_err(&typed, message);
}

#[test]
fn replays_a_log_and_reports_each_job() {
    let (folder, log, _) = files();
    let jobs = folder.path_string("jobs.csv");
    let run = run_ok!("replay {log} --policies first-fit --measure all --jobs {jobs}");
    let printed = stdout(&run);
    // The five jobs waited for 27 s in total, and two of them did not wait.
    assert_contains(&printed, "5.400");
    assert_contains(&printed, "The log is too short");
    assert_contains(&printed, "5 jobs with 3 distinct demands");
    assert_contains(&printed, "never ran");
    let written = read_text(&jobs);
    let lines: Vec<&str> = written.lines().collect();
    let expected = [
        "policy,speed,line,type,submit,start,end,size,limit,wait,slowdown,backfilled,measured",
        "first-fit,1,2,cpu=2,0,0,10,10,20,0,1,0,1",
        "first-fit,1,3,cpu=2,0,0,10,10,20,0,1,0,1",
        "first-fit,1,4,cpu=4,1,10,15,5,10,9,1.4,0,1",
        "first-fit,1,5,cpu=2,2,15,20,5,10,13,1.8,0,1",
        "first-fit,1,6,cpu=1,10,15,22,7,10,5,1.2,0,1",
    ];
    assert_eq!(lines, expected);
}

/// If types are used, the job with one processor uses two processors.
#[test]
fn reads_a_log_from_standard_input() {
    let (_folder, _, types) = files();
    let options = format!("--workload {types} --demands rounded --speed 2");
    let typed = format!("replay - --policies fcfs --measure all --jobs - {options}");
    let run = run_with_stdin(0, &typed, LOG);
    let (printed, said) = (stdout(&run), stderr(&run));
    let last = printed.lines().last();
    assert_eq!(last, Some("fcfs,2,6,half,5,15,22,7,10,10,1.7,0,1"));
    assert_contains(&said, "With the demands of 2 types, the jobs hold");
}

#[test]
fn compares_policies_on_a_log() {
    let (folder, log, types) = files();
    let [json, csv, html] = folder.paths(["c.json", "c.csv", "c.html"]);
    let rules = "--policies first-fit,best-fit,easy --loads .5,1.2 --measure all";
    let outputs = format!("--output {json} --csv {csv} --html {html}");
    let typed = format!("replay {log} --workload {types} {rules} {outputs}");
    let run = run_ok!("{typed}");
    assert_contains(&stdout(&run), "the queue is growing");
    let document = read_text(&json);
    let value: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(value["paces"][0]["policies"][2]["policy"], "easy");
    let measured = &value["paces"][0]["policies"][2]["replayed"]["measured"];
    assert_eq!(measured["jobs"], 5);
    let numbers = read_text(&csv);
    let page = read_text(&html);
    for text in [&document, &numbers, &page] {
        assert!(!text.contains("NaN"), "{text}");
    }
    assert_eq!(code(&synth(&typed)), 0);
    assert_eq!(read_text(&json), document);
    assert_eq!(read_text(&html), page);
}

#[test]
fn reports_logs_that_cannot_be_replayed() {
    let (folder, log, types) = files();
    let small = folder.write("small.yaml", &TYPES.replace("cpu: 4}, arr", "cpu: 3}, arr"));
    let table = include_str!("tables/replay/refused.txt");
    let paths = [("LOG", &*log), ("TYPES", &*types), ("SMALL", &*small)];
    assert_errors(table, &paths);
    let run = run_ok!("replay {log} --policies fcfs --demands known --workload {small}");
    assert_contains(&all_output(&run), "any type: one job");
}

/// The expected values were computed by hand. The second job waited 5 s for the first one, and the
/// third job waited 1 s.
#[test]
fn compares_the_replay_with_the_recorded_schedule() {
    let folder = Folder::new();
    let table =
        "submit;start;end;gpu;user\n0;0;10;4;ann\n5;10;100;4;bob\n7;8;9;1;ann\n20;100;4000;2;cid\n";
    let log = folder.write("log.csv", table);
    let typed = format!("replay {log} --capacity gpu=4 --policies fcfs --measure all -o -");
    let found = json(&run_ok!("{typed}"));
    let policies = &found["paces"][0]["policies"];
    assert_eq!(policies[1]["policy"], "as recorded");
    let recorded = &policies[1]["replayed"];
    assert_eq!(recorded["measured"]["total_wait"], 86.0);
    let groups = recorded["groups"].as_array().unwrap();
    let named = |name: &str| groups.iter().find(|group| group["name"] == name).unwrap();
    assert_eq!(named("user ann")["mean_wait"], 0.5);
    assert_eq!(named("gpu 4")["mean_wait"], 2.5);
    assert_eq!(named("size 1 h to 1 day")["jobs"], 1);
    let shown = stdout(&run_ok!("{}", typed.replace(" -o -", "")));
    assert_contains(&shown, "as recorded");
    assert_contains(&shown, "Mean wait of groups of jobs");
    // At another speed, there is no recorded schedule. Incomplete start times are reported.
    let faster = json(&run_ok!("{typed} --speed 2"));
    assert!(faster["paces"][0]["policies"][1].is_null());
    let [page, page_of_alike] = folder.paths(["page.html", "alike.html"]);
    let options = "--capacity gpu=4 --policies fcfs,easy --measure all";
    run_ok!("replay {log} {options} --html {page}");
    let text = read_text(&page);
    assert_contains(&text, "as recorded");
    // Computed by hand: the total wait is 86 s, and the second job waited 5 s for 4 GPUs.
    assert_contains(&text, "21.50");
    assert_contains(&text, "What ran when");
    let alike = folder.write("alike.csv", "submit;start;end;gpu\n0;0;90;4\n5;90;180;4\n");
    run_ok!("replay {alike} {options} --html {page_of_alike}");
    assert_contains(&read_text(&page_of_alike), "all jobs");
    // The command at the end of the page must create the same page.
    let (_, command) = text.split_once("<pre tabindex=\"0\">synth ").unwrap();
    let (command, _) = command.split_once(" --html page.html</pre>").unwrap();
    let again = folder.path_string("again.html");
    run_ok!("{command} --html {again}");
    assert_eq!(read_text(&again), text);
    let changed = table.replace("submit", "time");
    let changed = changed.replace("start", "x").replace("end", "size");
    fs::write(&log, changed).unwrap();
    let plain = json(&run_ok!("{typed}"));
    assert!(plain["paces"][0]["policies"][1].is_null());
}

#[test]
fn a_fit_reports_waits_that_differ_from_the_log() {
    let folder = Folder::new();
    let report = folder.path_string("report.json");
    // There is no arrival process that can describe a rate that is ten times as high for only six
    // hours.
    let mut table = String::from("time,size,cpu\n");
    let (mut now, day) = (0, 86_400);
    for n in 0.. {
        table += &format!("{now},{},1\n", 50 + n * 37 % 101);
        let is_surge = (5 * day..5 * day + day / 4).contains(&now);
        now += if is_surge { 20 } else { 200 };
        if now > 10 * day {
            break;
        }
    }
    let log = folder.write("log.csv", &table);
    let fit = run_ok!("fit {log} --capacity cpu=4 --report {report}");
    let shown = stdout(&fit);
    assert_contains(&shown, "differ from those in the log");
    assert_contains(&shown, "replays of the log under the same rules");
    let found = folder.json("report.json");
    let rules = found["predicted"].as_array().unwrap();
    let told = rules.iter().map(|own| &own["rule"]).collect::<Vec<_>>();
    assert_eq!(told, ["first-fit", "easy-backfill", "fcfs"]);
    let message = "`20s` is a time, but a count is expected";
    run_err("models/campaign_small.yaml --work 20s", message);
}

/// The jobs have the same type, so they run one at a time. They take 73 s, and a job arrives every
/// minute. Without types, the load is 0.61.
#[test]
fn suggests_orders_for_single_jobs_if_types_do_not_fit() {
    let folder = Folder::new();
    let rows = (0..200).map(|n| format!("{},{},.{}\n", 60 * n, 70 + n % 7, 1 + 8 * (n % 2)));
    let text = format!("time,size,cpu\n{}", rows.collect::<String>());
    let log = folder.write("log.csv", &text);
    let fit = run_expecting_code(1, &format!("fit {log} --capacity cpu=1 --max-types 1"));
    let said = all_output(&fit);
    assert_contains(&said, "which is more than any policy can sustain");
    assert_contains(&said, "Use `synth judge LOG` to compare queue orders");
}

/// A wide job with a long limit waits, and both servers are reserved for it. Then a job with a
/// shorter limit becomes the first in the order. It fits, so it must start immediately.
#[test]
fn the_first_job_can_start_on_reserved_servers() {
    let (folder, line) = (Folder::new(), "COMPLETED|u");
    let log = format!(
        "JobID|Submit|Start|ElapsedRaw|State|User|ReqTRES|TimelimitRaw
1|2026-01-01T00:00:00|2026-01-01T00:00:00|6000|{line}|cpu=3,node=1|100
2|2026-01-01T00:01:00|2026-01-01T01:40:00|3600|{line}|cpu=8,node=2|600
3|2026-01-01T00:02:00|2026-01-01T00:02:00|600|{line}|cpu=2,node=2|20
"
    );
    let log = folder.write("log.sacct", &log);
    let jobs = folder.path_string("jobs.csv");
    run_ok!("replay {log} --servers 2xcpu=4 --policies easy+sjf --measure all --jobs {jobs}");
    // The other rows are the recorded schedule.
    assert_eq!(start_times(&jobs)[..3], ["0", "6000", "120"]);
}
