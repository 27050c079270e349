//! Gates removed: one request an object, which does all or nothing.

use std::time::Duration;

use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, Patch as JsonPatch, PatchOperation, RemoveOperation, ReplaceOperation,
    TestOperation,
};
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::desk::Release;
use crate::lease::Leadership;
use crate::log::{Log, fields};
use crate::view::{GATES, MARK, Mark, Owner, Reference, Uid};
use crate::watch::{refusal, resource};

/// What became of a release.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The gate is removed, and our mark is there.
    Done,
    /// Nothing was done: the object is not what it was, or not there any more. What it is now, if it was read.
    Changed(Vec<(Uid, Owner)>),
    /// It is not known, or was refused: why.
    Failed(String),
}

/// Pauses between attempts: the next is twice as long.
const FIRST: Duration = Duration::from_millis(200);
const ATTEMPTS: u32 = 7;

/// Removes gates.
#[derive(Clone)]
pub struct Releaser {
    pub client: Client,
    /// None where no other replica counts: the way back.
    pub leadership: Option<Leadership>,
    pub gate: String,
    /// An answer is waited for so long.
    pub answer: Duration,
    pub log: Log,
}

impl Releaser {
    /// Removes the gate from all that a job's stands on.
    pub async fn release(&self, release: &Release) -> Outcome {
        let mut changed = Vec::new();
        for (reference, owner) in &release.owners {
            match self
                .patch(&release.namespace, (reference, owner), &release.mark)
                .await
            {
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

    async fn patch(
        &self,
        namespace: &str,
        (reference, owner): (&Reference, &Owner),
        mark: &Mark,
    ) -> Outcome {
        let api: Api<DynamicObject> = Api::namespaced_with(
            self.client.clone(),
            namespace,
            &resource(&reference.api_version, &reference.kind),
        );
        let patch = patch(reference, owner, mark);
        let (mut pause, mut last) = (FIRST, String::new());
        for _ in 0..ATTEMPTS {
            if self.leadership.as_ref().is_some_and(|own| !own.is_valid()) {
                return Outcome::Failed(
                    "the Lease was not renewed in time: nothing more is released".into(),
                );
            }
            let params = PatchParams::default();
            match timeout(
                self.answer,
                api.patch_metadata(&reference.name, &params, &patch),
            )
            .await
            {
                Ok(Ok(_)) => return Outcome::Done,
                Ok(Err(kube::Error::Api(status))) if status.code == 404 => {
                    return Outcome::Changed(Vec::new());
                }
                // The test failed, or a webhook refused it.
                Ok(Err(kube::Error::Api(status))) if matches!(status.code, 409 | 422) => {
                    match self.read_again(&api, reference).await {
                        Ok(None) => return Outcome::Changed(Vec::new()),
                        // This request was carried out, and its answer was lost.
                        Ok(Some(found))
                            if found.mark.as_ref() == Some(mark) && !found.has(&self.gate) =>
                        {
                            return Outcome::Done;
                        }
                        Ok(Some(found))
                            if found.gates != owner.gates || found.version != owner.version =>
                        {
                            return Outcome::Changed(vec![(reference.uid.clone(), found)]);
                        }
                        Ok(Some(_)) => last = status.message,
                        Err(why) => last = why,
                    }
                }
                Ok(Err(why)) => last = refusal(&why),
                Err(_) => last = format!("no answer within {:?}", self.answer),
            }
            if pause == FIRST {
                let on = format!("{} {namespace}/{}", reference.kind, reference.name);
                self.log
                    .warn("not released yet", &fields([("on", &*on), ("why", &last)]));
            }
            sleep(pause).await;
            pause *= 2;
        }
        Outcome::Failed(last)
    }

    /// Returns what an object is now; `None` where it is gone, or another one has its name.
    async fn read_again(
        &self,
        api: &Api<DynamicObject>,
        reference: &Reference,
    ) -> Result<Option<Owner>, String> {
        let answer = timeout(self.answer, api.get_metadata_opt(&reference.name)).await;
        let found = answer
            .map_err(|_| format!("no answer within {:?}", self.answer))?
            .map_err(|why| refusal(&why))?;
        let own = found.filter(|found| found.metadata.uid.as_deref() == Some(&*reference.uid));
        Ok(own.map(|found| Owner::new(&found.metadata, &self.gate)))
    }
}

/// Returns the request that removes our gate and writes our mark, if the object is what was read. Of a suspended Job the
/// version that was read is named; of a gate its value, since others change the object's status at any time.
fn patch(reference: &Reference, owner: &Owner, mark: &Mark) -> Patch<serde_json::Value> {
    let mark_text = json!(mark).to_string();
    if owner.is_suspended {
        return Patch::Merge(json!({
            "metadata": {"resourceVersion": owner.version, "uid": &*reference.uid, "annotations": {MARK: mark_text}},
            "spec": {"suspend": false},
        }));
    }
    let pointer = |last: &str| PointerBuf::from_tokens(["metadata", "annotations", last]);
    let rest = owner.without(&mark.gate);
    let gates = match rest.is_empty() {
        true => PatchOperation::Remove(RemoveOperation {
            path: pointer(GATES),
        }),
        false => PatchOperation::Replace(ReplaceOperation {
            path: pointer(GATES),
            value: json!(rest),
        }),
    };
    Patch::Json(JsonPatch(vec![
        PatchOperation::Test(TestOperation {
            path: PointerBuf::from_tokens(["metadata", "uid"]),
            value: json!(&*reference.uid),
        }),
        PatchOperation::Test(TestOperation {
            path: pointer(GATES),
            value: json!(owner.gates),
        }),
        gates,
        PatchOperation::Add(AddOperation {
            path: pointer(MARK),
            value: json!(mark_text),
        }),
    ]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sent(owner: &Owner) -> serde_json::Value {
        let reference = Reference {
            api_version: "batch/v1".into(),
            kind: "Job".into(),
            name: "j".into(),
            uid: "u".into(),
        };
        let mark = Mark {
            gate: "synth/gate".into(),
            policy: "p".into(),
            at: 7,
            nodes: vec!["n1".into()],
        };
        match patch(&reference, owner, &mark) {
            Patch::Json(patch) => json!(patch),
            Patch::Merge(patch) => patch,
            _ => unreachable!(),
        }
    }

    #[test]
    fn a_gate_goes_in_one_request_that_tests_what_was_read() {
        let mark = r#"{"at":7,"gate":"synth/gate","nodes":["n1"],"policy":"p"}"#;
        let gates = "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by";
        let owner = |gates: &str| Owner {
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
            is_suspended: true,
            version: "9".into(),
            ..Owner::default()
        };
        let expected = json!({"metadata": {"resourceVersion": "9", "uid": "u", "annotations": {MARK: mark}}, "spec": {"suspend": false}});
        assert_eq!(sent(&job), expected);
    }
}
