//! The checker: derives the claims of an artifact again, by other code than the synthesis. It
//! reports all errors, and whether a claim has been derived, judged, or trusted.
//!
//! There is a second way to compute each claim. The *bound* of the certificate is checked by one
//! integer knapsack per shape, which shows that no schedule of all servers is worth more than
//! `1/bound` at the stated prices (Farley, Operations Research 38, 1990). Fractions are checked
//! exactly. The *modulating chain* is treated as a renewal cycle, so that the time and the service
//! of a route are sums over its stages, weighted with the probability of the route ([`round`]). The
//! *queues* are solved by means over cycles ([`synth_queues::ctmc::cycle`], which states what the
//! maker's solvers share); if sizes have stages, the chain is built from the events of the queue
//! ([`staged`]). The bounds of theorem 8 follow from one round ([`ahead`]). The policy is checked
//! first, then the load over all shapes, then the claims, each only if its inputs are right. The
//! checker always terminates, because its steps are limited, and does not panic.

mod ahead;
mod branching;
mod claims;
mod evidence;
mod fluid;
mod fractions;
mod knapsack;
mod least;
mod one_or_all;
mod partition;
mod queues;
mod round;
mod rule;
mod simulated;
mod staged;

pub(crate) use evidence::{signs_of_server, worth_of_server};
pub use fractions::is_bounded;

use std::cell::Cell;

use super::{Artifact, Claim, Evidence, Family, Method, Quantity};
use crate::workload::{Fleet, Workload};
use synth_core::artifact::{Finding, Findings, Subject, find, written};
use synth_core::document::WorkloadDocument as _;

/// Limit on the work for the queues of all claims, roughly in nanoseconds.
const CLAIMS: f64 = 1e10;

/// Checks a new artifact, with at most this work for solving queues, roughly in nanoseconds.
pub fn check_within(artifact: &Artifact, work: f64) -> Result<(), Vec<Finding>> {
    artifact.check_by(|fleet, findings| check_with(artifact, fleet, work, findings))?;
    Ok(())
}

/// Removes the simulated claims that contradict a proof or each other, and returns the errors.
pub fn retract(artifact: &mut Artifact) -> Vec<String> {
    let mut why = Vec::new();
    let Ok(fleet) = artifact.workload.check() else {
        return why;
    };
    let is_simulated = |claim: &Claim| claim.method == Method::Simulated;
    while artifact.claims.iter().any(is_simulated) {
        let (mut findings, budget) = (Findings::default(), Cell::new(0.0));
        let document = Document::new(artifact, &fleet, &budget);
        simulated::check(&document, None, Some(document.evidence), &mut findings);
        let wrong = findings.into_list();
        let before = why.len();
        let mut n = 0;
        artifact.claims.retain(|claim| {
            let path = format!("claims[{n}]");
            n += 1;
            let own = wrong.iter().find(|f| f.path.starts_with(&path));
            let own = own.filter(|_| is_simulated(claim));
            let about = claim.job_type.as_deref().unwrap_or("all jobs");
            let quantity = written(&claim.quantity);
            why.extend(own.map(|f| format!("{quantity} of {about}: {}", f.message)));
            own.is_none()
        });
        if why.len() > before {
            continue;
        }
        if let Some(both) = wrong.into_iter().find(|f| f.path == "claims") {
            artifact.claims.retain(|claim| !is_simulated(claim));
            why.push(both.message);
        }
        break;
    }
    why
}

/// Checks an artifact, and records how its parts were verified. If a route has too many stages, all
/// claims that depend on it are rejected; without such claims, the stability is not checked.
pub(super) fn check_with(artifact: &Artifact, fleet: &Fleet, work: f64, findings: &mut Findings) {
    if let Err(why) = fleet.require_no_devices() {
        return findings.add("workload.servers", why);
    }
    let budget = Cell::new(CLAIMS.min(work));
    Document::new(artifact, fleet, &budget).check(findings);
}

struct Document<'a> {
    rule: &'a Family,
    evidence: &'a Evidence,
    claims: &'a [Claim],
    fleet: &'a Fleet,
    workload: &'a Workload,
    budget: &'a Cell<f64>,
}

impl<'a> Document<'a> {
    fn new(artifact: &'a Artifact, fleet: &'a Fleet, budget: &'a Cell<f64>) -> Self {
        Document {
            rule: &artifact.policy,
            evidence: &artifact.evidence,
            claims: &artifact.claims,
            fleet,
            workload: fleet.envelope(),
            budget,
        }
    }

    fn find(&self, quantity: Quantity, job_type: Option<&str>) -> Option<&Claim> {
        find(self.claims, quantity, Subject::of_type(job_type))
    }

    fn mean_number(&self, i: usize) -> Option<&Claim> {
        let name = self.workload.types()[i].name();
        self.find(Quantity::MeanNumber, Some(name))
    }

    fn path_of_rule(&self) -> String {
        match self.rule {
            Family::Guarded(policy) => format!("policy.guarded.rule.{}", policy.rule.name()),
            rule => format!("policy.{}", rule.name()),
        }
    }

    fn mix(&self, h: usize) -> Option<(&'a [Vec<u32>], &'a [f64])> {
        if let Some(policy) = self.rule.msr() {
            return Some((&policy.schedules, &policy.weights));
        }
        let mix = self.evidence.servers.get(h)?.mix.as_ref()?;
        Some((&mix.schedules, &mix.weights))
    }

    /// Checks that each type has a load below 1 under `what`, which is at this path.
    fn check_stable(&self, (path, what): (&str, &str), loads: &[f64], findings: &mut Findings) {
        for (kind, load) in self.workload.types().iter().zip(loads) {
            // A load that is not a number is not stable.
            let stable = *load < 1.0;
            if !stable {
                let name = kind.name();
                let message =
                    format!("{what} is unstable: type `{name}` has load {load}, expected < 1");
                findings.add(path, message);
            }
        }
    }

    fn check(&self, findings: &mut Findings) {
        let (rule, is_one_server) = (self.rule.name(), self.fleet.is_one_server());
        let path = format!("policy.{rule}");
        if self.rule.preempts() && self.workload.start_latency().is_some() {
            let message = "the policy preempts jobs and the workload has a start latency, but it is not defined what a preempted job pays again; expected at most one of the two";
            findings.add(&path, message);
        }
        if self.rule.is_for_fleet() == is_one_server {
            let expected = match is_one_server {
                true => "a policy for one server",
                false => "a policy for a fleet: backfilling with a `placement`, or partition",
            };
            return findings.differs(path, format!("`{rule}`"), expected);
        }
        let under_guard = rule::check(self, findings);
        let is_rule_right = findings.is_clear("policy");
        let evidence = evidence::check(self, is_rule_right, findings);
        rule::certified(self, findings);
        match self.rule {
            Family::Msr(policy) => {
                let round = is_rule_right.then(|| claims::round(self, policy, findings));
                claims::of_loop(self, round.flatten().as_ref(), findings);
            }
            Family::Partition(policy) if findings.is_empty() => {
                claims::of_slots(self, policy, findings);
            }
            Family::Partition(_) => {}
            rule => {
                let is_exact = is_rule_right && self.evidence.simulation.is_none();
                let msfq = match rule {
                    Family::StaticQuickswap(own) if is_exact => own.as_strict_msfq(self.workload),
                    _ => None,
                };
                match msfq {
                    Some(msfq) => claims::of_msfq(self, msfq, findings),
                    None => simulated::check(self, under_guard, evidence, findings),
                }
            }
        }
    }
}

fn mean_schedule(schedules: &[Vec<u32>], weights: &[f64]) -> Vec<f64> {
    let types = schedules.first().map_or(0, Vec::len);
    let of_type = |i: usize| -> f64 {
        let slots = schedules.iter().map(|u| f64::from(u[i]));
        slots.zip(weights).map(|(u, p)| u * p).sum()
    };
    (0..types).map(of_type).collect()
}
