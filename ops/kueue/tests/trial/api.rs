use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, Node};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::jobs::GATES;

/// Repeats a request until it succeeds. Returns `None` if the object is missing, already exists or
/// was changed.
pub async fn done<T, F>(mut request: impl FnMut() -> F) -> Option<T>
where
    F: Future<Output = kube::Result<T>>,
{
    loop {
        match timeout(Duration::from_secs(5), request()).await {
            Ok(Ok(done)) => return Some(done),
            Ok(Err(kube::Error::Api(status))) if matches!(status.code, 404 | 409 | 422) => {
                return None;
            }
            _ => sleep(Duration::from_millis(200)).await,
        }
    }
}

pub async fn create<K: Clone + Debug + DeserializeOwned + Serialize>(api: &Api<K>, own: &K) {
    let params = PostParams::default();
    done(|| api.create(&params, own)).await;
}

pub async fn change<K: Clone + Debug + DeserializeOwned>(api: &Api<K>, name: &str, change: Value) {
    let (params, patch) = (PatchParams::default(), Patch::Merge(change));
    done(|| api.patch(name, &params, &patch)).await;
}

/// Sets the conditions of an object. If a name starts with `!`, the condition is false.
pub async fn set_conditions<K>(api: &Api<K>, name: &str, conditions: &str)
where
    K: Clone + Debug + DeserializeOwned,
{
    let of = |word: &str| {
        let (name, status) = match word.strip_prefix('!') {
            Some(name) => (name, "False"),
            None => (word, "True"),
        };
        let time = format!("{:.0}", Timestamp::now());
        json!({"type": name, "status": status, "reason": "StandIn", "lastTransitionTime": time})
    };
    let conditions: Vec<Value> = conditions.split(' ').map(of).collect();
    let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
    let params = PatchParams::default();
    done(|| api.patch_status(name, &params, &patch)).await;
}

pub async fn replace_gates(api: &Api<Job>, name: &str, before: Option<&str>, gates: &str) {
    let path = format!("/metadata/annotations/{}", GATES.replace('/', "~1"));
    let test = before.map(|own| json!({"op": "test", "path": path, "value": own}));
    let replace = json!({"op": "replace", "path": path, "value": gates});
    let steps: Vec<Value> = test.into_iter().chain([replace]).collect();
    let (params, patch) = (
        PatchParams::default(),
        Patch::Json::<()>(object(json!(steps))),
    );
    done(|| api.patch(name, &params, &patch)).await;
}

pub fn pod([gpus, cores]: [i64; 2]) -> Value {
    let [gpus, cores] = [gpus, cores].map(|own| own.to_string());
    let resources = json!({"requests": {"nvidia.com/gpu": gpus, "cpu": cores}, "limits": {"nvidia.com/gpu": gpus}});
    let container = json!({"name": "main", "image": "none", "resources": resources});
    json!({"restartPolicy": "Never", "containers": [container]})
}

pub fn owner(api_version: &str, kind: &str, name: &str, uid: Option<String>) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true})
}

pub fn workload(
    name: &str,
    gates: Option<&str>,
    owners: Vec<Value>,
    pods: usize,
    template: Value,
) -> DynamicObject {
    object(json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "annotations": gates.map(|own| json!({GATES: own})), "ownerReferences": owners},
        "spec": {"queueName": "all", "podSets": [{"name": "main", "count": pods, "template": template}]},
    }))
}

pub fn object<K: DeserializeOwned>(written: Value) -> K {
    serde_json::from_value(written).expect("an object of the API")
}

pub fn workloads(client: &Client, namespace: &str) -> Api<DynamicObject> {
    objects(client, namespace, ["kueue.x-k8s.io", "v1beta2", "Workload"])
}

pub fn job_sets(client: &Client, namespace: &str) -> Api<DynamicObject> {
    objects(client, namespace, ["jobset.x-k8s.io", "v1alpha2", "JobSet"])
}

fn objects(client: &Client, namespace: &str, kind: [&str; 3]) -> Api<DynamicObject> {
    let [group, version, kind] = kind;
    let kind = GroupVersionKind::gvk(group, version, kind);
    Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind))
}

/// Defines the kinds of Kueue and JobSet that are needed, without validation.
pub async fn kinds(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for (group, version, kind, scope) in [
        ("kueue", "v1beta2", "Workload", "Namespaced"),
        ("kueue", "v1beta2", "LocalQueue", "Namespaced"),
        ("kueue", "v1beta2", "ClusterQueue", "Cluster"),
        ("kueue", "v1beta2", "ResourceFlavor", "Cluster"),
        ("jobset", "v1alpha2", "JobSet", "Namespaced"),
    ] {
        let singular = kind.to_lowercase();
        let plural = format!("{singular}s");
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = object(json!({
            "metadata": {"name": format!("{plural}.{group}.x-k8s.io")},
            "spec": {
                "group": format!("{group}.x-k8s.io"),
                "scope": scope,
                "names": {"kind": kind, "plural": plural, "singular": singular},
                "versions": [{"name": version, "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema}}],
            },
        }));
        create(&definitions, &definition).await;
    }
    // A kind is not served immediately after it was defined.
    for kind in [workloads(client, "default"), job_sets(client, "default")] {
        while kind.list(&Default::default()).await.is_err() {
            sleep(Duration::from_millis(200)).await;
        }
    }
}

pub async fn site(client: &Client, name: &str, nodes: usize) {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = object(json!({"metadata": {"name": name}}));
    create(&namespaces, &namespace).await;
    let api: Api<Node> = Api::all(client.clone());
    for n in 0..nodes {
        let node = object(json!({
            "metadata": {"name": format!("{name}-{n}"), "labels": {"site": name}},
            "status": {
                "allocatable": {"cpu": "64", "nvidia.com/gpu": "8", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }));
        create(&api, &node).await;
    }
}
