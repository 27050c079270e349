//! The checker: re-derives what an artifact says from the artifact alone, by other code than made it,
//! as far as a bounded work goes; reports everything that is wrong, and notes of the rest whether it was
//! derived, judged for sense, or taken on trust.
//!
//! # Theory
//! Each claim has a second derivation here. The *bound* of the certificate is put to one
//! integer knapsack: no schedule may be worth more than `1/bound` at the prices stated
//! (Farley, Operations Research 38, 1990); where it is stated in fractions, both sides of it are
//! derived in whole numbers. The *modulating chain* is not solved as a chain:
//! one round of the loop is a renewal cycle, and the time and service of its routes are sums
//! over the stages of a route, weighted with the probability that the route comes by
//! ([`round`]). What is left is arithmetic.
//!
//! # Practice
//! The load is checked over all shapes of servers, then the rule, then what is claimed of it. A check that needs another
//! one's field to be
//! sound is left out where that field is not: a loop that is no permutation is reported, and not
//! also the claims made from it. Whatever the artifact holds, the checker ends, and does not panic:
//! its searches count their steps.

mod against;
mod branching;
mod claims;
mod evidence;
mod exact;
mod families;
mod fluid;
mod guarded;
mod knapsack;
mod least;
mod partition;
mod pooled;
mod preemptive;
mod queues;
mod round;
mod shape;
mod simulated;
mod solved;

pub use against::check_against;
#[cfg(test)]
pub(crate) use partition::loads as loads_of_partition;

use std::cell::Cell;

use super::{Artifact, Claim, Evidence, Family, MsrPolicy, Quantity};
use crate::artifact::{Finding, Findings, Grounds, Subject, find};
use crate::multiresource::workload::{Fleet, Workload};
use round::Round;

/// Work that solving the queues of what is claimed may take, roughly in
/// nanoseconds: what would take more is not derived, and said so.
const CLAIMS: f64 = 1e10;

/// Work that may still be done, roughly in nanoseconds.
struct Budget(Cell<f64>);

impl Budget {
    fn new(work: f64) -> Self {
        Budget(Cell::new(work))
    }

    fn left(&self) -> f64 {
        self.0.get()
    }

    /// Whether so much work can still be done; it is then taken as done.
    fn affords(&self, work: f64) -> bool {
        let affords = work <= self.left();
        if affords {
            self.spend(work);
        }
        affords
    }

    /// So much work was done.
    fn spend(&self, work: f64) {
        self.0.set(self.left() - work);
    }
}

/// Checks what an artifact says, from itself alone, and notes on which grounds the rest stands.
///
/// Where a concurrent route has more stages than can be listed, what is claimed from it is
/// refused; without such a claim the artifact may pass, its stability unexamined.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Fleet> {
    check_with(artifact, f64::INFINITY, findings)
}

/// Checks an artifact just made as [`Artifact::check`] does, but that no more than this work, roughly in nanoseconds,
/// goes into what is solved anew of its claims.
///
/// # Errors
/// All that is wrong.
pub fn check_within(artifact: &Artifact, work: f64) -> Result<(), Vec<Finding>> {
    let mut findings = Findings::default();
    let fleet = check_with(artifact, work, &mut findings);
    match findings.into_list() {
        none if none.is_empty() && fleet.is_some() => Ok(()),
        wrong => Err(wrong),
    }
}

fn check_with(artifact: &Artifact, work: f64, findings: &mut Findings) -> Option<Fleet> {
    let fleet = workload(artifact, findings)?;
    let document = Document {
        rule: &artifact.policy,
        evidence: &artifact.evidence,
        claims: &artifact.claims,
        fleet: &fleet,
        workload: fleet.envelope(),
        budget: &Budget::new(CLAIMS.min(work)),
    };
    document.check(findings);
    remarks(findings);
    Some(fleet)
}

/// What a document says and nothing follows from.
fn remarks(findings: &mut Findings) {
    const REMARK: Grounds = Grounds::Trusted("a remark: nothing follows from it");
    for path in ["workload.source", "workload.unserved", "tool"] {
        findings.stands(path, REMARK);
    }
}

fn workload(artifact: &Artifact, findings: &mut Findings) -> Option<Fleet> {
    let checked = artifact.workload.check();
    for fault in checked.as_ref().err().into_iter().flatten() {
        findings.add(format!("workload.{}", fault.place), fault.message.clone());
    }
    checked.ok()
}

/// The parts of an artifact, for a fleet that is one.
struct Document<'a> {
    rule: &'a Family,
    evidence: &'a Evidence,
    claims: &'a [Claim],
    fleet: &'a Fleet,
    /// The fleet's [envelope](Fleet::envelope); of one server what arrives there.
    workload: &'a Workload,
    /// For claims.
    budget: &'a Budget,
}

/// Where the rule stands: findings of a rule have paths that start with `policy`, as if its family were not named.
const RULE: &str = "policy";

impl Document<'_> {
    /// The claim about a type, or about all.
    fn find(&self, quantity: Quantity, job_type: Option<&str>) -> Option<&Claim> {
        find(self.claims, quantity, Subject::of_type(job_type))
    }

    /// Whether the load is that of the best policy: where jobs take several servers it is a bound.
    fn is_load_proven(&self) -> bool {
        self.evidence.proven && self.fleet.gangs().next().is_none()
    }

    /// A path in the document: with the family of the rule.
    fn absolute(&self, path: &str) -> String {
        let of_guard = ["policy.guard", "policy.from", "policy.until", "policy.rule"];
        let family = match self.rule {
            Family::Guarded(policy) if !of_guard.iter().any(|own| path.starts_with(own)) => {
                format!("guarded.rule.{}", policy.rule.name())
            }
            other => other.name().to_owned(),
        };
        match path.strip_prefix(RULE) {
            Some(rest) => format!("{RULE}.{family}{rest}"),
            None => path.into(),
        }
    }

    fn check(&self, findings: &mut Findings) {
        let mut own = Findings::default();
        self.evidence_and_rule(&mut own);
        findings.take(own, |path| self.absolute(path));
    }

    fn evidence_and_rule(&self, findings: &mut Findings) {
        if self.rule.preempts() && self.workload.start_latency().is_some() {
            let message = "the policy stops jobs, and the workload has a start latency, of which it is not said what a stopped job pays again: expected none of both";
            findings.add(RULE, message);
        }
        if self.rule.pools() == self.fleet.is_one_server() {
            let expected = match self.fleet.is_one_server() {
                true => "a rule of one server",
                false => "a rule over all servers: pooled, pooled-easy or partition",
            };
            let message = format!("`{}`, expected {expected}", self.rule.name());
            return findings.add(RULE, message);
        }
        shape::check(self, findings);
        evidence::check(self, findings);
        if self.rule.pools() {
            return pooled::check(self, findings);
        }
        match self.rule {
            Family::Msr(policy) => self.round_and_claims(policy, findings),
            _ => {
                if let Family::Guarded(policy) = self.rule {
                    guarded::check(self, policy, findings);
                }
                families::check(self.rule.followed(), self.workload, self.evidence, findings);
                simulated::check(self, findings);
            }
        }
    }

    /// What follows from the round of a loop.
    fn round_and_claims(&self, policy: &MsrPolicy, findings: &mut Findings) {
        let mut round = None;
        if findings.is_clear(RULE) {
            round = Round::of(self.workload, policy);
            match &round {
                Some(round) => self.stability(round, findings),
                None => claims::underived(self, policy, findings),
            }
        }
        claims::check(self, round.as_ref(), findings);
    }

    /// Every type must get more service than it brings work, routes included.
    fn stability(&self, round: &Round, findings: &mut Findings) {
        let types = self.workload.types().iter();
        for (kind, load) in types.zip(round.loads(self.workload)) {
            // A load that is not a number is not stable either.
            let stable = load < 1.0;
            if !stable {
                let name = kind.name();
                let message =
                    format!("the policy is unstable: type `{name}` has load {load}, expected < 1");
                findings.add("policy.switching_rate", message);
            }
        }
    }
}

/// Schedules with the fraction of time of each, and where they stand.
#[derive(Clone, Copy)]
struct Mixed<'a> {
    path: &'a str,
    schedules: &'a [Vec<u32>],
    weights: &'a [f64],
}

/// `πW` (K): the mean schedule of a mix, while it works.
fn mean_schedule(schedules: &[Vec<u32>], weights: &[f64]) -> Vec<f64> {
    let types = schedules.first().map_or(0, Vec::len);
    let of_type = |i: usize| -> f64 {
        let slots = schedules.iter().map(|u| f64::from(u[i]));
        slots.zip(weights).map(|(u, p)| u * p).sum()
    };
    (0..types).map(of_type).collect()
}
