use std::time::Duration;

use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::json;
use tokio::time::sleep;
use tracing::warn;

use crate::desk::Release;
use crate::lease::Leadership;
use crate::server::{Refused, Server, answer, resource};
use crate::view::{GATES, MARK, Mark, Owner};

#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The gate was removed and the mark was set.
    Done,
    /// The object was changed or deleted. Its current state is included if it is known.
    Changed(Vec<Owner>),
    /// The reason why the request was refused, or why its result is not known.
    Failed(String),
}

/// The pause after the first attempt. It is doubled after each attempt.
const FIRST: Duration = Duration::from_millis(200);
const ATTEMPTS: u32 = 7;

#[derive(Clone)]
pub struct Releaser {
    pub server: Server,
    /// This is `None` for `--release-all`, which ignores other replicas.
    pub leadership: Option<Leadership>,
    pub answer: Duration,
}

impl Releaser {
    pub async fn release(&self, release: &Release) -> Outcome {
        let mut changed = Vec::new();
        for owner in &release.owners {
            match self.remove(owner, &release.mark).await {
                Outcome::Done => {}
                Outcome::Changed(found) => changed.extend(found),
                failed => return failed,
            }
        }
        if changed.is_empty() && !release.owners.is_empty() {
            Outcome::Done
        } else {
            Outcome::Changed(changed)
        }
    }

    pub async fn remove(&self, owner: &Owner, mark: &Mark) -> Outcome {
        let own = &owner.own;
        let kind = resource(&own.api_version, &own.kind);
        let api: Api<DynamicObject> = self.server.objects(Some(&own.namespace), &kind);
        let (params, patch) = (PatchParams::default(), patch(owner, mark));
        let read_again = async || {
            let found = answer(self.answer, api.get_metadata_opt(&own.name)).await?;
            let found = found.filter(|found| found.metadata.uid.as_deref() == Some(&*own.uid));
            let kind = (&*own.api_version, &*own.kind);
            Ok::<_, Refused>(found.map(|found| Owner::new(&found.metadata, kind, &mark.gate)))
        };
        let (mut pause, mut last) = (FIRST, String::new());
        for _ in 0..ATTEMPTS {
            if self.leadership.as_ref().is_some_and(|own| !own.is_valid()) {
                last = "the Lease was not renewed in time: no more gates are removed".into();
                break;
            }
            let request = api.patch_metadata(&own.name, &params, &patch);
            match answer(self.answer, request).await {
                Ok(_) => return Outcome::Done,
                Err(why) if why.code == 404 => return Outcome::Changed(Vec::new()),
                // The test has failed, or the request was refused by a webhook.
                Err(why) if matches!(why.code, 409 | 422) => {
                    match read_again().await {
                        Err(why) => last = why.text,
                        Ok(None) => return Outcome::Changed(Vec::new()),
                        Ok(Some(now)) => {
                            // A previous request was successful, but its answer was lost.
                            if now.mark.as_ref() == Some(mark) && !now.has(&mark.gate) {
                                return Outcome::Done;
                            }
                            if now.gates != owner.gates || now.version != owner.version {
                                return Outcome::Changed(vec![now]);
                            }
                            last = why.text;
                        }
                    }
                }
                Err(why) => last = why.text,
            }
            if pause == FIRST {
                warn!(on = own.called(), why = last, "not released yet");
            }
            sleep(pause).await;
            pause *= 2;
        }
        Outcome::Failed(last)
    }
}

/// Returns an atomic request that tests whether the object was changed: by the resourceVersion of a
/// suspended Job, but by the value of a gate, because others often update the status.
fn patch(owner: &Owner, mark: &Mark) -> Patch<serde_json::Value> {
    let (uid, mark_text) = (&*owner.own.uid, json!(mark).to_string());
    if owner.is_suspended {
        return Patch::Merge(json!({
            "metadata": {"resourceVersion": owner.version, "uid": uid, "annotations": {MARK: mark_text}},
            "spec": {"suspend": false},
        }));
    }
    let pointer = |name: &str| format!("/metadata/annotations/{}", name.replace('/', "~1"));
    let rest = owner.without(&mark.gate);
    let gates = match rest.is_empty() {
        true => json!({"op": "remove", "path": pointer(GATES)}),
        false => json!({"op": "replace", "path": pointer(GATES), "value": rest}),
    };
    let steps = json!([
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "test", "path": pointer(GATES), "value": owner.gates},
        gates,
        {"op": "add", "path": pointer(MARK), "value": mark_text},
    ]);
    Patch::Json(serde_json::from_value(steps).expect("these are steps of a JSON patch"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    use std::sync::{Arc, Mutex};

    use crate::server::locked;
    use crate::server::tests::{fake, refusal};
    use crate::view::Reference;

    const GATE: &str = "synth/gate";

    fn mark() -> Mark {
        Mark {
            gate: GATE.into(),
            policy: "p".into(),
            at: 7,
            nodes: vec!["n1".into()],
        }
    }

    fn job() -> Reference {
        Reference {
            api_version: "batch/v1".into(),
            kind: "Job".into(),
            namespace: "s".into(),
            name: "j".into(),
            uid: "u".into(),
        }
    }

    fn sent(owner: &Owner) -> serde_json::Value {
        match patch(owner, &mark()) {
            Patch::Json(patch) => json!(patch),
            Patch::Merge(patch) => patch,
            _ => unreachable!(),
        }
    }

    #[test]
    fn removes_gates_in_one_request_with_a_test() {
        let mark = r#"{"at":7,"gate":"synth/gate","nodes":["n1"],"policy":"p"}"#;
        let gates = "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by";
        let owner = |gates: &str| Owner {
            own: job(),
            gates: gates.into(),
            ..Owner::default()
        };
        assert_eq!(
            sent(&owner("synth/gate")),
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "u"},
                {"op": "test", "path": gates, "value": "synth/gate"},
                {"op": "remove", "path": gates},
                {"op": "add", "path": "/metadata/annotations/synth~1released", "value": mark},
            ])
        );
        let replaced = json!({"op": "replace", "path": gates, "value": "a/b"});
        assert_eq!(
            sent(&owner("synth/gate, a/b"))[2],
            replaced,
            "other gates stay"
        );
        let job = Owner {
            own: job(),
            is_suspended: true,
            version: "9".into(),
            ..Owner::default()
        };
        let expected = json!({"metadata": {"resourceVersion": "9", "uid": "u", "annotations": {MARK: mark}}, "spec": {"suspend": false}});
        assert_eq!(sent(&job), expected);
    }

    /// Removes a gate on an API server that returns these answers. The last answer is repeated.
    async fn removed(answers: &[(u16, serde_json::Value)]) -> (Outcome, usize) {
        let (sent, own) = (Arc::new(Mutex::new(0)), answers.to_vec());
        let count = Arc::clone(&sent);
        let server = fake(move |line| {
            let mut sent = locked(&count);
            *sent += 1;
            let nth = |n: usize| own[n.min(own.len() - 1)].clone();
            let (code, body) = nth(*sent - 1);
            assert!(
                line.contains("/apis/batch/v1/namespaces/s/jobs/j"),
                "{line}"
            );
            let is_after_test = *sent > 1 && nth(*sent - 2).0 == 422;
            assert_eq!(line.starts_with("GET"), is_after_test, "{line}");
            Some((code, body))
        });
        let releaser = Releaser {
            server,
            leadership: None,
            answer: Duration::from_secs(2),
        };
        let owner = Owner {
            own: job(),
            gates: GATE.into(),
            ..Owner::default()
        };
        let outcome = releaser.remove(&owner, &mark()).await;
        let n = *locked(&sent);
        (outcome, n)
    }

    fn found(uid: &str, annotations: serde_json::Value) -> (u16, serde_json::Value) {
        let metadata =
            json!({"name": "j", "namespace": "s", "uid": uid, "annotations": annotations});
        let kind = ("meta.k8s.io/v1", "PartialObjectMetadata");
        (
            200,
            json!({"apiVersion": kind.0, "kind": kind.1, "metadata": metadata}),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn names_missing_permissions() {
        let why = r#"jobs.batch "j" is forbidden: User "x" cannot patch resource "jobs" in API group "batch" in the namespace "s""#;
        let expected = Outcome::Failed(format!("{why}: add that verb to its role"));
        // The request is repeated for 25 s, because permissions may not be effective at once.
        assert_eq!(removed(&[(403, refusal(403, why))]).await, (expected, 7));
    }

    #[tokio::test(start_paused = true)]
    async fn investigates_failed_tests() {
        let failed = (422, refusal(422, "the server rejected our request"));
        let marked = json!({MARK: json!(mark()).to_string()});
        let (outcome, n) = removed(&[failed.clone(), found("u", marked.clone())]).await;
        assert_eq!(
            (outcome, n),
            (Outcome::Done, 2),
            "carried out, but the answer was lost"
        );
        let late = [
            (500, refusal(500, "etcdserver: request timed out")),
            failed.clone(),
        ];
        let (outcome, n) = removed(&[&late[..], &[found("u", marked.clone())]].concat()).await;
        assert_eq!((outcome, n), (Outcome::Done, 3));
        let gates = json!({GATES: "synth/gate,a/b"});
        let (outcome, _) = removed(&[failed.clone(), found("u", gates)]).await;
        let Outcome::Changed(now) = outcome else {
            unreachable!("{outcome:?}")
        };
        assert_eq!((&*now[0].gates, &now[0].own), ("synth/gate,a/b", &job()));
        let others = json!({MARK: json!(Mark { policy: "q".into(), ..mark() }).to_string()});
        let (outcome, _) = removed(&[failed.clone(), found("u", others)]).await;
        assert!(
            matches!(outcome, Outcome::Changed(_)),
            "another replica was first"
        );
        let (outcome, n) = removed(&[failed, found("v", marked)]).await;
        assert_eq!(
            (outcome, n),
            (Outcome::Changed(vec![]), 2),
            "another job of that name"
        );
        let gone = removed(&[(404, refusal(404, "jobs.batch \"j\" not found"))]).await;
        assert_eq!(gone, (Outcome::Changed(vec![]), 1));
    }
}
