//! The checker: re-derives what an artifact says from the artifact alone, by other code than the synthesis,
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
//! ([`round`]). The *queues* on it are solved by means over cycles ([`synth_queues::ctmc::cycle`], which says what of it the
//! maker's solvers share); where sizes have stages, the chain with these is built
//! here too, from the events of the queue ([`staged`]); and what theorem 8 needs follows from one round. What is left is
//! arithmetic.
//!
//! # Practice
//! The rule is checked, then the load over all shapes of servers, then what is claimed. A check that needs another
//! field to be right is left out where that is not: a loop that is no permutation is reported, and not also the claims
//! derived from it. Whatever the artifact holds, the checker ends, and does not panic:
//! its searches count their steps.

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
mod shape;
mod simulated;
mod staged;

pub(crate) use evidence::{signs_of_server, worth_of_server};
pub use fractions::is_bounded;

use std::cell::Cell;

use super::{Artifact, Claim, Evidence, Family, Method, Quantity};
use crate::policy::OneOrAll;
use crate::workload::{Fleet, Workload};
use synth_core::artifact::{Finding, Findings, Subject, find, written};
use synth_core::document::WorkloadDocument as _;

/// Work that solving the queues of what is claimed may take, roughly in
/// nanoseconds: what would take more is not derived, and said so.
const CLAIMS: f64 = 1e10;

/// Checks an artifact just synthesized as [`Artifact::check`] does, but that no more than this work, roughly in nanoseconds,
/// goes into what is solved anew of its claims.
///
/// # Errors
/// All that is wrong.
pub fn check_within(artifact: &Artifact, work: f64) -> Result<(), Vec<Finding>> {
    artifact.check_by(|fleet, findings| check_with(artifact, fleet, work, findings))?;
    Ok(())
}

/// Takes out of an artifact just synthesized those claims from simulation that the checker would refuse: they contradict what is
/// proved, or each other. Returns what is wrong with them.
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

/// Checks what an artifact says, from itself alone, and notes on which grounds the rest stands.
///
/// Where a concurrent route has more stages than can be listed, what is claimed from it is
/// refused; without such a claim the artifact may pass, its stability unexamined.
///
pub(super) fn check_with(artifact: &Artifact, fleet: &Fleet, work: f64, findings: &mut Findings) {
    if let Err(why) = fleet.counts_amounts() {
        return findings.add("workload.servers", why);
    }
    let budget = Cell::new(CLAIMS.min(work));
    Document::new(artifact, fleet, &budget).check(findings);
}

/// The parts of a policy file, for a fleet whose record was checked. No text: that is `synth_core::document`.
struct Document<'a> {
    rule: &'a Family,
    evidence: &'a Evidence,
    claims: &'a [Claim],
    fleet: &'a Fleet,
    /// The fleet's [envelope](Fleet::envelope); of one server what arrives there.
    workload: &'a Workload,
    /// Work that may still go into claims, roughly in nanoseconds.
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

    /// Returns the claim about a type, or about all.
    fn find(&self, quantity: Quantity, job_type: Option<&str>) -> Option<&Claim> {
        find(self.claims, quantity, Subject::of_type(job_type))
    }

    /// Returns the claim about the mean number of jobs of type i.
    fn mean_number(&self, i: usize) -> Option<&Claim> {
        let name = self.workload.types()[i].name();
        self.find(Quantity::MeanNumber, Some(name))
    }

    /// Returns whether the load is that of the best policy: where jobs take several servers it is a bound.
    fn is_load_proven(&self) -> bool {
        self.evidence.proven && self.fleet.gangs().next().is_none()
    }

    /// Returns the one-or-all system and the threshold of strict MSFQ, where the rule is that and nothing was simulated.
    fn strict_msfq(&self, rule: &Family) -> Option<(OneOrAll, u32)> {
        match rule {
            Family::StaticQuickswap(policy) if self.evidence.simulation.is_none() => {
                policy.as_strict_msfq(self.workload)
            }
            _ => None,
        }
    }

    /// Returns the path of the rule that is followed while nothing is amiss.
    fn path_of_rule(&self) -> String {
        match self.rule {
            Family::Guarded(policy) => format!("policy.guarded.rule.{}", policy.rule.name()),
            rule => format!("policy.{}", rule.name()),
        }
    }

    /// Returns the mix of the servers of a shape: that of the policy where it is one, else that of the evidence.
    fn mix(&self, h: usize) -> Option<Mixed<'a>> {
        if let Some(policy) = self.rule.msr() {
            return Some(Mixed {
                path: "policy.msr".into(),
                schedules: &policy.schedules,
                weights: &policy.weights,
            });
        }
        let mix = self.evidence.servers.get(h)?.mix.as_ref()?;
        Some(Mixed {
            path: format!("evidence.servers[{h}].mix"),
            schedules: &mix.schedules,
            weights: &mix.weights,
        })
    }

    fn check(&self, findings: &mut Findings) {
        let rule = format!("policy.{}", self.rule.name());
        if self.rule.preempts() && self.workload.start_latency().is_some() {
            let message = "the policy stops jobs, and the workload has a start latency, of which it is not said what a stopped job pays again: expected none of both";
            findings.add(&rule, message);
        }
        if self.rule.pools() == self.fleet.is_one_server() {
            let expected = if self.fleet.is_one_server() {
                "a rule of one server"
            } else {
                "a rule over all servers: backfilling with a `placement`, or partition"
            };
            return findings.differs(rule, format!("`{}`", self.rule.name()), expected);
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
            rule => match is_rule_right.then(|| self.strict_msfq(rule)).flatten() {
                Some(msfq) => claims::of_msfq(self, msfq, findings),
                None => simulated::check(self, under_guard, evidence, findings),
            },
        }
    }
}

/// Schedules with the fraction of time of each, and where they stand.
struct Mixed<'a> {
    path: String,
    schedules: &'a [Vec<u32>],
    weights: &'a [f64],
}

/// Returns `πW` (K): the mean schedule of a mix, while it works.
fn mean_schedule(schedules: &[Vec<u32>], weights: &[f64]) -> Vec<f64> {
    let types = schedules.first().map_or(0, Vec::len);
    let of_type = |i: usize| -> f64 {
        let slots = schedules.iter().map(|u| f64::from(u[i]));
        slots.zip(weights).map(|(u, p)| u * p).sum()
    };
    (0..types).map(of_type).collect()
}
