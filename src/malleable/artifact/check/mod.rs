//! The checker: derives what an artifact says from the artifact alone, by other code than made it.

mod bound;
mod online;
mod orders;
mod plan;

pub use plan::cost;

use std::collections::HashSet;

use super::{Artifact, Claim, Evidence, Policy};
use crate::artifact::{Findings, Grounds, Known, Quantity as _};
use crate::malleable::workload::Workload;

/// How near sums of many doubles are to what they are to be.
const NEAR: f64 = 1e-9;

/// Checks what an artifact says, and notes on which grounds the rest stands.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Workload> {
    let workload = match artifact.workload.check() {
        Ok(workload) => workload,
        Err(faults) => {
            for fault in faults {
                findings.add(format!("workload.{}", fault.place), fault.message);
            }
            return None;
        }
    };
    shapes(artifact, workload.record().time_unit.as_str(), findings);
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
    let remark = Grounds::Trusted("a remark: nothing follows from it");
    for path in ["workload.source", "tool"] {
        findings.stands(path, remark);
    }
    Some(workload)
}

/// That each claim is one number about all jobs, in its unit, and made once.
fn shapes(artifact: &Artifact, time_unit: &str, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        claim.has_subject(&path, &Known::default(), findings);
        if !seen.insert(claim.quantity) {
            findings.add(&*path, "a second claim about the same");
        }
        let unit = claim.quantity.unit(time_unit);
        if claim.unit != unit {
            findings.add(&*path, format!("unit `{}`, expected `{unit}`", claim.unit));
        }
        if claim.at.is_some() || claim.longer_than.is_some() {
            let message = "it is no probability: neither `at` nor `longer_than` go with it";
            findings.add(&*path, message);
        }
    }
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
