//! The checker: re-derives all that an artifact says from the artifact alone, by other code
//! than made it, and reports everything that is wrong.
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
//! A check that needs another one's field to be sound is left out where that field is not: a
//! loop that is no permutation is reported, and not also the claims made from it. Whatever
//! the artifact holds, the checker ends, and does not panic: its searches count their steps.

mod against;
mod balance;
mod certificate;
mod claims;
mod exact;
mod families;
mod fleet;
mod knapsack;
mod making;
mod queues;
mod round;
mod shape;
mod simulated;
mod table;

pub use against::{check_against, check_fleet_against};
pub use fleet::check_fleet;

use super::{Artifact, Family, MsrPolicy, VERSION};
use crate::multiresource::workload::Workload;
use round::Round;

/// One thing that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// JSON path of the field.
    pub path: String,
    /// What is wrong with it: the value found, and what was expected.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// What has been found so far.
#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
}

impl Report {
    fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.findings.push(Finding {
            path: path.into(),
            message: message.into(),
        });
    }

    /// Whether nothing has been found below this path.
    fn is_clear(&self, path: &str) -> bool {
        !self.findings.iter().any(|f| f.path.starts_with(path))
    }
}

/// Checks everything that an artifact says, from itself alone.
///
/// Where a concurrent route has more stages than can be listed, what is claimed from it is
/// refused; without such a claim the artifact may pass, its stability unexamined.
///
/// # Errors
/// A list of all that is wrong.
pub fn check(artifact: &Artifact) -> Result<Workload, Vec<Finding>> {
    let mut report = Report::default();
    if artifact.version != VERSION {
        report.add(
            "version",
            format!("{}, expected {VERSION}", artifact.version),
        );
    }
    let workload = workload(artifact, &mut report);
    shape::check(artifact, &mut report);
    if let Some(workload) = &workload {
        evidence(artifact, workload, &mut report);
    }
    match workload {
        Some(workload) if report.findings.is_empty() => Ok(workload),
        _ => Err(report.findings),
    }
}

fn workload(artifact: &Artifact, report: &mut Report) -> Option<Workload> {
    let checked = artifact.workload.check();
    for fault in checked.as_ref().err().into_iter().flatten() {
        report.add(format!("workload.{}", fault.place), fault.message.clone());
    }
    checked.ok()
}

/// What takes a sound workload: that schedules fit, the certificate, the rule, claims.
fn evidence(artifact: &Artifact, workload: &Workload, report: &mut Report) {
    for mix in mixes(artifact) {
        shape::packing(mix, workload, report);
    }
    if report.is_clear("certificate") {
        certificate::bound(&artifact.certificate, workload, report);
        let found = &artifact.certificate;
        certificate::gap(found.load, found.bound, (found.gap, found.proven), report);
    }
    if report.is_clear("policy") && report.is_clear("certificate.mix") {
        certificate::load(artifact, workload, report);
    }
    if let Some(found) = &artifact.certificate.balance {
        balance::check(artifact, found, workload, report);
    }
    if let (Some(found), Some(mix)) = (&artifact.certificate.exact, mix(artifact))
        && report.is_clear("certificate")
        && report.is_clear("policy")
    {
        exact::check(&artifact.certificate, found, mix, workload, report);
    }
    match &artifact.policy {
        Family::Msr(policy) => round_and_claims(artifact, policy, workload, report),
        _ => {
            families::check(&artifact.policy, workload, report);
            making::check(artifact, workload, report);
            simulated::check(artifact, workload, report);
        }
    }
}

/// What follows from the round of a loop.
fn round_and_claims(
    artifact: &Artifact,
    policy: &MsrPolicy,
    workload: &Workload,
    report: &mut Report,
) {
    let mut round = None;
    if report.is_clear("policy") {
        drains(artifact, policy, report);
        round = Round::of(workload, policy);
        match &round {
            Some(round) => stability(artifact, workload, round, report),
            None => claims::underived(artifact, policy, report),
        }
    }
    // Before claims, whose queues are not solved where something is wrong already.
    making::check(artifact, workload, report);
    claims::check(artifact, workload, round.as_ref(), report);
}

/// Every type must get more service than it brings work, routes included.
fn stability(artifact: &Artifact, workload: &Workload, round: &Round, report: &mut Report) {
    for (kind, load) in workload.types().iter().zip(round.loads(workload)) {
        // A load that is not a number is not stable either.
        let stable = load < 1.0;
        if !stable {
            let name = kind.name();
            let message =
                format!("the policy is unstable: type `{name}` has load {load}, expected < 1");
            report.add("policy.switching_rate", message);
        }
    }
    let working = artifact.policy.msr().map_or(0, |p| p.schedules.len());
    counted(
        "phases",
        artifact.provenance.phases,
        round.stages + working,
        report,
    );
}

/// The slots that one round has to empty: `Σ_legs Σ_i (u_i − v_i)⁺`.
fn drains(artifact: &Artifact, policy: &MsrPolicy, report: &mut Report) {
    let excess = |(u, v): (&u32, &u32)| u64::from(u.saturating_sub(*v));
    let leg = |n: usize| -> u64 {
        let next = policy.schedule((n + 1) % policy.order.len());
        policy.schedule(n).iter().zip(next).map(excess).sum()
    };
    let drains: u64 = (0..policy.order.len()).map(leg).sum();
    counted("drains", artifact.provenance.drains, drains, report);
}

/// What the provenance counts of a loop.
fn counted<T: PartialEq + std::fmt::Display>(
    field: &str,
    found: Option<T>,
    expected: T,
    report: &mut Report,
) {
    if found.as_ref() != Some(&expected) {
        let found = found.map_or("absent".into(), |found| found.to_string());
        report.add(
            format!("provenance.{field}"),
            format!("{found}, expected {expected}"),
        );
    }
}

/// Whether a number is what was expected up to a relative error; never where one of them is
/// not finite.
fn is_close(found: f64, expected: f64, relative: f64) -> bool {
    expected.is_finite() && (found - expected).abs() <= relative * expected.abs()
}

/// Schedules with the fraction of time of each, and where they stand.
#[derive(Clone, Copy)]
struct Mixed<'a> {
    path: &'static str,
    schedules: &'a [Vec<u32>],
    weights: &'a [f64],
}

/// The mix of the certificate: that of the policy where it is one and no other is given.
fn mix(artifact: &Artifact) -> Option<Mixed<'_>> {
    mixes(artifact).last()
}

/// The mixes that there are: that of the policy, then that of the certificate.
fn mixes(artifact: &Artifact) -> impl Iterator<Item = Mixed<'_>> {
    let policy = artifact.policy.msr().map(|policy| Mixed {
        path: "policy",
        schedules: &policy.schedules,
        weights: &policy.weights,
    });
    let proven = artifact.certificate.mix.as_ref().map(|mix| Mixed {
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
