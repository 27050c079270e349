//! Tests with the log of a Slurm site. No part of the work may be lost.

use crate::common::*;
use crate::site;

fn log(change: impl Fn(&str) -> String) -> (Folder, String) {
    let folder = Folder::new();
    let text = site::sacct(1, 12_000, 28);
    let name = folder.write("sacct.txt", &change(&text));
    (folder, name)
}

#[test]
fn a_site_is_deterministic_for_a_seed() {
    let text = site::sacct(3, 500, 7);
    assert_eq!(text, site::sacct(3, 500, 7));
    assert_eq!(text.lines().count(), 501);
    let large = site::sacct(1, 12_000, 28);
    for part in words("|cpu| |bigmem| |gpu| node=24 gres/gpu:a100=16 |PENDING| |RUNNING| _19|") {
        assert!(large.contains(part), "{part}");
    }
}

/// If there is no column for the nodes, the smallest possible number of nodes is used.
#[test]
fn replays_gangs_of_a_log() {
    let count = |name: &str| {
        let servers = site::SERVERS;
        let options = "--policies first-fit --measure all";
        let run = run_ok!("replay {name} --servers '{servers}' {options}");
        let printed = all_output(&run);
        assert!(!printed.contains("larger than"), "{printed}");
        (stdout(&run), printed)
    };
    let (_folder, name) = log(str::to_owned);
    let (with, _) = count(&name);
    assert_contains(&with, "nodes 24");
    assert_contains(&with, "11540 jobs");
    let without = |text: &str| {
        let lines = text.lines().map(|line| {
            let cells = line.split('|').enumerate().filter(|(n, _)| *n != 11);
            let cells = cells.map(|(_, cell)| {
                let parts = cell.split(',').filter(|part| !part.starts_with("node="));
                parts.collect::<Vec<_>>().join(",")
            });
            cells.collect::<Vec<_>>().join("|") + "\n"
        });
        lines.collect()
    };
    let (_folder, name) = log(without);
    let (without, printed) = count(&name);
    assert_contains(&without, "11540 jobs");
    assert_contains(&(printed + &without), "number of servers");
}

#[test]
fn rejects_work_that_does_not_fit_on_a_server() {
    let (folder, name) = log(str::to_owned);
    let few = "--servers '20xcpu=64,memory=256;8xcpu=64,memory=512,gpu=4'";
    let output = folder.path_string("made");
    for verb in [
        format!("fit {name} {few} -o {output}"),
        format!("replay {name} {few} --policies easy,first-fit"),
        format!("replay {name} {few} --policies easy"),
        format!("judge {name} {few}"),
    ] {
        let refused = run_expecting_code(2, &verb);
        let printed = all_output(&refused);
        for part in [
            "% of the work are larger than the servers",
            "with the most work, line ",
            "--servers (Slurm: sinfo",
            "--read faults=",
        ] {
            assert_contains(&printed, part);
        }
        assert!(!std::path::Path::new(&output).exists());
    }
    let replayed = run_ok!("replay {name} {few} --policies first-fit --read faults=20%");
    assert_contains(&stdout(&replayed), "larger than the servers");
}
