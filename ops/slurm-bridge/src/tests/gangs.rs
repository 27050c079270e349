use super::{SERVER, amounts, fleet, job, map};
use crate::journal::{self, JournalRecord};
use crate::setup::Setup;
use crate::survey::without_type;
use crate::types::untyped;
use crate::watch::Watch;
use std::time::Instant;
use synth_make::synthesis::{Analysed, SynthesisOptions, SynthesisOutcome};
use synth_multiresource::artifact::{Checked, Preemption};
use synth_operator::protocol::{Line, Started};
use synth_operator::{Operator, Round, Timestamps};
use synth_slurm::commands::{Hold, JobKey, JobState, QueueRow, SlurmQueue, Unread};

const GANGS: &str = "kind: multiresource\ntime_unit: s\nservers:
  - {name: node, count: 5, capacity: {cpu: 20, memory: 14}}
jobs:
  - {name: small, demand: {cpu: 1, memory: 1}, arrival_rate: .01, mean_size: 1}
  - {name: pair, nodes: 2, demand: {cpu: 10, memory: 7}, arrival_rate: .01, mean_size: 1}
  - {name: four, nodes: 4, demand: {cpu: 20, memory: 14}, arrival_rate: .01, mean_size: 1}\n";

/// A job with this minimum and maximum number of nodes and this total number of CPUs and GiB.
fn gang([nodes, most_nodes]: [u32; 2], cpus: u64, gib: u64) -> QueueRow {
    QueueRow {
        nodes,
        most_nodes,
        ..job(cpus, gib << 10)
    }
}

#[test]
fn gangs_get_the_cheapest_type_with_enough_nodes() {
    let nodes = "servers: {node: [\"n[1-5]\"]}";
    let types = map(GANGS, nodes).unwrap();
    let of = |nodes, cpus, gib| types.find(&gang(nodes, cpus, gib));
    assert_eq!(of([1, 1], 1, 1), Ok(0));
    assert_eq!(of([2, 2], 20, 14), Ok(1));
    assert_eq!(of([2, 2], 21, 14), Ok(2), "one node needs 11");
    assert_eq!((of([3, 3], 3, 3), of([4, 4], 80, 56)), (Ok(2), Ok(2)));
    assert_eq!(of([5, 5], 5, 5), Err(untyped::GANG));
    assert_eq!(of([2, 2], 42, 2), Err(untyped::GANG));
    // No type with one node fits, but if Slurm can choose the number of nodes, another type fits.
    assert_eq!(of([1, 1], 20, 2), Err(untyped::DEMAND));
    assert_eq!(of([1, 2], 20, 2), Ok(1));
    let per_node = |memory_gib: u64| {
        types.find(&QueueRow {
            per_node: amounts(0, memory_gib << 10),
            ..gang([1, 2], 20, 2)
        })
    };
    assert_eq!((per_node(7), per_node(8)), (Ok(1), Ok(2)));
    let mut exclusive = gang([2, 2], 2, 2);
    exclusive.is_exclusive = true;
    assert_eq!(types.find(&exclusive), Ok(2));
    let mut alone = job(1, 1);
    alone.is_exclusive = true;
    assert_eq!(types.find(&alone), Err(untyped::EXCLUSIVE));
    let text =
        format!("{nodes}\ntypes: [{{name: four, match: [{{qos: \"n*\"}}]}}, {{name: small}}]");
    let rules = map(GANGS, &text).unwrap();
    assert_eq!(rules.find(&gang([2, 2], 2, 2)), Ok(2));
    assert_eq!(rules.find(&gang([1, 1], 1, 1)), Ok(0));
    let (four, three) = (
        "nodes: 4, demand: {cpu: 20, memory: 14}",
        "nodes: 3, demand: {cpu: 10, memory: 7}",
    );
    assert!(map(&GANGS.replace(four, three), nodes).is_ok());
    let one = map(SERVER, "").unwrap();
    assert_eq!(one.find(&gang([2, 2], 2, 2)), Err(untyped::ONE_SERVER));
    let mut pool = one;
    pool.is_pooled = true;
    let found = pool.find(&gang([2, 2], 8, 1));
    assert_eq!(found, Ok(3), "all nodes are one server");
    assert_eq!(pool.find(&gang([2, 2], 21, 1)), Err(untyped::DEMAND));
}

#[derive(clap::Parser)]
struct Typed {
    #[command(flatten)]
    setup: Setup,
}

fn watch() -> Watch {
    let fleet = fleet(GANGS);
    let options = SynthesisOptions::new(Preemption::None);
    let outcome = Analysed::of_fleet(&fleet, &options).unwrap();
    let SynthesisOutcome::Policy(analysed) = outcome else {
        panic!("a policy");
    };
    let policy = Checked::check(analysed.partitioned(&fleet).unwrap().artifact).unwrap();
    let operator = Operator::new((policy, "d".into()), 1, "which cannot be").unwrap();
    let map = map(GANGS, "servers: {node: [\"n[1-5]\"]}").unwrap();
    let setup = <Typed as clap::Parser>::parse_from(["synth"]).setup;
    Watch::new(operator, map, &setup)
}

fn told(watch: &mut Watch, rows: &[&QueueRow]) -> Vec<Line> {
    let at = Timestamps {
        now: 10.0,
        wall: 100,
    };
    watch.look(&table(rows), None, at);
    let told = watch.operator.decide(at.now, Instant::now()).0.told;
    told.into_iter().filter(|line| line.job.is_some()).collect()
}

fn table(rows: &[&QueueRow]) -> SlurmQueue {
    SlurmQueue {
        rows: rows.iter().copied().cloned().collect(),
        unread: Unread {
            count: 0,
            known: Vec::new(),
            example: None,
        },
    }
}

#[test]
fn gangs_are_placed_and_recognized_after_a_restart() {
    let mut first = watch();
    let three = gang([3, 3], 30, 3);
    let found = told(&mut first, &[&three]);
    assert_eq!(found[0].arrive.as_deref(), Some("four"));
    let servers = ["node/2", "node/3", "node/4", "node/5"].map(String::from);
    let start = Started::On([&[three.key.to_string()], &servers[..]].concat());
    let queue = table(&[&three]);
    let (_, sent) = first.release(&start, &queue, 11.0).unwrap();
    assert_eq!(&sent.0[..], &["n2", "n3", "n4"].map(String::from)[..]);
    assert_eq!(sent.1, Some(10));
    assert_eq!(first.release(&start, &queue, 11.0), None, "once");
    // If a job was requeued, its nodes were chosen by the policy and not by its owner.
    let mut named = three.clone();
    named.names_nodes = true;
    assert_eq!(first.find(&named), Ok(2));
    assert_eq!(watch().find(&named), Err(untyped::OWN_NODES));

    // For another bridge, the job is placed by the journal at first, and later by its nodes.
    let mut next = watch();
    next.placed = first.placed.clone();
    let mut released = named.clone();
    (released.hold, released.reason) = (Hold::None, "Priority".into());
    let found = told(&mut next, &[&released]);
    assert_eq!(found[0].adopt.as_deref(), Some("four"));
    assert_eq!(&found[0].servers[..], &servers[..]);
    let mut last = watch();
    let runs = QueueRow {
        state: JobState::Running,
        hold: Hold::None,
        node_list: "n[2-4]".into(),
        ..named
    };
    let mut other = job(1, 1);
    (other.key.id, other.state, other.hold) =
        ("18".parse().unwrap(), JobState::Running, Hold::None);
    other.node_list = "n1".into();
    let found = told(&mut last, &[&other, &runs]);
    let is_gang = |line: &&Line| line.adopt.as_deref() == Some("four");
    let adopted = found.iter().find(is_gang).unwrap();
    assert_eq!(adopted.servers, servers, "the fourth server is idle");
    let elsewhere = QueueRow {
        node_list: "n[2-3],x".into(),
        ..runs
    };
    assert!(told(&mut watch(), &[&elsewhere]).is_empty());
}

#[test]
fn reports_untyped_jobs_with_their_work() {
    let watch = watch();
    let limited = |row: QueueRow, id: &str, limit| QueueRow {
        key: JobKey {
            submitted: 0,
            id: id.parse().unwrap(),
        },
        time_limit: Some(limit),
        ..row
    };
    let rows = [
        limited(gang([5, 5], 60, 5), "1", 600),
        limited(job(4, 1), "2", 600),
        limited(job(1, 1), "3", 3600),
    ];
    let note = without_type(&watch, &table(&rows.each_ref())).unwrap();
    let is_told = note.starts_with("warning: 2 of 3 jobs, with 91.4 % of the work (CPUs × limit), have no type: they are passed to Slurm immediately")
            && note.contains("\n  1 with 5.7 %: no type fits\n")
            && note.contains("\n  1 with 85.7 %: several nodes are requested, and no type");
    assert!(is_told, "{note}");
    assert_eq!(without_type(&watch, &table(&[&rows[2]])), None);
}

#[test]
fn journals_record_placed_jobs() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("journal");
    let started = |words: &[&str]| {
        let words = words.iter().map(ToString::to_string);
        Started::On(words.collect())
    };
    let round = Round {
        start: vec![
            started(&["17@5", "node/1", "node/2"]),
            started(&["4_3@7", "node/3"]),
        ],
        ..Round::default()
    };
    let (mut written, before) = journal::open(&file).unwrap();
    assert!(before.placed.is_empty());
    for round in [Round::default(), round] {
        journal::write(&mut written, &JournalRecord::Round(round)).unwrap();
    }
    let placed = journal::open(&file).unwrap().1.placed;
    assert_eq!(placed.len(), 2);
    let servers = |key: &str| placed[&key.parse().unwrap()].servers();
    assert_eq!(servers("17@5"), ["node/1", "node/2"]);
    assert_eq!(servers("4_3@7"), ["node/3"]);
}
