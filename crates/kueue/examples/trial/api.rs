//! Requests that are repeated until the API server has carried them out, and what it is given at first.

use std::fmt::Debug;
use std::time::Duration;

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

/// Repeats a request until it is carried out; `None` where the object is not there, is there already, or is not what it was.
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

/// Makes an object, if it is not there.
pub async fn create<K: Clone + Debug + DeserializeOwned + Serialize>(api: &Api<K>, own: &K) {
    let params = PostParams::default();
    done(|| api.create(&params, own)).await;
}

/// Changes an object by a merge patch.
pub async fn change<K: Clone + Debug + DeserializeOwned>(api: &Api<K>, name: &str, change: Value) {
    let (params, patch) = (PatchParams::default(), Patch::Merge(change));
    done(|| api.patch(name, &params, &patch)).await;
}

/// Changes an object's status likewise.
pub async fn change_status<K: Clone + Debug + DeserializeOwned>(
    api: &Api<K>,
    name: &str,
    status: Value,
) {
    let (params, patch) = (
        PatchParams::default(),
        Patch::Merge(json!({"status": status})),
    );
    done(|| api.patch_status(name, &params, &patch)).await;
}

/// Reads an object of the API.
pub fn object<K: DeserializeOwned>(written: Value) -> K {
    serde_json::from_value(written).expect("an object of the API")
}

pub fn workloads(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("kueue.x-k8s.io", "v1beta2", "Workload");
    Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind))
}

pub fn job_sets(client: &Client, namespace: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("jobset.x-k8s.io", "v1alpha2", "JobSet");
    Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind))
}

pub fn condition(name: &str, holds: bool) -> Value {
    let status = if holds { "True" } else { "False" };
    json!({"type": name, "status": status, "reason": "StandIn", "lastTransitionTime": format!("{:.0}", Timestamp::now())})
}

/// Applies the kinds of Kueue and JobSet that count here, with nothing checked.
pub async fn kinds(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for (group, version, kind, plural, scope) in [
        ("kueue", "v1beta2", "Workload", "workloads", "Namespaced"),
        (
            "kueue",
            "v1beta2",
            "LocalQueue",
            "localqueues",
            "Namespaced",
        ),
        (
            "kueue",
            "v1beta2",
            "ClusterQueue",
            "clusterqueues",
            "Cluster",
        ),
        (
            "kueue",
            "v1beta2",
            "ResourceFlavor",
            "resourceflavors",
            "Cluster",
        ),
        ("jobset", "v1alpha2", "JobSet", "jobsets", "Namespaced"),
    ] {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = object(json!({
            "metadata": {"name": format!("{plural}.{group}.x-k8s.io")},
            "spec": {
                "group": format!("{group}.x-k8s.io"),
                "scope": scope,
                "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
                "versions": [{"name": version, "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema}}],
            },
        }));
        create(&definitions, &definition).await;
    }
    // A kind is served some time after it is defined.
    for kind in [workloads(client, "default"), job_sets(client, "default")] {
        while kind.list(&Default::default()).await.is_err() {
            sleep(Duration::from_millis(200)).await;
        }
    }
}

/// Makes a namespace with nodes of its own, eight GPUs and 64 cores each.
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
