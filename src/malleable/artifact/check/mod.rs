//! The checker: derives what an artifact says from the artifact alone, by other code than made it.

mod bound;
mod online;
mod orders;
mod plan;
#[cfg(test)]
mod tests;

pub use plan::cost;

use std::collections::HashSet;

use super::{Artifact, Claim, Evidence, Policy};
use crate::artifact::{Finding, Findings, Grounds, Known, Quantity as _};
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
    match (&workload, &artifact.policy, &artifact.evidence) {
        (Workload::Pool(pool), Policy::Plan(plan), Evidence::Plan(evidence)) => {
            plan::check(pool, plan, evidence, &artifact.claims, findings);
        }
        (Workload::Stream(stream), Policy::Online(online), Evidence::Online(evidence)) => {
            online::check(stream, online, evidence, &artifact.claims, findings);
        }
        (Workload::Pool(_), ..) => findings.add(
            "policy",
            "all jobs of the workload are there at the start: expected a plan, and evidence of a plan",
        ),
        (Workload::Stream(_), ..) => findings.add(
            "policy",
            "jobs arrive: expected a rule that is online, and evidence of such a rule",
        ),
    }
    let remark = Grounds::Trusted("a remark: nothing follows from it");
    for path in ["workload.source", "tool"] {
        findings.stands(path, remark);
    }
    Some(workload)
}

/// Where the workload that a policy was made for and this one differ.
pub fn check_against(artifact: &Artifact, workload: &Workload) -> Vec<Finding> {
    let recorded = artifact.workload.check().map(|own| own.digest());
    match recorded.is_ok_and(|digest| digest == workload.digest()) {
        true => Vec::new(),
        false => vec![Finding {
            path: "workload".into(),
            message: "it differs from the workload that is named: servers, speedups, jobs or the objective are others".into(),
        }],
    }
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
