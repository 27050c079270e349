//! When jobs will start, end to end.

use std::fmt::Write as _;

use super::fake_slurm::{Fake, job};
use crate::common::*;

/// So many jobs of four users on 16 processors, whose limits are three times what they run; without limits and users, too.
fn log(count: u64, tells: bool) -> String {
    let mut text = String::from("; MaxProcs: 16\n");
    let (mut state, mut submit) = (7_u64, 0);
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    for n in 1..=count {
        submit += below(1000);
        let (size, processors) = (60 + below(2400), 1 << below(4));
        let (limit, user) = match tells {
            true => ((3 * size).to_string(), below(4).to_string()),
            false => ("-1".into(), "-1".into()),
        };
        writeln!(
            text,
            "{n} {submit} -1 {size} {processors} -1 -1 -1 {limit} -1 1 {user} -1 -1 -1 -1 -1 -1"
        )
        .unwrap();
    }
    text
}

#[test]
fn forecasts_are_scored_on_a_log_with_a_map() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log(500, true));
    let document = folder.name("f.json");
    let run = works(&format!(
        "forecast {file} --policy easy+saf --map -o {document}"
    ));
    let printed = stdout(&run);
    for words in [
        "nine of ten",
        "without calibration",
        "under easy+saf",
        "limit ",
    ] {
        has(&printed, words);
    }
    let found = folder.json("f.json");
    let record = &found["record"];
    let counted = record["forecasts"].as_u64().unwrap() as usize;
    assert_eq!(found["forecasts"].as_array().unwrap().len(), counted);
    assert!(record["error"].as_f64() < record["error_by_limits"].as_f64());
    assert!(found["map"]["cells"].as_array().unwrap().len() > 1);
    // The same again, and with another seed.
    let again = |seed: u32| {
        works(&format!(
            "forecast {file} --policy easy+saf --map --seed {seed} -o {document}"
        ));
        folder.json("f.json")
    };
    assert_eq!(again(1), found);
    assert_ne!(again(2), found);
}

#[test]
fn what_a_log_does_not_tell_is_said() {
    let folder = Folder::new();
    let bare = folder.write("bare.swf", &log(300, false));
    let run = works(&format!("forecast {bare} --policy easy+fcfs"));
    has(&stdout(&run), "no limits that could be taken for run times");
    has(
        &stderr(&run),
        "lengths are drawn from how long jobs of the same user ran",
    );
    has(&stderr(&run), "The log tells no users");
    let idle = folder.write(
        "idle.swf",
        "; MaxProcs: 4\n1 0 -1 5 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n",
    );
    has(
        &stdout(&works(&format!("forecast {idle}"))),
        "nothing to score",
    );
    let full = folder.write("log.swf", &log(50, true));
    has(&stderr(&works(&format!("forecast {full}"))), "are few");
    for (typed, words) in [
        ("--policy server-filling", "stops jobs"),
        ("--policy esy", "did you mean"),
        ("--policy easy:1", "sizes"),
        ("--every 0", "0 is not in"),
        ("--partition batch", "write `synth forecast slurm"),
    ] {
        fails(&format!("forecast {full} {typed}"), words);
    }
}

/// Of jobs that wait in a partition it is said when, or why not.
#[test]
fn jobs_of_a_partition_have_a_row_or_a_reason() {
    let (fake, folder) = (Fake::new(), Folder::new());
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
    fake.queue(
        &[
            with("11", &runs),
            with("12", &[("tres-alloc", "cpu=4,node=1")]),
            with("13", &[("tres-alloc", "cpu=8,node=1")]),
            with("14", &[("tres-alloc", "cpu=64,node=1")]),
            with("15", &[("Dependency", "afterok:11(unfulfilled)")]),
            with("16", &[("EligibleTime", "2100-01-01T00:00:00")]),
            job(&[("JobArrayID", "17")]),
        ]
        .concat(),
    );
    let past = folder.write("past.swf", &log(300, true));
    let run = |typed: &str| {
        let mut command = command(typed);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", fake.folder().display()));
        let output = command.output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output
    };
    let bare = run("forecast slurm --partition synth");
    has(&stderr(&bare), "There is no log of past jobs");
    for words in [
        "14 (ann): never",
        "15 (ann): waits for other jobs",
        "16 (ann): has a begin time",
        "17 (ann): held: its owner can release it",
    ] {
        has(&stdout(&bare), words);
    }
    // Behind a job without a limit nobody knows when the second starts; with a past lengths are drawn from it.
    has(&stdout(&bare), "nobody knows");
    let printed = stdout(&run(&format!(
        "forecast slurm --partition synth --log {past}"
    )));
    has(
        &printed.replace('\n', " "),
        "forecasts on the log of the past under easy",
    );
    let row = printed
        .lines()
        .find(|line| line.trim_start().starts_with("13"));
    has(row.unwrap(), "UTC, in");
}
