#![allow(clippy::unwrap_used)]

use super::*;

fn workload(before: &str) -> Fleet {
    let text = format!(
        "kind: multiresource\ntime_unit: s\n{before}server: {{capacity: {{cpu: 4}}}}\njobs:\n  \
         - {{name: small, demand: {{cpu: 1}}, arrival_rate: .1, mean_size: 4}}\n  \
         - {{name: big, demand: {{cpu: 4}}, arrival_rate: .05, mean_size: 2}}\n"
    );
    Fleet::parse(&text, "recorded").unwrap().workload
}

const JOBS: &str = "type,arrival,size,wait\nsmall,100,10,0\nbig,101,5,0\nsmall,102,3,0\nsmall,102,4,0\nbig,130,1,0\n";

fn run(policy: &str, workload: &Fleet, text: &str, latency: Option<&str>) -> Recorded {
    let latency = latency.map(|text| Decimal::parse(text).unwrap());
    run_with(policy, Some(workload), text, latency).unwrap()
}

fn run_with(
    policy: &str,
    workload: Option<&Fleet>,
    text: &str,
    latency: Option<Decimal>,
) -> Result<Recorded, VerbError> {
    run_once(
        ("jobs.csv", text.as_bytes()),
        policy,
        (workload, latency),
        &Settings::default(),
        Changes::default(),
        &mut |_| (),
    )
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

// Computed by hand for FCFS: the big job waits until the first job ends at 10, and the two jobs
// behind it wait until 15. With a start latency of 0.9 s, they start at 10.9 and 16.8.
#[test]
fn results_match_a_hand_computed_schedule() {
    for (latency, small, big, makespan) in [
        (None, [43.0 / 3.0, 26.0 / 3.0], [7.5, 4.5], 31.0),
        (Some(".9"), [49.3 / 3.0, 29.6 / 3.0], [8.85, 4.95], 31.9),
    ] {
        let found = run("fcfs", &workload(""), JOBS, latency);
        assert_eq!((found.seed, found.all.jobs), (None, 5));
        for (own, [response, wait]) in found.types.iter().zip([small, big]) {
            assert!(is_near(own.jobs.mean_response, response), "{own:?}");
            assert!(is_near(own.jobs.mean_wait, wait), "{own:?}");
        }
        assert!(is_near(found.makespan, makespan), "{found:?}");
    }
    let all = run("fcfs", &workload(""), JOBS, None).all;
    assert!(is_near(all.median_wait, 9.0) && is_near(all.longest_wait, 13.0));
}

#[test]
fn the_option_overrides_the_workloads_start_latency() {
    let late = workload("start_latency: .9\n");
    let [own, by_option] = [
        run("fcfs", &late, JOBS, None),
        run("fcfs", &workload(""), JOBS, Some(".9")),
    ];
    assert_eq!(own.all, by_option.all);
    assert_eq!(own.start_latency, by_option.start_latency);
    let none = run("fcfs", &late, JOBS, Some("0"));
    assert_eq!(none.all, run("fcfs", &workload(""), JOBS, None).all);
    assert_eq!(none.start_latency, None);
}

#[test]
fn random_runs_report_their_seed() {
    let late = workload("start_latency: {law: exponential, mean: .9}\n");
    let found = run("fcfs", &late, JOBS, None);
    assert_eq!(found.seed, Some(1));
    let fixed = run("fcfs", &workload(""), JOBS, Some(".9"));
    assert!(!is_near(found.all.mean_response, fixed.all.mean_response));
    assert_eq!(run("fcfs", &late, JOBS, None).all, found.all);
    let timers = run("randomized-timers", &workload(""), JOBS, None);
    assert_eq!((timers.seed, timers.all.jobs), (Some(1), 5));
}

#[test]
fn recorded_jobs_run_over_a_fleet() {
    let text = "kind: multiresource\ntime_unit: s\nservers: [{name: node, count: 2, capacity: {cpu: 4}}]\njobs:\n  \
         - {name: small, demand: {cpu: 1}, arrival_rate: .1, mean_size: 4}\n  \
         - {name: big, demand: {cpu: 4}, arrival_rate: .05, mean_size: 2}\n";
    let fleet = Fleet::parse(text, "fleet").unwrap().workload;
    let found = run("fcfs", &fleet, JOBS, Some(".5"));
    assert!(is_near(found.all.mean_wait, 0.0), "{found:?}");
    let is_mean = is_near(found.all.mean_response, 23.0 / 5.0 + 0.5);
    assert!(is_mean, "{found:?}");
}

// EASY uses the limit of a job plus the start latency. A job with a limit of 7 that fits in front
// of the big job does not fit if each start takes 2.
#[test]
fn limits_exclude_the_start_latency() {
    let jobs = "type,arrival,size\nsmall,0,10\nbig,1,1\nsmall,3,7\n";
    let known = workload("known: size\n");
    let waits = |text: &str, latency| run("easy", &known, text, latency).all.mean_wait;
    // The first job ends at 10, and the third one would end then too, so it starts on arrival.
    assert!((waits(jobs, None) - 9.0 / 3.0).abs() < 1e-9);
    // The first job ends at 12, and the third one also ends at 12 if it is started at 3.
    assert!((waits(jobs, Some("2")) - 11.0 / 3.0).abs() < 1e-9);
    // If it is started at 4, it ends at 13, so it has to wait for the big job, which ends at 15.
    let later = jobs.replace(",3,7", ",4,7");
    assert!((waits(&later, Some("2")) - (11.0 + 11.0) / 3.0).abs() < 1e-9);
    // Without a start latency it would end at 11, so it has to wait until the big job ends.
    assert!((waits(&later, None) - (9.0 + 7.0) / 3.0).abs() < 1e-9);
}

#[test]
fn reports_jobs_and_policies_that_cannot_run() {
    let reported = |policy: &str, workload: Option<&Fleet>, text: &str| {
        let run = run_with(policy, workload, text, None);
        run.unwrap_err().to_string()
    };
    let late = workload("start_latency: .9\n");
    let row = "type,arrival,size\nhuge,1,2\n";
    assert!(reported("fcfs", Some(&late), row).contains("jobs.csv: line 2: unknown type `huge`"));
    assert!(reported("fcfs", None, JOBS).contains("use `--workload FILE`"));
    assert!(reported("server-filling", Some(&late), JOBS).contains("start latency"));
    assert!(reported("nothing", Some(&late), JOBS).contains("no policy file nothing"));
}
