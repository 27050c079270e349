//! The checker of a policy file, which does not use the code of the synthesis.

mod bound;
mod online;
mod orders;
mod plan;

pub use plan::cost;

use std::collections::HashSet;

use super::{Artifact, Claim, Evidence, Method, Policy};
use crate::workload::Workload;
use synth_core::artifact::{Findings, KnownNames};

const NEAR: f64 = 1e-9;

pub(super) fn check(artifact: &Artifact, workload: &Workload, findings: &mut Findings) {
    let mut seen = HashSet::new();
    let time = &workload.record().time_unit;
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        claim.check_plain(&path, &KnownNames::default(), time, &mut seen, findings);
    }
    match (workload, &artifact.policy) {
        (Workload::Pool(pool), Policy::Plan(plan)) => {
            plan::check(pool, plan, artifact, findings);
        }
        (Workload::Stream(stream), Policy::Online(online)) => {
            if artifact.evidence != Evidence::default() {
                findings.add("evidence", "expected none, because jobs arrive over time");
            }
            online::check(stream, online, &artifact.claims, findings);
        }
        (Workload::Pool(_), _) => {
            findings.add("policy", "expected a plan, because no job arrives later");
        }
        (Workload::Stream(_), _) => {
            findings.add("policy", "expected an online rule, because jobs arrive");
        }
    }
}

/// Narrows an interval around the minimum of a function with one minimum, by ternary search.
fn thirds(mut low: f64, mut high: f64, turns: usize, of: impl Fn(f64) -> f64) -> (f64, f64) {
    for _ in 0..turns {
        let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        (low, high) = if of(a) > of(b) { (a, high) } else { (low, b) };
    }
    (low, high)
}

fn derived_as(claim: &Claim, method: Method, findings: &mut Findings) {
    if claim.method != method {
        let message = "for this policy, the quantity is derived by another method";
        findings.add("method", message);
    }
    if method != Method::Simulated && claim.half_width.is_some() {
        findings.add("", "expected no `half_width`, as it is not simulated");
    }
}
