use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::DynamicObject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::objects::{demand, holds, items};
use synth_operator::Amounts;

/// The annotation that contains the gates. Kueue does not admit a job that has a gate.
pub const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
/// The annotation that records who has removed the gate. It is called the mark.
pub const MARK: &str = "synth/released";
pub const TYPE: &str = "synth/type";
/// The label of the Jobs that are handled with `--mode suspend`.
pub const POLICY: &str = "synth/policy";

pub type Uid = Arc<str>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub uid: Uid,
}

impl Reference {
    pub fn called(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }

    pub fn key(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }
}

/// The mark that is set when a gate is removed, with the data for the next controller.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Mark {
    pub gate: String,
    /// The digest of the policy, which is empty if no policy made the decision.
    pub policy: String,
    /// The time of the removal \[s since 1970\].
    pub at: i64,
    /// In a fleet, the nodes that were chosen by the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
}

/// An object that can have a gate: a job, a set of jobs, or a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owner {
    pub own: Reference,
    pub gates: String,
    pub mark: Option<Mark>,
    pub labels: BTreeMap<String, String>,
    pub parent: Option<Uid>,
    pub version: String,
    /// Whether the gate is `spec.suspend`.
    pub is_suspended: bool,
}

impl Owner {
    pub fn new(metadata: &ObjectMeta, (api_version, kind): (&str, &str), gate: &str) -> Self {
        let annotations = metadata.annotations.as_ref();
        let read = |name: &str| annotations.and_then(|all| all.get(name));
        let mark = read(MARK).and_then(|text| serde_json::from_str(text).ok());
        Owner {
            own: Reference {
                api_version: api_version.into(),
                kind: kind.into(),
                namespace: metadata.namespace.clone().unwrap_or_default(),
                name: metadata.name.clone().unwrap_or_default(),
                uid: metadata.uid.as_deref().unwrap_or_default().into(),
            },
            gates: read(GATES).cloned().unwrap_or_default(),
            mark: mark.filter(|mark: &Mark| mark.gate == gate),
            labels: metadata.labels.clone().unwrap_or_default(),
            parent: controller(metadata).map(|own| own.uid),
            version: metadata.resource_version.clone().unwrap_or_default(),
            is_suspended: false,
        }
    }

    fn gates(&self) -> impl Iterator<Item = &str> {
        let gates = self.gates.split(',').map(str::trim);
        gates.filter(|own| !own.is_empty())
    }

    pub fn has(&self, gate: &str) -> bool {
        self.gates().any(|own| own == gate)
    }

    /// Returns the other gates as they are written in the annotation.
    pub fn without(&self, gate: &str) -> String {
        let others = self.gates().filter(|own| *own != gate);
        others.collect::<Vec<_>>().join(",")
    }
}

/// Returns the controller, or all owners if there is none, as for a group of pods.
fn owners(metadata: &ObjectMeta) -> Vec<Reference> {
    let mut all: Vec<_> = metadata.owner_references.iter().flatten().collect();
    if all.iter().any(|own| own.controller == Some(true)) {
        all.retain(|own| own.controller == Some(true));
    }
    let references = all.into_iter().map(|own| Reference {
        api_version: own.api_version.clone(),
        kind: own.kind.clone(),
        namespace: metadata.namespace.clone().unwrap_or_default(),
        name: own.name.clone(),
        uid: own.uid.as_str().into(),
    });
    references.collect()
}

pub fn controller(metadata: &ObjectMeta) -> Option<Reference> {
    owners(metadata).into_iter().next()
}

/// A Workload, or a Job with `--mode suspend`.
#[derive(Clone, Debug, Default)]
pub struct Work {
    pub itself: Owner,
    /// The objects that were submitted and have the gate. This is empty if it is the object itself.
    pub owners: Vec<Reference>,
    /// \[s since 1970\]
    pub created: i64,
    pub queue: String,
    pub class: String,
    /// The number of pods at the same time, their total demand, and the maximum demand of a pod.
    pub pods: u64,
    pub all: Amounts,
    pub each: Amounts,
    pub limit: Option<f64>,
    pub is_finished: bool,
    pub is_active: bool,
    /// The time at which capacity was reserved \[s since 1970\].
    pub reserved: Option<i64>,
    pub is_evicted: bool,
}

impl Work {
    fn named(metadata: &ObjectMeta, kind: (&str, &str), gate: &str) -> Self {
        let created = metadata.creation_timestamp.as_ref();
        Work {
            itself: Owner::new(metadata, kind, gate),
            owners: owners(metadata),
            created: created.map_or(0, |time| time.0.as_second()),
            is_active: metadata.deletion_timestamp.is_none(),
            ..Work::default()
        }
    }

    fn add(&mut self, pods: u64, demand: &Amounts) {
        self.pods += pods;
        self.all.add(&demand.times(pods));
        self.each = std::mem::take(&mut self.each).most(demand);
    }

    /// Reads a Workload. The priority class is not in the same place in v1beta1 and v1beta2.
    pub fn of_workload(workload: &DynamicObject, api_version: &str, gate: &str) -> Self {
        let spec = &workload.data["spec"];
        let class = spec["priorityClassRef"]["name"].as_str();
        let class = class.or(spec["priorityClassName"].as_str());
        let reserved = holds(workload, "QuotaReserved").or_else(|| holds(workload, "Admitted"));
        let mut work = Work::named(&workload.metadata, (api_version, "Workload"), gate);
        work.queue = spec["queueName"].as_str().unwrap_or_default().to_owned();
        work.class = class.unwrap_or_default().to_owned();
        work.limit = spec["maximumExecutionTimeSeconds"].as_f64();
        for set in items(&spec["podSets"]) {
            let count = set["count"].as_u64().unwrap_or(1);
            work.add(count, &demand(&set["template"]["spec"]));
        }
        work.is_finished = holds(workload, "Finished").is_some();
        work.is_active &= spec["active"].as_bool().unwrap_or(true);
        work.reserved = reserved.map(|own| seconds(&own["lastTransitionTime"]));
        work.is_evicted = holds(workload, "Evicted").is_some();
        work
    }

    /// Reads a Job. It has a gate while it is suspended.
    pub fn of_job(job: &DynamicObject, gate: &str) -> Self {
        let spec = &job.data["spec"];
        let is_suspended = spec["suspend"] == true;
        let mut work = Work::named(&job.metadata, ("batch/v1", "Job"), gate);
        work.owners.clear();
        let gates = if is_suspended { gate } else { "" };
        (work.itself.gates, work.itself.is_suspended) = (gates.into(), is_suspended);
        work.limit = spec["activeDeadlineSeconds"].as_f64();
        let pods = spec["parallelism"].as_u64().unwrap_or(1);
        let pods = spec["completions"].as_u64().unwrap_or(pods).min(pods);
        work.add(pods, &demand(&spec["template"]["spec"]));
        let ends = ["Complete", "Failed"];
        work.is_finished = ends.iter().any(|end| holds(job, end).is_some());
        work.reserved = (!is_suspended).then(|| seconds(&job.data["status"]["startTime"]));
        work
    }

    pub fn submitted(&self) -> &Reference {
        self.owners.first().unwrap_or(&self.itself.own)
    }

    pub fn called(&self) -> String {
        self.submitted().called()
    }

    pub fn uid(&self) -> &Uid {
        &self.itself.own.uid
    }
}

/// Parses a time \[s since 1970\]. If it is missing, the current time is used.
fn seconds(time: &Value) -> i64 {
    let time: Option<Timestamp> = time.as_str().and_then(|text| text.parse().ok());
    time.unwrap_or_else(Timestamp::now).as_second()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The job has ended, or will not start.
    Gone,
    /// The job has the gate of the policy and other gates.
    Held,
    /// The job only has the gate of the policy.
    Waiting,
    /// The gate was removed, but no capacity is reserved yet.
    Released,
    Running,
    /// The gate was removed, but the job was evicted and has no capacity.
    Evicted,
    /// The job is waiting, but it never had the gate of the policy, or others have removed it.
    Foreign,
}

#[derive(Clone, Debug)]
pub struct View<'a> {
    pub work: &'a Work,
    pub owners: Vec<&'a Owner>,
    pub phase: Phase,
}

impl<'a> View<'a> {
    pub fn new(work: &'a Work, known: &'a HashMap<Uid, Owner>, gate: &str) -> Self {
        let owners = work.owners.iter().filter_map(|own| known.get(&own.uid));
        let mut owners: Vec<_> = owners.collect();
        if work.owners.is_empty() {
            owners.push(&work.itself);
        }
        View {
            phase: phase(work, &owners, gate),
            work,
            owners,
        }
    }

    pub fn mark(&self) -> Option<&'a Mark> {
        self.owners.iter().find_map(|own| own.mark.as_ref())
    }

    pub fn label(&self, name: &str) -> Option<&'a str> {
        let mut labels = self.owners.iter().filter_map(|own| own.labels.get(name));
        labels.next().map(String::as_str)
    }

    pub fn gated(&self, gate: &str) -> impl Iterator<Item = &'a Owner> {
        let owners = self.owners.iter().copied();
        owners.filter(move |own| own.has(gate))
    }
}

fn phase(work: &Work, owners: &[&Owner], gate: &str) -> Phase {
    if work.is_finished {
        return Phase::Gone;
    }
    if work.reserved.is_some() {
        return Phase::Running;
    }
    if !work.is_active || owners.is_empty() {
        return Phase::Gone;
    }
    let is_ours = owners.iter().any(|own| own.has(gate));
    let is_others = owners.iter().any(|own| !own.without(gate).is_empty());
    let is_marked = owners.iter().any(|own| own.mark.is_some());
    match (is_ours, is_others, is_marked) {
        // Only some pods of a group were released, or a single job was suspended again.
        (true, _, true) if owners.len() > 1 => Phase::Released,
        (true, _, true) => Phase::Evicted,
        (true, true, false) => Phase::Held,
        (true, false, false) => Phase::Waiting,
        (false, false, true) if !work.is_evicted => Phase::Released,
        (false, _, true) => Phase::Evicted,
        (false, _, false) => Phase::Foreign,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    const GATE: &str = "synth/gate";

    fn metadata(annotations: Value) -> ObjectMeta {
        let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": true}]);
        serde_json::from_value(
            json!({"name": "w", "uid": "w", "annotations": annotations, "ownerReferences": owner}),
        )
        .unwrap()
    }

    fn phase_of(spec: Value, conditions: &[&str], annotations: Value) -> Phase {
        let conditions = conditions.iter();
        let conditions = conditions.map(|own| json!({"type": own, "status": "True"}));
        let conditions: Vec<Value> = conditions.collect();
        let workload: DynamicObject = serde_json::from_value(json!({"metadata": metadata(json!({})), "spec": spec, "status": {"conditions": conditions}})).unwrap();
        let work = Work::of_workload(&workload, "kueue.x-k8s.io/v1beta2", GATE);
        let owner = Owner::new(&metadata(annotations), ("batch/v1", "Job"), GATE);
        let owners = HashMap::from([("u".into(), owner)]);
        View::new(&work, &owners, GATE).phase
    }

    #[test]
    fn determines_the_phase() {
        let mark = json!({"gate": GATE, "policy": "p", "at": 1}).to_string();
        let (ours, with_others) = (json!({GATES: GATE}), json!({GATES: "a/b, synth/gate"}));
        let (marked, both) = (json!({MARK: mark}), json!({MARK: mark, GATES: GATE}));
        let others = json!({MARK: mark.replace(GATE, "x/y")});
        let of = |conditions: &[&str], annotations: &Value| {
            phase_of(json!({}), conditions, annotations.clone())
        };
        assert_eq!(of(&[], &ours), Phase::Waiting);
        assert_eq!(of(&[], &with_others), Phase::Held);
        assert_eq!(of(&[], &json!({GATES: "a/b"})), Phase::Foreign);
        assert_eq!(of(&[], &json!({})), Phase::Foreign);
        assert_eq!(of(&[], &marked), Phase::Released);
        assert_eq!(of(&[], &others), Phase::Foreign, "the mark of another gate");
        assert_eq!(of(&["Evicted"], &marked), Phase::Evicted);
        assert_eq!(
            of(&["Evicted", "QuotaReserved"], &marked),
            Phase::Running,
            "until its pods are gone"
        );
        assert_eq!(of(&[], &both), Phase::Evicted, "gated again");
        assert_eq!(of(&["QuotaReserved"], &ours), Phase::Running);
        assert_eq!(of(&["Finished", "QuotaReserved"], &marked), Phase::Gone);
        assert_eq!(
            phase_of(json!({"active": false}), &[], ours.clone()),
            Phase::Gone
        );
    }

    #[test]
    fn workloads_without_owners_are_gone() {
        let workload: DynamicObject =
            serde_json::from_value(json!({"metadata": metadata(json!({GATES: GATE})), "spec": {}}))
                .unwrap();
        let work = Work::of_workload(&workload, "kueue.x-k8s.io/v1beta2", GATE);
        assert_eq!(View::new(&work, &HashMap::new(), GATE).phase, Phase::Gone);
    }

    #[test]
    fn suspended_jobs_are_gated() {
        let job = |suspend: bool| -> Work {
            let job = json!({"metadata": {"name": "j", "uid": "u"}, "spec": {"suspend": suspend, "parallelism": 4, "completions": 3,
                "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": 2}}}]}}}});
            Work::of_job(&serde_json::from_value(job).unwrap(), GATE)
        };
        let phase = |work: &Work| View::new(work, &HashMap::new(), GATE).phase;
        assert_eq!(phase(&job(true)), Phase::Waiting);
        assert_eq!(phase(&job(false)), Phase::Running);
        assert_eq!(job(true).pods, 3);
        assert_eq!(job(true).all.get("cpu"), 6_000_000_000);
    }

    #[test]
    fn removes_only_its_own_gate() {
        let owner = |gates: &str| Owner {
            gates: gates.into(),
            ..Owner::default()
        };
        assert_eq!(owner("a/b, synth/gate ,c/d").without(GATE), "a/b,c/d");
        assert_eq!(owner(GATE).without(GATE), "");
        assert!(!owner("synth/gate2,x").has(GATE));
    }
}
