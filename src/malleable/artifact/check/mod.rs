//! The checker: derives what an artifact says from the artifact alone, by other code than made it.

mod bound;
mod online;
mod orders;
mod plan;

pub use plan::cost;

use std::collections::HashSet;

use super::{Artifact, Claim, Evidence, Policy};
use crate::artifact::{Findings, Known};
use crate::malleable::workload::Workload;

/// How near sums of many doubles are to what they are to be.
const NEAR: f64 = 1e-9;

/// Checks what an artifact says, and notes on which grounds the rest stands.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Workload> {
    let workload = findings.workload(artifact.workload.check())?;
    let mut seen = HashSet::new();
    let time = &workload.record().time_unit;
    for (path, claim) in numbered(&artifact.claims) {
        claim.is_plain(&path, &Known::default(), time, &mut seen, findings);
    }
    match (&workload, &artifact.policy) {
        (Workload::Pool(pool), Policy::Plan(plan)) => {
            plan::check(pool, plan, &artifact.evidence, &artifact.claims, findings);
        }
        (Workload::Stream(stream), Policy::Online(online)) => {
            if artifact.evidence != Evidence::default() {
                findings.add("evidence", "it is of a plan, and here jobs arrive");
            }
            online::check(stream, online, &artifact.claims, findings);
        }
        (Workload::Pool(_), _) => {
            findings.add("policy", "all jobs are there at the start: expected a plan");
        }
        (Workload::Stream(_), _) => {
            findings.add("policy", "jobs arrive: expected a rule that is online");
        }
    }
    findings.remarks(&["workload.source", "tool"]);
    Some(workload)
}

/// A claim with its path.
fn numbered(claims: &[Claim]) -> impl Iterator<Item = (String, &Claim)> {
    let claims = claims.iter().enumerate();
    claims.map(|(n, claim)| (format!("claims[{n}]"), claim))
}

/// That it was derived as this quantity is.
fn derived_as(claim: &Claim, methods: &[super::Method], path: &str, findings: &mut Findings) {
    if !methods.contains(&claim.method) {
        let message = "it is not how this quantity is known of this policy";
        findings.add(format!("{path}.method"), message);
    }
}
