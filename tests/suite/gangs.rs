//! These tests run jobs with several nodes on a real Slurm.

use std::collections::BTreeMap;
use std::time::Duration;

use synth::slurm::{Hold, JobState, QueueRow};

use crate::bridge::{BridgeProcess, assert_replay_matches, bridge, log, policy_folder, queue};
use crate::cluster::real_slurm;
use crate::common::*;

const GANGS: &str = "{kind: multiresource, time_unit: s,
  servers: [{name: node, count: 2, capacity: {cpu: 16}}], jobs: [
  {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 2},
  {name: gang, nodes: 2, demand: {cpu: 16}, arrival_rate: .05, mean_size: 2}]}";

/// A gang must only be released when both nodes are free, even if the bridge is killed. A cancelled
/// gang must not block other jobs.
#[test]
fn gangs_start_when_all_of_their_nodes_are_free() {
    let Some(cluster) = real_slurm() else { return };
    let dir = policy_folder(GANGS, "--preemption none");
    let types = dir.write("types.yaml", "servers: {node: [n3, n4]}\n");
    let metrics = dir.path_string("bridge.prom");
    let options = format!("--partition fleet --types {types}");
    let start = || {
        let options = format!("{options} --metrics {metrics}");
        BridgeProcess::start(&dir, &cluster, &options)
    };
    let submit = |seconds: f64, options: &str| cluster.submit("fleet", seconds, options);
    for _ in 0..3 {
        submit(2.0, "-n 1");
    }
    // These gangs request 16 CPUs on each of two nodes in different ways.
    let gangs = [
        submit(1.0, "-N 2 -n 32"),
        submit(1.0, "-n 32 --ntasks-per-node=16"),
        submit(1.0, "-n 32"),
        submit(1.0, "-N 2 -n 4 --exclusive"),
    ];
    // Slurm would use all CPUs of one node.
    let even = submit(1.0, "-N 2 -n 20");
    let no_type = submit(0.5, "-N 2 -n 40");
    let dry_run = format!("{options} --dry-run");
    let mut planned = bridge(&dir, &cluster.configuration(), &dry_run);
    let planned = planned.output().unwrap();
    let table = stdout(&planned);
    assert_eq!(code(&planned), 0, "{table}{}", stderr(&planned));
    assert!(table.starts_with("warning: 1 of 9 jobs, with "), "{table}");
    assert_contains(&table, "several nodes are requested");
    let released = format!("no type      1     0   {no_type}\n");
    assert!(table.contains(&released), "{table}");
    assert!(table.contains("gang         5     0"), "{table}");
    cluster.run(&format!("scancel {no_type}"));

    let mut running = Some(start());
    // A released job always fits: the jobs on a node never need more than the policy has.
    let looked = |rows: &[QueueRow]| {
        let is_gang = |row: &&QueueRow| row.nodes > 1;
        let is_out = |row: &&QueueRow| row.hold == Hold::None;
        let gangs = rows.iter().filter(is_gang).filter(is_out).count();
        let others = rows.iter().filter(is_out).count() - gangs;
        let all = || cluster.run("squeue -a");
        let is_alone = gangs == 0 || gangs == 1 && others == 0;
        assert!(is_alone, "{}\n{}", all(), log(&dir));
        gangs
    };
    let mut ended = 0;
    let mut killed = 0;
    let mut last = None;
    cluster.wait("all gangs are running", || {
        let rows = queue(&cluster, "fleet");
        looked(&rows);
        let mut own = rows.iter();
        let own = own.find(|row| row.state == JobState::Running && row.nodes > 1);
        if let Some(own) = own
            && last != Some(own.key)
        {
            last = Some(own.key);
            ended += 1;
            if own.key.id.to_string() == even {
                let nodes = cluster.slurm("fleet").nodes().unwrap().rows;
                let used = nodes.iter().map(|node| node.allocated.get("cpu"));
                assert_eq!(used.collect::<Vec<_>>(), [10, 10]);
            }
            // The bridge is killed while the first, the third and the last gang are running.
            if ended % 2 == 1 {
                submit(0.5, "-n 1");
                drop(running.take());
                running = Some(start());
                killed += 1;
            }
        }
        rows.is_empty()
    });
    assert_eq!((ended, killed), (gangs.len() + 1, 3), "{}", log(&dir));

    // If a node is drained, only the jobs that fit on the other node can start.
    cluster.set_state("n4", "drain");
    cluster.wait("the node is drained", || log(&dir).contains("node n4 is"));
    let cancelled = submit(1.0, "-N 2 -n 32");
    let gang = submit(1.0, "-N 2 -n 32");
    let small = submit(0.5, "-n 1");
    cluster.wait("the small job ends", || {
        cluster.row("fleet", &small).is_none()
    });
    let held = |id: &str| {
        cluster
            .row("fleet", id)
            .is_some_and(|row| row.hold == Hold::User)
    };
    assert!(held(&cancelled) && held(&gang), "{}", log(&dir));
    is_whole(&read_text(&metrics));
    cluster.run(&format!("scancel {cancelled}"));
    cluster.set_state("n4", "resume");
    cluster.wait("the other gang is running", || {
        cluster.row("fleet", &gang).is_none()
    });
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(running.unwrap().end(), Some(0), "{}", log(&dir));
    assert_replay_matches(&dir);
}

fn is_whole(text: &str) {
    let mut kinds: BTreeMap<String, String> = BTreeMap::new();
    let mut values: BTreeMap<String, f64> = BTreeMap::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let [word, name, what] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            match word {
                "HELP" => assert!(!kinds.contains_key(name) && !what.is_empty(), "{line}"),
                "TYPE" => {
                    assert!(["counter", "gauge"].contains(&what), "{line}");
                    assert_eq!(what == "counter", name.ends_with("_total"), "{line}");
                    assert!(kinds.insert(name.into(), what.into()).is_none(), "{line}");
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap();
        let is_name = |text: &str| {
            let is_rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.chars().all(is_rest)
        };
        assert!(is_name(name) && kinds.contains_key(name), "{line}");
        assert!(name.starts_with("synth_bridge_"), "{line}");
        let mut rest = labels.strip_suffix('}').unwrap();
        while !rest.is_empty() {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let mut is_escaped = false;
            let end = after.find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            let end = end.unwrap();
            rest = &after[end + 1..];
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        let value: f64 = value.parse().unwrap();
        let is_new = values.insert(series.into(), value).is_none();
        assert!(is_new, "duplicate line: {line}");
    }
    let of = |series: &str| {
        let series = series.replace("{", "{partition=\"fleet\",");
        values[&format!("synth_bridge_{}", series.replace(",}", "}"))]
    };
    let gangs = |state: &str| of(&format!("jobs{{type=\"gang\",state=\"{state}\"}}"));
    assert_eq!((gangs("waiting"), gangs("running")), (2.0, 0.0), "{text}");
    assert_eq!(of("jobs_without_type{state=\"waiting\"}"), 0.0);
    assert!(of("releases_total{type=\"small\"}") >= 1.0);
    assert!(of("decisions_total{}") <= of("rounds_total{}"));
    let last_decision = of("last_decision_timestamp_seconds{}");
    assert!(of("last_round_timestamp_seconds{}") >= last_decision);
}
