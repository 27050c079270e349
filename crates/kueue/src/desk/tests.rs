//! A cluster written by hand, and what the desk makes of it. No API, no clock.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::amounts::Amounts;
use crate::cluster::Machine;
use crate::objects::WorkloadObject;
use crate::view::{GATES, MARK, Owner, Reference, TYPE, Work};
use clap::Parser;

const GATE: &str = "synth/gate";

/// The desk of a policy among the conformance vectors, and a cluster.
struct Scene {
    desk: Desk,
    cluster: Cluster,
    now: f64,
}

fn policy(name: &str) -> Checked {
    let path = format!(
        "{}/../../tests/conformance/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let vector: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    Checked::parse(&vector["artifact"].to_string(), name).unwrap()
}

fn amounts(written: Value) -> Amounts {
    Amounts::of(&serde_json::from_value(written).unwrap())
}

impl Scene {
    fn new(name: &str, options: &[&str]) -> Self {
        let fixed = [
            "synth-kueue",
            "policy.json",
            "--resource",
            "network=example.com/net",
        ];
        let fixed = if name.starts_with("fleet") {
            &fixed[..2]
        } else {
            &fixed[..]
        };
        let setup = Setup::parse_from(fixed.iter().chain(options));
        Scene {
            desk: Desk::of(policy(name), "d".into(), None, &setup).unwrap(),
            cluster: Cluster::default(),
            now: 0.0,
        }
    }

    fn one_server(options: &[&str]) -> Self {
        let mut scene = Scene::new("first-fit", options);
        scene.machine(
            "n1",
            json!({"cpu": 20, "memory": "15Gi", "example.com/net": 50}),
            true,
        );
        scene
    }

    fn fleet() -> Self {
        let mut scene = Scene::new("fleet-gangs-easy", &[]);
        for n in 1..=4 {
            scene.machine(&format!("big-{n}"), json!({"nvidia.com/gpu": 8}), true);
        }
        scene.machine("small-1", json!({"nvidia.com/gpu": 4}), true);
        scene.machine("small-2", json!({"nvidia.com/gpu": 4}), true);
        scene
    }

    fn machine(&mut self, name: &str, capacity: Value, is_open: bool) {
        self.cluster.machines.insert(
            name.into(),
            Machine {
                capacity: amounts(capacity),
                is_open,
            },
        );
    }

    /// A job as the API has it: its owner's annotations, conditions that hold, pods, and what each takes.
    fn job(
        &mut self,
        name: &str,
        annotations: Value,
        conditions: &[&str],
        (pods, requests): (u64, Value),
    ) {
        let owner = format!("o-{name}");
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|own| json!({"type": own, "status": "True"}))
            .collect();
        let workload: WorkloadObject = serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "s", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner, "controller": true}]},
            "spec": {"podSets": [{"count": pods, "template": {"spec": {"containers": [{"resources": {"requests": requests}}]}}}]},
            "status": {"conditions": conditions},
        })).unwrap();
        let metadata = serde_json::from_value(json!({"annotations": annotations})).unwrap();
        self.cluster.works.insert(
            name.into(),
            Work::of_workload(&workload, "kueue.x-k8s.io/v1beta2", GATE),
        );
        self.cluster
            .owners
            .insert(owner.as_str().into(), Owner::new(&metadata, GATE));
    }

    fn gang(&mut self, name: &str, annotations: Value, conditions: &[&str]) {
        self.job(
            name,
            annotations,
            conditions,
            (3, json!({"nvidia.com/gpu": 8})),
        );
    }

    fn pod(&mut self, job: &str, node: &str, demand: Value) {
        let uid = format!("{job}@{node}");
        let pod = Placed {
            node: node.into(),
            demand: amounts(demand),
            parent: Some(format!("o-{job}").as_str().into()),
            workload: None,
        };
        self.cluster.pods.insert(uid.as_str().into(), pod);
    }

    /// Looks a second later: what is released, and what is noted.
    fn look(&mut self) -> (Vec<String>, Vec<Concern>) {
        self.now += 1.0;
        let at = Moment {
            now: self.now,
            wall: 1_767_225_600 + self.now as i64,
        };
        let round = self.desk.look(&self.cluster, at);
        let released = round.releases.iter().map(|own| own.job.to_string());
        (
            released.collect(),
            round.notes.iter().map(|own| own.concern).collect(),
        )
    }

    fn released(&mut self) -> Vec<String> {
        let (released, notes) = self.look();
        assert_eq!(notes, [], "nothing is noted");
        released
    }
}

fn gated() -> Value {
    json!({GATES: GATE})
}

fn marked(nodes: &[&str]) -> Value {
    json!({MARK: json!({"gate": GATE, "policy": "d", "at": 1, "nodes": nodes}).to_string()})
}

/// 10 CPUs: two of them fill the server.
fn wide() -> (u64, Value) {
    (
        2,
        json!({"cpu": 5, "memory": "512Mi", "example.com/net": 2}),
    )
}

#[test]
fn a_job_starts_when_another_has_ended() {
    let mut scene = Scene::one_server(&[]);
    for name in ["a", "b", "c"] {
        scene.job(name, gated(), &[], wide());
    }
    assert_eq!(scene.released(), ["a", "b"]);
    assert_eq!(scene.released(), [""; 0], "the API has not answered yet");
    for name in ["a", "b"] {
        scene.desk.released(&name.into(), true);
        scene.job(name, marked(&[]), &[], wide());
    }
    assert_eq!(
        scene.released(),
        [""; 0],
        "room is taken from the release on"
    );
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.job("a", marked(&[]), &["QuotaReserved", "Finished"], wide());
    assert_eq!(scene.released(), ["c"]);
}

#[test]
fn who_begins_takes_over_what_the_api_says() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &[], wide());
    scene.job("c", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(scene.desk.counts()[2], [1, 2]);
    scene.cluster.works.remove("b");
    assert_eq!(scene.released(), ["c"]);
}

#[test]
fn a_release_that_failed_is_decided_again() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", gated(), &[], wide());
    assert_eq!(scene.released(), ["a"]);
    scene.desk.released(&"a".into(), false);
    assert_eq!(scene.released(), ["a"]);
    scene.desk.released(&"a".into(), true);
    scene.now += 40.0;
    assert_eq!(scene.released(), ["a"], "the API never showed it");
    scene.desk.released(&"a".into(), false);
    scene.job("a", json!({GATES: "a/b,synth/gate"}), &[], wide());
    assert_eq!(scene.look(), (vec![], vec![Concern::OtherGates]));
    assert_eq!(scene.desk.jobs.len(), 0);
}

#[test]
fn an_evicted_job_leaves_its_room_and_is_adopted_again() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &["QuotaReserved"], wide());
    scene.job("c", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.job("b", marked(&[]), &["Evicted"], wide());
    assert_eq!(scene.look(), (vec!["c".into()], vec![Concern::Evicted]));
    scene.desk.released(&"c".into(), true);
    scene.job("c", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(
        scene.desk.counts()[2],
        [0, 3],
        "Kueue has admitted one beyond the policy's room"
    );
}

#[test]
fn what_others_release_is_adopted_and_noted() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.job("b", marked(&[]), &["QuotaReserved"], wide());
    scene.job("c", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.job("c", json!({}), &[], wide());
    assert_eq!(scene.look(), (vec![], vec![Concern::ReleasedByOthers]));
    scene.job("c", json!({}), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    assert_eq!(scene.desk.counts()[2], [0, 3]);
}

#[test]
fn a_job_without_a_type_stays_or_goes() {
    let huge = || (1, json!({"cpu": 21}));
    let mut scene = Scene::one_server(&[]);
    scene.job("x", gated(), &[], huge());
    assert_eq!(scene.look(), (vec![], vec![Concern::NoType]));
    assert_eq!(scene.released(), [""; 0], "said once");
    let mut scene = Scene::one_server(&["--unknown", "release"]);
    scene.job("x", gated(), &[], huge());
    assert_eq!(scene.look(), (vec!["x".into()], vec![Concern::NoType]));
    assert_eq!(scene.released(), [""; 0]);
}

#[test]
fn a_group_of_pods_is_released_whole() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", gated(), &[], wide());
    let owner = |name: &str| Reference {
        api_version: "v1".into(),
        kind: "Pod".into(),
        name: name.into(),
        uid: name.into(),
    };
    scene.cluster.works.get_mut("a").unwrap().owners = vec![owner("p"), owner("q")];
    let pod = |annotations: Value| {
        Owner::new(
            &serde_json::from_value(json!({"annotations": annotations})).unwrap(),
            GATE,
        )
    };
    for name in ["p", "q"] {
        scene.cluster.owners.insert(name.into(), pod(gated()));
    }
    let at = |now: f64| Moment { now, wall: 0 };
    let round = scene.desk.look(&scene.cluster, at(1.0));
    assert_eq!(round.releases[0].owners.len(), 2);
    // The second request failed: the first pod has lost its gate.
    scene.cluster.owners.insert("p".into(), pod(marked(&[])));
    scene.desk.released(&"a".into(), false);
    let round = scene.desk.look(&scene.cluster, at(2.0));
    assert_eq!(round.releases.len(), 1);
    assert_eq!(&*round.releases[0].owners[0].0.name, "q");
    assert_eq!(
        scene.desk.look(&scene.cluster, at(3.0)).releases,
        [],
        "it is under way"
    );
    assert_eq!(scene.desk.counts()[2], [0, 1]);
}

#[test]
fn a_label_names_the_type() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", gated(), &[], (1, json!({"cpu": 1})));
    let owner: &str = "o-a";
    scene.cluster.owners.get_mut(owner).unwrap().labels =
        [(TYPE.to_owned(), "type-3".to_owned())].into();
    assert_eq!(scene.released(), ["a"]);
    assert_eq!(scene.desk.counts()[2], [0, 1]);
}

#[test]
fn what_others_use_is_not_the_policys() {
    let mut scene = Scene::one_server(&[]);
    scene.pod("other", "n1", json!({"cpu": "10500m"}));
    scene.job("a", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.pod("other", "n1", json!({"cpu": 10}));
    assert_eq!(scene.released(), ["a"]);
    // Its own pods count once.
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    scene.pod("a", "n1", json!({"cpu": 10}));
    scene.cluster.pods.remove("other@n1");
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), ["b"]);
}

#[test]
fn a_job_that_is_shut_out_keeps_no_other_waiting() {
    let mut scene = Scene::one_server(&[]);
    scene.pod("other", "n1", json!({"cpu": 15}));
    scene.job("a", gated(), &[], (1, json!({"cpu": 3, "memory": "6Gi"})));
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), ["a"]);
    assert!(scene.desk.scheduler.waits("b").unwrap().is_shut_out);
}

#[test]
fn a_closed_node_starts_nothing_and_loses_nothing() {
    let mut scene = Scene::one_server(&[]);
    scene.job("a", marked(&[]), &["QuotaReserved"], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.machine(
        "n1",
        json!({"cpu": 20, "memory": "15Gi", "example.com/net": 50}),
        false,
    );
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.look(), (vec![], vec![Concern::Capacity]));
    assert_eq!(scene.desk.counts()[2], [1, 1]);
    scene.machine(
        "n1",
        json!({"cpu": 20, "memory": "15Gi", "example.com/net": 50}),
        true,
    );
    assert_eq!(scene.look(), (vec!["b".into()], vec![Concern::Capacity]));
}

#[test]
fn a_gang_starts_on_whole_servers() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.gang("g", gated(), &[]);
    scene.gang("h", gated(), &[]);
    let round = scene
        .desk
        .look(&scene.cluster, Moment { now: 1.0, wall: 0 });
    scene.now = 1.0;
    assert_eq!(round.releases.len(), 1, "four servers, three for each gang");
    assert_eq!(round.releases[0].mark.nodes.len(), 3);
    assert!(
        round.releases[0]
            .mark
            .nodes
            .iter()
            .all(|node| node.starts_with("big"))
    );
}

#[test]
fn a_gang_runs_where_its_pods_are() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.gang(
        "g",
        marked(&["big-1", "big-2", "big-3"]),
        &["QuotaReserved"],
    );
    assert_eq!(scene.released(), [""; 0]);
    let servers = |scene: &Scene| scene.desk.site.nodes(&scene.desk.jobs["g"].servers);
    assert_eq!(
        servers(&scene),
        ["big-1", "big-2", "big-3"],
        "as its mark says"
    );
    scene.pod("g", "big-2", json!({"nvidia.com/gpu": 8}));
    scene.pod("g", "big-3", json!({"nvidia.com/gpu": 8}));
    assert_eq!(scene.released(), [""; 0], "one pod has no node yet");
    scene.pod("g", "big-4", json!({"nvidia.com/gpu": 8}));
    assert_eq!(scene.look(), (vec![], vec![Concern::Elsewhere]));
    assert_eq!(servers(&scene), ["big-2", "big-3", "big-4"]);
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), [""; 0], "three servers are not free");
    scene.cluster.works.remove("g");
    scene.cluster.pods.clear();
    assert_eq!(scene.released(), ["h"]);
}

#[test]
fn nothing_starts_where_a_gang_is_found() {
    let mut scene = Scene::fleet();
    scene.desk.check(&scene.cluster).unwrap();
    scene.gang(
        "g",
        marked(&["big-1", "big-2", "big-3"]),
        &["QuotaReserved"],
    );
    scene.gang("h", gated(), &[]);
    assert_eq!(scene.released(), [""; 0]);
    // One server of three is another one: were it to leave first, the other gang would start on the two.
    for node in ["big-2", "big-3", "big-4"] {
        scene.pod("g", node, json!({"nvidia.com/gpu": 8}));
    }
    assert_eq!(scene.look(), (vec![], vec![Concern::Elsewhere]));
}

#[test]
fn pods_that_end_later_than_their_job_keep_its_room() {
    let mut scene = Scene::one_server(&[]);
    scene.job(
        "a",
        marked(&[]),
        &["QuotaReserved"],
        (1, json!({"cpu": 15})),
    );
    scene.pod("a", "n1", json!({"cpu": 15}));
    scene.job("b", gated(), &[], wide());
    assert_eq!(scene.released(), [""; 0]);
    scene.cluster.works.remove("a");
    assert_eq!(scene.released(), [""; 0]);
    scene.cluster.pods.clear();
    assert_eq!(scene.released(), ["b"]);
}

#[test]
fn a_cluster_with_too_few_nodes_is_refused() {
    let mut scene = Scene::fleet();
    scene.cluster.machines.remove("big-3");
    let why = scene.desk.check(&scene.cluster).unwrap_err();
    assert!(
        why.contains("4 servers of the shape `node8`, and 3 of 5 nodes"),
        "{why}"
    );
    let mut scene = Scene::one_server(&[]);
    scene.machine(
        "n1",
        json!({"cpu": 16, "memory": "15Gi", "example.com/net": 50}),
        true,
    );
    let why = scene.desk.check(&scene.cluster).unwrap_err();
    assert!(why.contains("80 % of the policy's `cpu`"), "{why}");
}

#[test]
fn a_policy_that_preempts_is_refused() {
    let setup = Setup::parse_from(["synth-kueue", "p.json", "--resource", "network=net"]);
    let why = Desk::of(policy("msr-full"), "d".into(), None, &setup)
        .err()
        .unwrap();
    assert!(why.contains("--preemption none"), "{why}");
}

#[test]
fn ten_thousand_waiting_jobs_are_looked_at_once() {
    let mut scene = Scene::one_server(&[]);
    for n in 0..10_000 {
        scene.job(&format!("j{n:05}"), gated(), &[], wide());
    }
    assert_eq!(scene.released().len(), 2);
    let round = scene
        .desk
        .look(&scene.cluster, Moment { now: 2.0, wall: 2 });
    assert_eq!(round.events, 0, "what has not changed is not reported");
}
