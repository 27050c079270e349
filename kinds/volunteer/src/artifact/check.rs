//! The checker of a policy file. Simulated values are only checked for plausibility.

use std::collections::HashSet;

use super::{Artifact, Claim, Method, Policy, Quantity};
use crate::workload::{Campaign, HostsRecord, Processor, Version};
use synth_core::artifact::{
    Findings, Grounds, KnownNames, Quantity as _, Subject, Unit, is_close, nonnegative, positive,
};
use synth_core::document::name_problem;
use synth_simulation::student;

const NEAR: f64 = 1e-9;

const SIMULATED: Grounds =
    Grounds::Judged("the interval is around a possible value; `synth simulate` tries to refute it");
const CAPACITY: Grounds = Grounds::Derived(
    "processors times mean speed, availability, and the probability of a correct result that is returned",
);
const CAMPAIGNS: Grounds =
    Grounds::Judged("no interval is wider than this number of campaigns allows");

pub(super) fn check(artifact: &Artifact, campaign: &Campaign, findings: &mut Findings) {
    findings.within("policy", |f| check_policy(&artifact.policy, campaign, f));
    check_claims(artifact, campaign, findings);
    if let Some(message) = name_problem("the program", &artifact.tool) {
        findings.add("tool", message);
    }
    findings.stands("evidence.campaigns", CAMPAIGNS);
    if artifact.evidence.campaigns < 2 {
        let message = "expected at least 2, as an interval needs them";
        findings.add("evidence.campaigns", message);
    }
}

fn check_policy(policy: &Policy, campaign: &Campaign, findings: &mut Findings) {
    let rule = &policy.dispatch;
    if rule.first_each == Some(0) {
        findings.differs("dispatch.first_each", 0, "at least 1, or absent");
    }
    for (path, value) in [
        ("dispatch.first_percentile", rule.first_percentile),
        ("dispatch.tight_percentile", rule.tight_percentile),
    ] {
        if !(0.0..=100.0).contains(&value) {
            findings.differs(path, value, "a percentage from 0 to 100");
        }
    }
    if let Some(q) = rule.quantile.filter(|q| !(*q > 0.0 && *q < 1.0)) {
        findings.differs("dispatch.quantile", q, "a fraction between 0 and 1");
    }
    positive("dispatch.patience", rule.patience, findings);
    let own = &campaign.record.policy;
    if rule.with_fixed(own) != *rule {
        let message = "expected the parameters given in the workload's `policy`";
        findings.add("dispatch", message);
    }
    let refresh = campaign.refresh();
    for (key, found, expected) in [
        ("refresh", policy.refresh, refresh),
        ("tick", policy.tick, refresh / 24.0),
    ] {
        if !is_close(found, expected, NEAR) {
            let expected = format!("{expected}, which follows from the workload");
            findings.differs(key, found, expected);
        }
    }
}

fn check_claims(artifact: &Artifact, campaign: &Campaign, findings: &mut Findings) {
    let names: Vec<&str> = campaign.batches.iter().map(|b| b.name.as_str()).collect();
    let known = KnownNames {
        batches: &names,
        ..KnownNames::default()
    };
    // For nonnegative values, the half-width relative to the mean is at most this quantile.
    let others = artifact.evidence.campaigns.saturating_sub(1).max(1);
    let widest = student(0.975, f64::from(others));
    let (time, mut seen) = (&campaign.record.time_unit, HashSet::new());
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        claim.check_plain(&path, &known, time, &mut seen, findings);
        findings.within(path, |findings| match claim.quantity {
            Quantity::Capacity => check_capacity(claim, campaign, findings),
            _ => check_simulated(claim, campaign, widest, findings),
        });
    }
    let all = |quantity| artifact.find(quantity, Subject::ALL);
    if all(Quantity::Capacity).is_none() {
        let message = "expected a claim about the capacity";
        findings.add("claims", message);
    }
    // These are means over the same campaigns, so the inequalities also hold for the means.
    for (less, more) in [
        (Quantity::LeastMakespan, Quantity::MeanMakespan),
        (Quantity::MedianMakespan, Quantity::WorstMakespan),
        (Quantity::MeanMakespan, Quantity::WorstMakespan),
        (Quantity::Tight, Quantity::Instances),
    ] {
        if let Some((less, more)) = all(less).zip(all(more))
            && less.value > more.value * (1.0 + NEAR)
        {
            let [a, b] = [less, more].map(|claim| (claim.quantity.row().label, claim.value));
            let message = format!(
                "{} is {}, but {} is {}, which cannot be",
                a.0, a.1, b.0, b.1
            );
            findings.add("claims", message);
        }
    }
}

fn check_capacity(claim: &Claim, campaign: &Campaign, findings: &mut Findings) {
    if claim.method != Method::BoundMeans || claim.half_width.is_some() {
        let message =
            "the capacity is computed from the means: expected `bound-means` without an interval";
        findings.add("", message);
    }
    let hosts = campaign.record.hosts.iter();
    let rates = hosts.map(|own| own.on_fraction() * rate_while_on(own, campaign));
    let expected: f64 = rates.sum();
    if !is_close(claim.value, expected, NEAR) {
        let message = format!("{}, but the hosts have {expected}", claim.value);
        findings.add("value", message);
    }
    findings.stands("", CAPACITY);
}

/// Returns the correct work of a group per unit of time while it is on, with the best versions.
fn rate_while_on(hosts: &HostsRecord, campaign: &Campaign) -> f64 {
    let right = (1.0 - hosts.error.value()) * (1.0 - hosts.vanish.value());
    let of = |processor: Processor| {
        let used = |version: &&Version| {
            let mut batches = campaign.batches.iter();
            version.processor == processor
                && version.released < campaign.horizon()
                && batches.any(|batch| batch.application == version.application)
        };
        let best = campaign.versions.iter().filter(used);
        let best = best.map(|version| version.efficiency).fold(0.0, f64::max);
        let speed = hosts.speed_of(processor).map_or(0.0, |law| law.mean());
        f64::from(hosts.processors(processor)) * speed * best
    };
    f64::from(hosts.count) * right * Processor::ALL.map(of).iter().sum::<f64>()
}

fn check_simulated(claim: &Claim, campaign: &Campaign, widest: f64, findings: &mut Findings) {
    let (quantity, value) = (claim.quantity, claim.value);
    if claim.method != Method::Simulated {
        findings.add("method", "this quantity is only known from a simulation");
    }
    nonnegative("value", value, findings);
    match claim.half_width {
        None => findings.add("", "expected a `half_width`, as it is simulated"),
        Some(width) => {
            nonnegative("half_width", width, findings);
            if width > widest * value * (1.0 + NEAR) {
                let message = format!("{width}, wider than an interval around the value can be");
                findings.add("half_width", message);
            }
        }
    }
    let is_time = quantity.row().unit == Unit::Time && quantity != Quantity::LeastMakespan;
    if is_time && value > campaign.horizon() {
        findings.add("value", format!("{value}, longer than the campaign"));
    }
    let is_part = Quantity::IN_TIME.contains(&quantity)
        || matches!(quantity, Quantity::WithinBound | Quantity::GivenUp);
    if is_part && value > 1.0 {
        findings.differs("value", value, "a fraction of at most 1");
    }
    findings.stands("", SIMULATED);
}
