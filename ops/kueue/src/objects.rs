//! What is read of the API's objects: the few fields that count here, under the names that they have there.

use std::collections::BTreeMap;

use kube::core::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amounts::amounts;
use synth_operator::Amounts;

/// A Workload of Kueue.
pub type WorkloadObject = Object<WorkloadSpec, WorkloadStatus>;
/// A Job of batch/v1.
pub type JobObject = Object<JobSpec, JobStatus>;
/// A Pod.
pub type PodObject = Object<PodSpec, PodStatus>;
/// A Node.
pub type NodeObject = Object<NodeSpec, NodeStatus>;

/// Declares an object's part: all fields may be missing.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize, Serialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    )*};
}

parts! {
    /// Of a Workload.
    WorkloadSpec {
        /// Groups of equal pods.
        pod_sets: Vec<PodSet>,
        /// Its LocalQueue.
        queue_name: Option<String>,
        /// Its class in v1beta2…
        priority_class_ref: Option<PriorityClass>,
        /// …and in v1beta1.
        priority_class_name: Option<String>,
        /// Deactivated where false.
        active: Option<bool>,
        /// What it runs at most \[s\].
        maximum_execution_time_seconds: Option<f64>,
    }
    /// Of a Workload.
    PriorityClass {
        /// Its name.
        name: String,
    }
    /// Of a Workload.
    PodSet {
        /// How many.
        count: Option<u64>,
        /// Each of them.
        template: PodTemplate,
    }
    /// Of a Workload or a Job.
    PodTemplate {
        /// The pod.
        spec: PodSpec,
    }
    /// Of a Workload.
    WorkloadStatus {
        /// What it is.
        conditions: Vec<Condition>,
    }
    /// Of any object.
    Condition {
        /// What.
        r#type: String,
        /// `True`, `False` or `Unknown`.
        status: String,
        /// Since when.
        last_transition_time: Option<String>,
    }
    /// Of a Job.
    JobSpec {
        /// Pods at once.
        parallelism: Option<u64>,
        /// Pods that have to succeed.
        completions: Option<u64>,
        /// Whether no pod is started.
        suspend: bool,
        /// What it runs at most \[s\].
        active_deadline_seconds: Option<f64>,
        /// Each pod.
        template: PodTemplate,
    }
    /// Of a Job.
    JobStatus {
        /// What it is.
        conditions: Vec<Condition>,
        /// Since when it runs.
        start_time: Option<String>,
    }
    /// Of a Pod.
    PodSpec {
        /// Its containers.
        containers: Vec<Container>,
        /// Those that run before.
        init_containers: Vec<Container>,
        /// What its runtime takes.
        overhead: BTreeMap<String, Value>,
        /// Where it runs.
        node_name: Option<String>,
    }
    /// Of a Pod.
    Container {
        /// What it takes.
        resources: Requirements,
        /// `Always` where one that runs before goes on.
        restart_policy: Option<String>,
    }
    /// Of a container.
    Requirements {
        /// At least.
        requests: BTreeMap<String, Value>,
        /// At most.
        limits: BTreeMap<String, Value>,
    }
    /// Of a Pod.
    PodStatus {
        /// Where it stands.
        phase: Option<String>,
    }
    /// Of a Node.
    NodeSpec {
        /// Whether nothing new is started.
        unschedulable: bool,
    }
    /// Of a Node.
    NodeStatus {
        /// What pods can have.
        allocatable: BTreeMap<String, Value>,
        /// What it is.
        conditions: Vec<Condition>,
    }
}

impl Requirements {
    /// Returns what is requested: what is limited only is requested, too.
    fn amounts(&self) -> Amounts {
        let mut all = self.limits.clone();
        all.extend(self.requests.clone());
        amounts(&all)
    }
}

impl PodSpec {
    /// Returns what a pod takes, as the kube-scheduler counts it: the most that it has at once.
    pub fn demand(&self) -> Amounts {
        let mut beside = Amounts::default();
        let mut before = Amounts::default();
        for container in &self.init_containers {
            let own = container.resources.amounts();
            let at_once = beside.clone().plus(&own);
            before = before.most(&at_once);
            if container.restart_policy.as_deref() == Some("Always") {
                beside = at_once;
            }
        }
        let containers = self.containers.iter();
        let running = containers.fold(beside, |sum, own| sum.plus(&own.resources.amounts()));
        running.most(&before).plus(&amounts(&self.overhead))
    }
}

/// Returns a condition that holds, if it does.
pub fn holds<'a>(conditions: &'a [Condition], name: &str) -> Option<&'a Condition> {
    let mut conditions = conditions.iter();
    conditions.find(|own| own.r#type == name && own.status == "True")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::amounts::NANO;
    use serde_json::json;

    #[test]
    fn a_pod_takes_the_most_that_it_has_at_once() {
        let cpus = |n: &str| json!({"resources": {"requests": {"cpu": n}}});
        let mut sidecar = cpus("1");
        sidecar["restartPolicy"] = json!("Always");
        let pod: PodSpec = serde_json::from_value(json!({
            "initContainers": [cpus("9"), sidecar, cpus("2")],
            "containers": [cpus("3"), {"resources": {"limits": {"cpu": 4, "nvidia.com/gpu": "1"}}}],
            "overhead": {"cpu": "500m"},
        }))
        .unwrap();
        // 9 before; then 1 beside 3 + 4; and the overhead at any time.
        assert_eq!(pod.demand().get("cpu"), 19 * NANO / 2);
        assert_eq!(pod.demand().get("nvidia.com/gpu"), NANO);
        let pod = PodSpec {
            init_containers: Vec::new(),
            ..pod
        };
        assert_eq!(pod.demand().get("cpu"), 15 * NANO / 2);
    }
}
