//! Rules with full preemption: what they are made of fits the workload, and their proofs of stability hold.

use crate::artifact::{Findings, length, nonnegative, positive};
use crate::multiresource::artifact::family::Sound;
use crate::multiresource::artifact::{
    Evidence, MaxWeightPolicy, MaxWeightSetupPolicy, ServerFillingPolicy,
};
use crate::multiresource::workload::Workload;

impl Sound for MaxWeightPolicy {
    fn check(&self, workload: &Workload, _: &Evidence, findings: &mut Findings) {
        weights("policy", self, workload, findings);
    }
}

impl Sound for MaxWeightSetupPolicy {
    fn check(&self, workload: &Workload, _: &Evidence, findings: &mut Findings) {
        weights("policy.weights", &self.weights, workload, findings);
        positive("policy.setup_rate", self.setup_rate, findings);
        nonnegative("policy.eagerness", self.eagerness, findings);
        nonnegative("policy.haste", self.haste, findings);
    }
}

/// The smallest worth that is told apart, and the largest exponent: with more, weights of a few thousand jobs no
/// longer differ.
const LEAST: f64 = 1e-6;
const MOST: f64 = 2.0;

/// All positive: else nothing is proved.
fn weights(path: &str, policy: &MaxWeightPolicy, workload: &Workload, findings: &mut Findings) {
    let (types, worths) = (workload.types().len(), &policy.worths);
    length(
        &format!("{path}.worths"),
        worths.len(),
        types,
        "job type",
        findings,
    );
    for (i, worth) in worths.iter().enumerate() {
        if !(*worth >= LEAST && *worth <= 1.0) {
            let message = format!("{worth}, expected {LEAST} at least, at most 1");
            findings.add(format!("{path}.worths[{i}]"), message);
        }
    }
    let exponent = policy.exponent;
    if !(exponent > 0.0 && exponent <= MOST) {
        let message = format!("{exponent}, expected above 0, at most {MOST}");
        findings.add(format!("{path}.exponent"), message);
    }
}

impl Sound for ServerFillingPolicy {
    fn check(&self, workload: &Workload, _: &Evidence, findings: &mut Findings) {
        let count = workload.resources().len();
        if count != 1 {
            let message = format!("a rule for one resource, and the workload has {count}");
            findings.add("policy", message);
        }
    }
}
