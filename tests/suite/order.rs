//! Tests of backfilling in which each job has its own order.

use std::collections::BTreeSet;

use crate::common::*;
use crate::fake_slurm::{FakeSlurm, job};
use rand::{RngExt, SeedableRng};
use synth::multiresource::artifact::Checked;
use synth::multiresource::live::Scheduler;
use synth::multiresource::live::protocol::Line;

const ONE: &str = "kind: multiresource
time_unit: s
known: {limit: {law: uniform, low: 1, high: 8}}
server: {capacity: {cpu: 4}}
jobs:
  - {name: one, demand: {cpu: 1}, arrival_rate: .01, mean_size: 30}
  - {name: half, demand: {cpu: 2}, arrival_rate: .01, mean_size: 30}
  - {name: whole, demand: {cpu: 4}, arrival_rate: .005, mean_size: 30}
";

/// A job: the submit time, the size, the processors, the limit and the user.
type Job = (u32, u32, usize, u32, u32);

/// All times are integers, so that many events have the same time.
fn jobs() -> Vec<Job> {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
    let mut submit = 0;
    let mut job = |_| {
        let come = submit;
        submit += random.random_range(0..30);
        let (size, user) = (random.random_range(1..60), random.random_range(1..4));
        let cpus = [1, 2, 4][random.random_range(0..3)];
        let limit = size * user + random.random_range(0..5);
        (come, size, cpus, limit, user)
    };
    (0..600).map(&mut job).collect()
}

fn swf(jobs: &[Job], cpus: u32) -> String {
    let line = |(n, (submit, size, cpus, limit, user)): (u32, &Job)| {
        format!(
            "{n} {submit} -1 {size} {cpus} -1 -1 {cpus} {limit} -1 1 {user} -1 -1 -1 -1 -1 -1\n"
        )
    };
    let lines = (1..).zip(jobs).map(line);
    format!("; MaxProcs: {cpus}\n{}", lines.collect::<String>())
}

fn start_times_in_scheduler(policy: &Checked, jobs: &[Job]) -> Vec<f64> {
    let mut scheduler = Scheduler::new(policy, 1);
    let mut starts = vec![f64::NAN; jobs.len()];
    let mut running: BTreeSet<(u32, usize)> = BTreeSet::new();
    let mut next = 0;
    while next < jobs.len() || !running.is_empty() {
        let end = running.first().map(|(end, _)| *end);
        let come = jobs.get(next).map(|job| job.0);
        let t = end.into_iter().chain(come).min().unwrap();
        let mut lines = Vec::new();
        while let Some((_, n)) = running.first().copied().filter(|own| own.0 == t) {
            running.pop_first();
            lines.push(Line {
                leave: Some(n.to_string()),
                ..Line::default()
            });
        }
        while let Some((_, _, cpus, limit, user)) = jobs.get(next).filter(|job| job.0 == t) {
            let name = ["", "one", "half", "", "whole"][*cpus];
            lines.push(Line {
                arrive: Some(name.into()),
                job: Some(next.to_string()),
                limit: Some(f64::from(*limit)),
                user: Some(user.to_string()),
                ..Line::default()
            });
            next += 1;
        }
        let last = lines.len() - 1;
        for (n, line) in lines.into_iter().enumerate() {
            let line = Line {
                t: f64::from(t),
                more: n < last,
                ..line
            };
            for (id, _) in scheduler.tell(&line).unwrap().start {
                let n: usize = id.parse().unwrap();
                starts[n] = f64::from(t);
                running.insert((t + jobs[n].1, n));
            }
        }
    }
    assert!(scheduler.learned().is_some());
    starts
}

/// Events at the same time are sent as lines with `more`.
#[test]
fn a_replay_and_a_scheduler_make_the_same_decisions() {
    let (folder, all) = (Folder::new(), jobs());
    let text = "servers: [{name: node, count: 3, capacity: {cpu: 4}}]";
    let fleet = ONE.replace("server: {capacity: {cpu: 4}}", text);
    let of_one = "easy+sjf easy+wfp3+history first-fit+saf+ratio conservative+sjf+history";
    for (document, cpus, names) in [(ONE, 4, of_one), (&fleet, 12, "easy+sjf+history easy+wfp3")] {
        let workload = folder.write("w.yaml", document);
        let log = folder.write("log.swf", &swf(&all, cpus));
        for name in words(names) {
            let file = folder.path_string("p.json");
            run_ok!("{workload} --family {name} -o {file}");
            run_ok!("check {file}");
            let csv = folder.path_string("jobs.csv");
            run_ok!("replay {log} --policies {file} --measure all --jobs {csv}");
            let replayed = start_times(&csv);
            let replayed = replayed.iter().map(|start| start.parse().unwrap());
            let replayed: Vec<f64> = replayed.collect();
            let policy = Checked::read(file.as_ref()).unwrap();
            let starts = start_times_in_scheduler(&policy, &all);
            let waits = starts.iter().zip(&all);
            let waits = waits.filter(|(start, job)| **start > f64::from(job.0));
            assert!(waits.count() > 50, "{name}");
            assert_eq!(replayed, starts, "{name}");
        }
    }
}

/// The learned values must be stored in the journal, so that the next bridge can use them.
#[test]
fn a_bridge_orders_held_jobs_and_stores_what_it_learns() {
    let (folder, fake) = (Folder::new(), FakeSlurm::new());
    let workload = folder.write("w.yaml", ONE);
    let [policy, journal] = folder.paths(["p.json", "journal.jsonl"]);
    run_ok!("{workload} --family easy+sjf+history -o {policy}");
    let bridge = |until: &str| {
        let options = format!("--poll 50ms --journal {journal} --until {until}");
        let typed = format!("bridge slurm --partition synth {options} {policy}");
        let mut command = fake.command(&typed);
        command.env("TMPDIR", fake.folder());
        command
    };
    let whole = |id: &str, limit: &str, more: &[(&str, &str)]| {
        let own = [
            ("JobArrayID", id),
            ("TimeLimit", limit),
            ("NumTasks", "4"),
            ("tres-alloc", "cpu=4,mem=10M,node=1,billing=4"),
        ];
        job(&[more, &own].concat())
    };
    let others = whole("17", "10:00", &[]) + &whole("19", "5:00", &[]);
    fake.queue(&(others.clone() + &whole("18", "1:00", &[])));
    let child = bridge("4s")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    fake.assert_calls(&["release 18"]);
    let runs = [
        ("StateCompact", "R"),
        ("Reason", "None"),
        ("PriorityLong", "1"),
        ("NodeList", "n1"),
    ];
    fake.queue(&(others.clone() + &whole("18", "1:00", &runs)));
    std::thread::sleep(std::time::Duration::from_millis(500));
    fake.queue(&others);
    fake.assert_calls(&["release 18", "release 19"]);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(code(&ended), 0, "{}", stderr(&ended));
    let text = read_text(&journal);
    for part in [
        "\"limit\":60.0,\"user\":\"ann\"",
        "\"more\":true",
        "\n{\"learned\":{\"limited\":",
    ] {
        assert_contains(&text, part);
    }
    assert_eq!(code(&bridge("300ms").output().unwrap()), 0);
    let text = read_text(&journal);
    let heads = text.lines().filter(|line| line.starts_with("{\"policy\""));
    let learned: Vec<bool> = heads.map(|line| line.contains("\"learned\"")).collect();
    assert_eq!(learned, [false, true]);
    let replayed = run_ok!("bridge --replay {journal} {policy}");
    assert_contains(&stdout(&replayed), "the same as before");
    let asked = run_ok!("bridge --replay {journal} {policy} --why 17");
    assert_contains(&stdout(&asked), "as `whole`: it is the next job.");
}
