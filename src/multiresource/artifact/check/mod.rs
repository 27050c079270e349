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
//! One server of each shape is checked with what is sent to it; then, where there are several
//! servers, what is said of all together ([`fleet`]). A check that needs another one's field to be
//! sound is left out where that field is not: a loop that is no permutation is reported, and not
//! also the claims made from it. Whatever the artifact holds, the checker ends, and does not panic:
//! its searches count their steps.

mod again;
mod against;
mod branching;
mod certificate;
mod choice;
mod claims;
mod exact;
mod families;
mod fleet;
mod fluid;
mod growth;
mod guarded;
mod knapsack;
mod least;
mod making;
mod partition;
mod pooled;
mod preemptive;
mod queues;
mod round;
mod shape;
mod simulated;
mod solved;
mod tabled;
mod what_if;

pub use against::check_against;
#[cfg(test)]
pub(crate) use partition::loads as loads_of_partition;

use std::cell::Cell;

use super::{Artifact, CertificateRecord, Claim, Family, Making, MsrPolicy, Quantity, Site};
use crate::artifact::{Finding, Findings, Grounds, Subject, find};
use crate::multiresource::workload::{Fleet, Workload};
use round::Round;

/// Work that solving the queues of what is claimed may take, all servers together, roughly in
/// nanoseconds: what would take more is not derived, and said so.
const CLAIMS: f64 = 1e10;

/// The same for how the policy was made, and for what a change would do.
const MAKING: f64 = 3e8;

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
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Site> {
    check_with(artifact, f64::INFINITY, findings)
}

/// Checks an artifact just made as [`Artifact::check`] does, but that no more than this work, roughly in nanoseconds,
/// goes into what is solved anew of its claims.
///
/// # Errors
/// All that is wrong.
pub fn check_within(artifact: &Artifact, work: f64) -> Result<(), Vec<Finding>> {
    let mut findings = Findings::default();
    let site = check_with(artifact, work, &mut findings);
    match findings.into_list() {
        none if none.is_empty() && site.is_some() => Ok(()),
        wrong => Err(wrong),
    }
}

fn check_with(artifact: &Artifact, work: f64, findings: &mut Findings) -> Option<Site> {
    let fleet = workload(artifact, findings)?;
    if let Some(policy) = &artifact.policy.queue {
        pooled::check(artifact, policy, &fleet, findings);
        growth::check(artifact, &fleet, findings);
        remarks(findings);
        let servers = Vec::new();
        return findings.is_empty().then_some(Site { fleet, servers });
    }
    fleet::structure(artifact, &fleet, findings);
    fleet::certificate_shape(artifact, &fleet, findings);
    let counts = ["policy", "provenance", "evidence.servers"];
    if !counts.iter().all(|path| findings.is_clear(path)) {
        return None;
    }
    let servers = fleet::sent(artifact, &fleet, findings)?;
    let known: Vec<&str> = artifact.workload.servers.iter().map(|s| &*s.name).collect();
    let names = (!fleet.is_one_server()).then_some(&known[..]);
    let budgets = [CLAIMS, MAKING].map(|usual| Budget::new(usual.min(work)));
    for (h, (workload, said)) in servers.iter().zip(artifact.servers()).enumerate() {
        let server = OneServer {
            place: Some(h),
            shapes: names.unwrap_or_default(),
            rule: &said.policy.rule,
            certificate: said.certificate,
            making: said.making,
            claims: of_server(artifact, names.map(|names| names[h])),
            workload,
            budgets: &budgets,
        };
        let mut part = Findings::default();
        server.check(&mut part);
        findings.take(part, |path| server.absolute(path));
    }
    if let Some(names) = names {
        fleet::check(artifact, &fleet, &servers, names, findings);
    }
    growth::check(artifact, &fleet, findings);
    remarks(findings);
    Some(Site { fleet, servers })
}

/// What a document says and nothing follows from.
fn remarks(findings: &mut Findings) {
    const REMARK: Grounds = Grounds::Trusted("a remark: nothing follows from it");
    const MAKER: Grounds = Grounds::Trusted("how it was made cannot be seen in what was made");
    for (path, grounds) in [
        ("workload.source", REMARK),
        ("workload.unserved", REMARK),
        ("provenance.tool", MAKER),
        ("provenance.options", MAKER),
        ("provenance.solver", MAKER),
        ("provenance.rounds", MAKER),
        ("provenance.columns", MAKER),
    ] {
        findings.stands(path, grounds);
    }
}

fn workload(artifact: &Artifact, findings: &mut Findings) -> Option<Fleet> {
    let checked = artifact.workload.check();
    for fault in checked.as_ref().err().into_iter().flatten() {
        findings.add(format!("workload.{}", fault.place), fault.message.clone());
    }
    checked.ok()
}

/// The claims about one server of this shape, or about all servers, with their places. Of one server
/// only, they are all.
fn of_server<'a>(artifact: &'a Artifact, name: Option<&str>) -> Vec<(usize, &'a Claim)> {
    let claims = artifact.claims.iter().enumerate();
    let about = |claim: &Claim| name.is_none() || claim.server.as_deref() == name;
    claims.filter(|(_, claim)| about(claim)).collect()
}

/// One server of a shape, with what arrives there. What is found has a path that starts with
/// `policy` (the rule), `certificate` (its proof), `provenance` (how the rule was made) or `claims`.
struct OneServer<'a> {
    /// The place of its shape; none of all servers together, where jobs wait in one place.
    place: Option<usize>,
    /// The names of all shapes, if there are several servers.
    shapes: &'a [&'a str],
    rule: &'a Family,
    certificate: &'a CertificateRecord,
    making: &'a Making,
    /// What is claimed of it, each with its place among all claims.
    claims: Vec<(usize, &'a Claim)>,
    workload: &'a Workload,
    /// For claims, and for how the rule was made.
    budgets: &'a [Budget; 2],
}

impl OneServer<'_> {
    /// The claim about a type, or about all.
    fn find(&self, quantity: Quantity, job_type: Option<&str>) -> Option<&Claim> {
        let subject = Subject::of_type(job_type).on(self.shape());
        find(
            self.claims.iter().map(|(_, claim)| *claim),
            quantity,
            subject,
        )
    }

    /// The name of its shape, if it is not the whole policy.
    fn shape(&self) -> Option<&str> {
        self.place.and_then(|h| self.shapes.get(h).copied())
    }

    /// A path in the whole document.
    fn absolute(&self, path: &str) -> String {
        let of_guard = ["policy.guard", "policy.from", "policy.until", "policy.rule"];
        let rule = match self.rule {
            Family::Guarded(policy) if !of_guard.iter().any(|own| path.starts_with(own)) => {
                format!("guarded.rule.{}", policy.rule.name())
            }
            other => other.name().to_owned(),
        };
        let parts = match self.place {
            Some(h) => [
                ("policy", format!("policy.servers[{h}].rule.{rule}")),
                ("certificate", format!("evidence.servers[{h}]")),
                ("provenance", format!("provenance.servers[{h}]")),
            ],
            None => [
                ("policy", format!("policy.queue.{rule}")),
                ("certificate", "evidence.fleet".into()),
                ("provenance", "provenance".into()),
            ],
        };
        let inside = |(head, place): &(&str, String)| {
            let rest = path.strip_prefix(head)?;
            Some(format!("{place}{rest}"))
        };
        parts.iter().find_map(inside).unwrap_or_else(|| path.into())
    }

    fn check(&self, findings: &mut Findings) {
        if self.rule.preempts() && self.workload.start_latency().is_some() {
            let message = "the policy stops jobs, and the workload has a start latency, of which it is not said what a stopped job pays again: expected none of both";
            findings.add("policy", message);
        }
        shape::check(self, findings);
        for mix in mixes(self) {
            shape::packing(mix, self.workload, findings);
        }
        if findings.is_clear("certificate") {
            certificate::bound(self.certificate, self.workload, findings);
            let found = self.certificate;
            let stated = (found.gap, found.proven);
            certificate::gap("certificate", found.load, found.bound, stated, findings);
        }
        if findings.is_clear("policy") && findings.is_clear("certificate.mix") {
            certificate::load(self, findings);
        }
        if findings.is_clear("certificate") {
            findings.stands("certificate", certificate::PROVED);
        }
        if let (Some(found), Some(mix)) = (&self.certificate.exact, mix(self))
            && findings.is_clear("certificate")
            && findings.is_clear("policy")
        {
            exact::check(self.certificate, found, mix, self.workload, findings);
        }
        match self.rule {
            Family::Msr(policy) => self.round_and_claims(policy, findings),
            _ => {
                if let Family::Guarded(policy) = self.rule {
                    guarded::check(self, policy, findings);
                }
                families::check(
                    self.rule.followed(),
                    self.workload,
                    self.certificate,
                    findings,
                );
                making::check(self, findings);
                simulated::of_server(self, findings);
            }
        }
    }

    /// What follows from the round of a loop.
    fn round_and_claims(&self, policy: &MsrPolicy, findings: &mut Findings) {
        let mut round = None;
        if findings.is_clear("policy") {
            counted("drains", self.making.drains, drains(policy), findings);
            round = Round::of(self.workload, policy);
            match &round {
                Some(round) => self.stability(policy, round, findings),
                None => claims::underived(self, policy, findings),
            }
        }
        // Before claims, whose queues are not solved where something is wrong already.
        making::check(self, findings);
        claims::check(self, round.as_ref(), findings);
    }

    /// Every type must get more service than it brings work, routes included.
    fn stability(&self, policy: &MsrPolicy, round: &Round, findings: &mut Findings) {
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
        let phases = round.stages + policy.schedules.len();
        counted("phases", self.making.phases, phases, findings);
    }
}

/// The slots that one round has to empty: `Σ_legs Σ_i (u_i − v_i)⁺`.
fn drains(policy: &MsrPolicy) -> u64 {
    let excess = |(u, v): (&u32, &u32)| u64::from(u.saturating_sub(*v));
    let leg = |n: usize| -> u64 {
        let next = policy.schedule((n + 1) % policy.order.len());
        policy.schedule(n).iter().zip(next).map(excess).sum()
    };
    (0..policy.order.len()).map(leg).sum()
}

/// What the provenance counts of a loop.
fn counted<T: PartialEq + std::fmt::Display>(
    field: &str,
    found: Option<T>,
    expected: T,
    findings: &mut Findings,
) {
    let path = format!("provenance.{field}");
    if found.as_ref() == Some(&expected) {
        findings.stands(path, Grounds::Derived("the loop"));
    } else {
        let found = found.map_or("absent".into(), |found| found.to_string());
        findings.add(path, format!("{found}, expected {expected}"));
    }
}

/// Schedules with the fraction of time of each, and where they stand.
#[derive(Clone, Copy)]
struct Mixed<'a> {
    path: &'static str,
    schedules: &'a [Vec<u32>],
    weights: &'a [f64],
}

/// The mix of the certificate: that of the policy where it is one and no other is given.
fn mix<'a>(server: &OneServer<'a>) -> Option<Mixed<'a>> {
    mixes(server).last()
}

/// The mixes that there are: that of the policy, then that of the certificate.
fn mixes<'a>(server: &OneServer<'a>) -> impl Iterator<Item = Mixed<'a>> {
    let policy = server.rule.msr().map(|policy| Mixed {
        path: "policy",
        schedules: &policy.schedules,
        weights: &policy.weights,
    });
    let proven = server.certificate.mix.as_ref().map(|mix| Mixed {
        path: "certificate.mix",
        schedules: &mix.schedules,
        weights: &mix.weights,
    });
    policy.into_iter().chain(proven)
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
