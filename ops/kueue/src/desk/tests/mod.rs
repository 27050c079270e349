#![allow(clippy::unwrap_used)]

mod jobs;
mod servers;

use serde_json::{Value, json};

use super::*;
use crate::cluster::Machine;
use crate::view::{GATES, MARK, Owner, TYPE, Work};
use clap::Parser;
use kube::api::DynamicObject;

const GATE: &str = "synth/gate";

struct Scene {
    desk: Desk,
    cluster: Cluster,
    now: f64,
}

fn policy(name: &str) -> (Checked, String) {
    let path = format!(
        "{}/../../tests/conformance/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let vector: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let policy = Checked::parse(&vector["artifact"].to_string(), name).unwrap();
    (policy, "d".into())
}

fn amounts(written: Value) -> synth_operator::Amounts {
    crate::amounts::amounts(&written)
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
            desk: Desk::of(policy(name), None, &setup).unwrap(),
            cluster: Cluster::default(),
            now: 0.0,
        }
    }

    fn one_server(options: &[&str]) -> Self {
        let mut scene = Scene::new("first-fit", options);
        scene.server(20, true);
        scene
    }

    fn server(&mut self, cpus: u64, is_open: bool) {
        let capacity = json!({"cpu": cpus, "memory": "15Gi", "example.com/net": 50});
        self.machine("n1", capacity, is_open);
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
        let workload: DynamicObject = serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "s", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner, "controller": true}]},
            "spec": {"podSets": [{"count": pods, "template": {"spec": {"containers": [{"resources": {"requests": requests}}]}}}]},
            "status": {"conditions": conditions},
        })).unwrap();
        let metadata =
            serde_json::from_value(json!({"name": name, "uid": owner, "annotations": annotations}))
                .unwrap();
        self.cluster.works.insert(
            name.into(),
            Work::of_workload(&workload, "kueue.x-k8s.io/v1beta2", GATE),
        );
        self.cluster.owners.insert(
            owner.as_str().into(),
            Owner::new(&metadata, ("batch/v1", "Job"), GATE),
        );
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

    fn nodes(&self, job: &str) -> Vec<String> {
        self.desk.nodes.named(&self.desk.operator.jobs[job].servers)
    }

    fn holds(&self, job: &str, node: &str) -> bool {
        self.nodes(job).iter().any(|own| own == node)
    }

    fn look(&mut self) -> (Vec<String>, Vec<Concern>) {
        self.now += 1.0;
        let at = Timestamps {
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
        assert_eq!(notes, [], "no notes");
        released
    }
}

fn gated() -> Value {
    json!({GATES: GATE})
}

fn marked(nodes: &[&str]) -> Value {
    json!({MARK: json!({"gate": GATE, "policy": "d", "at": 1, "nodes": nodes}).to_string()})
}

/// Returns a job with 10 CPUs. Two of these jobs use the whole server.
fn wide() -> (u64, Value) {
    (
        2,
        json!({"cpu": 5, "memory": "512Mi", "example.com/net": 2}),
    )
}
