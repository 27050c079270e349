//! Rules with full preemption: what they are made of fits the workload, and their proofs of stability hold.

use super::shape;
use crate::artifact::{Findings, length, nonnegative, positive};
use crate::multiresource::artifact::family::Sound;
use crate::multiresource::artifact::{
    CertificateRecord, MaxWeightPolicy, MaxWeightSetupPolicy, PresentTablePolicy,
    ServerFillingPolicy,
};
use crate::multiresource::workload::Workload;

impl Sound for MaxWeightPolicy {
    fn check(&self, workload: &Workload, _: &CertificateRecord, findings: &mut Findings) {
        weights("policy", self, workload, findings);
    }
}

impl Sound for MaxWeightSetupPolicy {
    fn check(&self, workload: &Workload, _: &CertificateRecord, findings: &mut Findings) {
        with_setups("policy", self, workload, findings);
    }
}

pub(super) fn with_setups(
    path: &str,
    policy: &MaxWeightSetupPolicy,
    workload: &Workload,
    findings: &mut Findings,
) {
    let at = |field: &str| format!("{path}.{field}");
    weights(&at("weights"), &policy.weights, workload, findings);
    positive(at("setup_rate"), policy.setup_rate, findings);
    nonnegative(at("eagerness"), policy.eagerness, findings);
    nonnegative(at("haste"), policy.haste, findings);
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
    fn check(&self, workload: &Workload, _: &CertificateRecord, findings: &mut Findings) {
        let count = workload.resources().len();
        if count != 1 {
            let message = format!("a rule for one resource, and the workload has {count}");
            findings.add("policy", message);
        }
    }
}

/// More entries than a table of ours has.
const LARGEST_TABLE: u64 = 1 << 28;

impl Sound for PresentTablePolicy {
    fn check(&self, workload: &Workload, _: &CertificateRecord, findings: &mut Findings) {
        let types = workload.types().len();
        let path = "policy.schedules";
        shape::schedules(path, &self.schedules, types, findings);
        length(
            "policy.limits",
            self.limits.len(),
            types,
            "job type",
            findings,
        );
        weights("policy.beyond", &self.beyond, workload, findings);
        if !findings.is_clear("policy") {
            return;
        }
        shape::fits(path, &self.schedules, workload, findings);
        let sides = self.limits.iter().map(|limit| *limit as u64 + 1);
        let states = sides.fold(1, u64::saturating_mul);
        if states > LARGEST_TABLE {
            return findings.add("policy.limits", "a table too large to be run");
        }
        if let Err(message) = decisions(self, states) {
            findings.add("policy.decisions", message);
        }
    }
}

/// What is wrong with the decisions: where there are jobs, one of them runs. So no state is absorbing, and with the
/// weights beyond, proved to be stable, the whole is: the table's states are finitely many.
fn decisions(policy: &PresentTablePolicy, states: u64) -> Result<(), String> {
    let covered = policy.decisions.iter().map(|run| u64::from(run[0]));
    let covered = covered.fold(0, u64::saturating_add);
    if covered != states {
        return Err(format!("they are for {covered} states, expected {states}"));
    }
    let mut present = vec![0; policy.limits.len()];
    for &[length, choice] in &policy.decisions {
        let schedule = policy.schedules.get(choice as usize);
        let schedule = schedule.ok_or_else(|| format!("{choice}: there is no such schedule"))?;
        for _ in 0..length {
            let mut pairs = present.iter().zip(schedule);
            let is_empty = present.iter().all(|jobs| *jobs == 0);
            if !is_empty && pairs.all(|(jobs, slots)| (*jobs).min(*slots as usize) == 0) {
                return Err(format!("with {present:?} jobs none runs"));
            }
            next(&mut present, &policy.limits);
        }
    }
    Ok(())
}

/// The next numbers of jobs, the last type's first.
pub(super) fn next(present: &mut [usize], limits: &[usize]) {
    for (jobs, limit) in present.iter_mut().zip(limits).rev() {
        *jobs += 1;
        if *jobs <= *limit {
            return;
        }
        *jobs = 0;
    }
}
