//! The gate is on the object that was submitted. The pods of a set are two steps away, and the pods
//! of a group share a Workload that has no controller.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, DynamicObject, ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::api::{
    create, done, job_sets, object, owner, pod, set_conditions, site, workload, workloads,
};
use crate::jobs::{GATES, OURS};
use crate::processes::Controllers;
use crate::{NODES, Trial};

const SITE: &str = "owners";
const PODS: usize = 4;

struct Place {
    client: Client,
    sets: Api<DynamicObject>,
    works: Api<DynamicObject>,
    pods: Api<Pod>,
}

/// Runs two gangs on all nodes, and a third gang that waits. Returns the faults.
pub async fn run(trial: &Trial, client: &Client) -> Vec<String> {
    site(client, SITE, NODES).await;
    let place = Place {
        client: client.clone(),
        sets: job_sets(client, SITE),
        works: workloads(client, SITE),
        pods: Api::namespaced(client.clone(), SITE),
    };
    let mut controllers = Controllers::start(trial, SITE);
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str| {
        println!("{} {what}", if holds { "yes:" } else { "NO: " });
        faults.extend((!holds).then(|| what.to_owned()));
    };
    place.submit_set("set").await;
    place.submit_group().await;
    let (of_set, of_group) = (place.set_nodes("set").await, place.group_nodes().await);
    check(of_set.is_some(), "the set loses its gate");
    check(of_group.is_some(), "all pods of the group lose their gates");
    for name in ["set", "group"] {
        set_conditions(&place.works, name, "QuotaReserved Admitted").await;
    }
    place.start_set(&of_set.unwrap_or_default()).await;
    place.start_group(&of_group.unwrap_or_default()).await;
    place.submit_set("late").await;
    sleep(Duration::from_secs(5)).await;
    for when in ["while others run", "after a restart of the controller"] {
        let late = place.sets.get("late").await.ok();
        let gates = late.and_then(|own| own.annotations().get(GATES).cloned());
        check(
            gates.as_deref() == Some(OURS),
            &format!("the third gang keeps its gate {when}"),
        );
        let counts = controllers.metrics(0, &["type=\"gang4\"", "disagreements"]);
        let is = |own: &str, text: &str| own.starts_with("synth_kueue_jobs") && own.ends_with(text);
        let has = |text: &str| counts.iter().any(|own| is(own, text));
        check(
            has("state=\"running\"} 2") && has("state=\"waiting\"} 1"),
            &format!("two run and one waits {when}"),
        );
        check(
            !counts.iter().any(|own| own.contains("disagreements")),
            "no job ran elsewhere",
        );
        controllers.again(0);
        sleep(Duration::from_secs(12)).await;
    }
    let now = DeleteParams::default().grace_period(0);
    let group = ListParams::default().labels("kueue.x-k8s.io/pod-group-name=group");
    done(|| place.pods.delete_collection(&now, &group)).await;
    set_conditions(&place.works, "group", "QuotaReserved Admitted Finished").await;
    check(
        place.set_nodes("late").await.is_some(),
        "the third gang loses its gate when the group has ended",
    );
    println!("{}", controllers.end());
    faults
}

fn spec() -> Value {
    pod([8, 32])
}

async fn uid<K>(api: &Api<K>, name: &str) -> Option<String>
where
    K: Clone + Debug + DeserializeOwned + ResourceExt,
{
    done(|| api.get(name)).await.and_then(|own| own.uid())
}

async fn found<T>(ask: impl AsyncFn() -> Option<T>) -> Option<T> {
    for _ in 0..300 {
        if let Some(found) = ask().await {
            return Some(found);
        }
        sleep(Duration::from_millis(100)).await;
    }
    None
}

/// Returns the nodes that were chosen by the policy, if the gate was removed.
fn nodes(own: &impl ResourceExt) -> Option<Vec<String>> {
    let all = own.annotations();
    let mark: Value = serde_json::from_str(all.get("synth/released")?).ok()?;
    let nodes = mark["nodes"].as_array()?.iter().filter_map(Value::as_str);
    (!all.contains_key(GATES)).then(|| nodes.map(str::to_owned).collect())
}

impl Place {
    async fn work(&self, name: &str, owners: Vec<Value>) {
        let template = json!({"spec": spec()});
        let work = workload(name, Some(OURS), owners, PODS, template);
        create(&self.works, &work).await;
    }

    async fn submit_set(&self, name: &str) {
        let set: DynamicObject = object(json!({
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": name, "annotations": {GATES: OURS}, "labels": {"kueue.x-k8s.io/queue-name": "all"}},
            "spec": {"replicatedJobs": [{"name": "main", "replicas": 1, "template": {"spec": {"parallelism": PODS, "template": {"spec": spec()}}}}]},
        }));
        create(&self.sets, &set).await;
        self.work(name, vec![self.set(name).await]).await;
    }

    async fn set(&self, name: &str) -> Value {
        let uid = uid(&self.sets, name).await;
        owner("jobset.x-k8s.io/v1alpha2", "JobSet", name, uid)
    }

    async fn submit_group(&self) {
        let mut owners = Vec::new();
        for name in (0..PODS).map(|n| format!("group-{n}")) {
            let pod: Pod = object(json!({
                "metadata": {"name": name, "annotations": {GATES: OURS}, "labels": {"kueue.x-k8s.io/pod-group-name": "group"}},
                "spec": spec(),
            }));
            create(&self.pods, &pod).await;
            let uid = uid(&self.pods, &name).await;
            owners.push(json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}));
        }
        self.work("group", owners).await;
    }

    async fn set_nodes(&self, name: &str) -> Option<Vec<String>> {
        found(async || nodes(&self.sets.get(name).await.ok()?)).await
    }

    async fn group_nodes(&self) -> Option<Vec<String>> {
        let group = ListParams::default().labels("kueue.x-k8s.io/pod-group-name=group");
        let ask = async || {
            let pods = self.pods.list(&group).await.ok()?.items;
            let all: Vec<_> = pods.iter().map(nodes).collect::<Option<_>>()?;
            all.into_iter().next().filter(|_| pods.len() == PODS)
        };
        found(ask).await
    }

    /// Creates a Job of the set and its pods, as JobSet and the Job controller do.
    async fn start_set(&self, nodes: &[String]) {
        let jobs: Api<Job> = Api::namespaced(self.client.clone(), SITE);
        let job: Job = object(json!({
            "metadata": {"name": "set-main-0", "ownerReferences": [self.set("set").await]},
            "spec": {"parallelism": PODS, "completions": PODS, "template": {"spec": spec()}},
        }));
        create(&jobs, &job).await;
        let uid = uid(&jobs, "set-main-0").await;
        let owner = owner("batch/v1", "Job", "set-main-0", uid);
        for (n, node) in nodes.iter().enumerate() {
            let mut spec = spec();
            spec["nodeName"] = json!(node);
            let pod: Pod = object(
                json!({"metadata": {"name": format!("set-{n}"), "ownerReferences": [owner]}, "spec": spec}),
            );
            create(&self.pods, &pod).await;
        }
    }

    async fn start_group(&self, nodes: &[String]) {
        for (n, node) in nodes.iter().enumerate() {
            let name = format!("group-{n}");
            let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": node}});
            let params = PostParams::default();
            let pods = &self.pods;
            let bound = pods.create_subresource::<_, Value>("binding", &name, &params, &binding);
            if let Err(why) = bound.await {
                println!("{name} has no node: {why}");
            }
        }
    }
}
