//! The checker: what can be derived of a campaign from its laws is; what was simulated is judged for sense.

use std::collections::HashSet;

use super::{Artifact, Claim, Method, Policy, Quantity};
use crate::artifact::{
    Findings, Grounds, Known, Quantity as _, Subject, Unit, is_close, nonnegative, positive,
};
use crate::document::unusable;
use crate::simulation::student;
use crate::volunteer::policy::Dispatch;
use crate::volunteer::workload::{Campaign, HostsRecord, Processor, Version};

/// How near sums of many doubles are to what they are to be.
const NEAR: f64 = 1e-9;

const SIMULATED: Grounds =
    Grounds::Judged("an interval around a number that can be; `synth simulate` tries to refute it");
const CAPACITY: Grounds = Grounds::Derived(
    "processors times mean speed, the fraction of time on, and the chances to be right and returned",
);
const CAMPAIGNS: Grounds =
    Grounds::Judged("no interval is wider than that of so many campaigns can be");

/// Checks what an artifact says, and notes on which grounds the rest stands.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Campaign> {
    let campaign = findings.workload(artifact.workload.check())?;
    dispatch(&artifact.policy.dispatch, findings);
    given(&artifact.policy, &campaign, findings);
    claims(artifact, &campaign, findings);
    if let Some(message) = unusable("the program", &artifact.tool) {
        findings.add("tool", message);
    }
    findings.stands("evidence.campaigns", CAMPAIGNS);
    if artifact.evidence.campaigns < 2 {
        let message = "expected two at least: an interval needs them";
        findings.add("evidence.campaigns", message);
    }
    findings.remarks(&["workload.source", "tool"]);
    Some(campaign)
}

/// That what the workload gives is what the policy does, and that the table is made as often as it says.
fn given(policy: &Policy, campaign: &Campaign, findings: &mut Findings) {
    let own = &campaign.record().policy;
    let rule = &policy.dispatch;
    let refresh = own
        .refresh
        .map_or(campaign.horizon() / 60.0, |time| time.value());
    for (key, found, expected) in [
        (
            "dispatch.first_percentile",
            Some(rule.first_percentile),
            own.first_percentile,
        ),
        (
            "dispatch.tight_percentile",
            Some(rule.tight_percentile),
            own.tight_percentile,
        ),
        ("dispatch.quantile", rule.quantile, own.quantile),
        ("dispatch.patience", Some(rule.patience), own.patience),
    ] {
        if let Some(expected) = expected
            && found != Some(expected.value())
        {
            let message = format!("the workload gives {expected}, and the policy has another");
            findings.add(format!("policy.{key}"), message);
        }
    }
    for (key, found, expected) in [
        ("refresh", policy.refresh, refresh),
        ("tick", policy.tick, refresh / 24.0),
    ] {
        if !is_close(found, expected, NEAR) {
            let message = format!("{found}, expected {expected}, which follows from the workload");
            findings.add(format!("policy.{key}"), message);
        }
    }
}

fn dispatch(rule: &Dispatch, findings: &mut Findings) {
    if rule.first_each == Some(0) {
        let message = "0, expected 1 at least, or none";
        findings.add("policy.dispatch.first_each", message);
    }
    for (key, value) in [
        ("first_percentile", rule.first_percentile),
        ("tight_percentile", rule.tight_percentile),
    ] {
        if !(0.0..=100.0).contains(&value) {
            let message = format!("{value}, expected a percentage from 0 to 100");
            findings.add(format!("policy.dispatch.{key}"), message);
        }
    }
    if let Some(q) = rule.quantile
        && !(q > 0.0 && q < 1.0)
    {
        let message = format!("{q}, expected a fraction between 0 and 1");
        findings.add("policy.dispatch.quantile", message);
    }
    positive("policy.dispatch.patience", rule.patience, findings);
}

fn claims(artifact: &Artifact, campaign: &Campaign, findings: &mut Findings) {
    let names: Vec<&str> = campaign.batches().iter().map(|b| b.name.as_str()).collect();
    let known = Known {
        batches: &names,
        ..Known::default()
    };
    // Campaigns have no negative numbers: of so many with a mean no interval is wider, relatively.
    let others = artifact.evidence.campaigns.saturating_sub(1).max(1);
    let widest = student(0.975, f64::from(others));
    let mut seen = HashSet::new();
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        claim.is_plain(&path, &known, campaign.time_unit(), &mut seen, findings);
        match claim.quantity {
            Quantity::Capacity => of_capacity(claim, campaign, &path, findings),
            _ => of_run(claim, campaign, (&path, widest), findings),
        }
    }
    together(artifact, findings);
}

/// All claims are means over the same campaigns, so that what holds in each of them holds of the claims.
fn together(artifact: &Artifact, findings: &mut Findings) {
    let all = |quantity| artifact.find(quantity, Subject::ALL);
    if all(Quantity::Capacity).is_none() {
        let message = "no claim of the capacity, which all policies have";
        findings.add("claims", message);
    }
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
            let message = format!("{} is {}, and {} {}, which cannot be", a.0, a.1, b.0, b.1);
            findings.add("claims", message);
        }
    }
}

/// What hosts can do, counted here host by host.
fn of_capacity(claim: &Claim, campaign: &Campaign, path: &str, findings: &mut Findings) {
    if claim.method != Method::BoundMeans || claim.half_width.is_some() {
        findings.add(
            path,
            "it follows from means: no interval, and no other method",
        );
    }
    let hosts = campaign.record().hosts.iter();
    let expected: f64 = hosts
        .map(|own| own.on_fraction() * rate_while_on(own, campaign))
        .sum();
    if !is_close(claim.value, expected, NEAR) {
        let message = format!("{}, but hosts have {expected}", claim.value);
        findings.add(format!("{path}.value"), message);
    }
    findings.stands(path, CAPACITY);
}

/// Right work that all hosts of a group do a unit of time while they are on, each processor with the
/// best version for any batch \[work/time\].
fn rate_while_on(hosts: &HostsRecord, campaign: &Campaign) -> f64 {
    let right = (1.0 - hosts.error.value()) * (1.0 - hosts.vanish.value());
    let of = |processor: Processor| {
        let used = |version: &&Version| {
            let mut batches = campaign.batches().iter();
            version.processor == processor
                && version.released < campaign.horizon()
                && batches.any(|batch| batch.application == version.application)
        };
        let best = campaign.versions().iter().filter(used);
        let best = best.map(|version| version.efficiency).fold(0.0, f64::max);
        let speed = hosts.speed_of(processor).map_or(0.0, |law| law.mean());
        f64::from(hosts.processors(processor)) * speed * best
    };
    f64::from(hosts.count) * right * Processor::ALL.map(of).iter().sum::<f64>()
}

fn of_run(
    claim: &Claim,
    campaign: &Campaign,
    (path, widest): (&str, f64),
    findings: &mut Findings,
) {
    if claim.method != Method::Simulated {
        findings.add(format!("{path}.method"), "it is known from simulation only");
    }
    nonnegative(format!("{path}.value"), claim.value, findings);
    match claim.half_width {
        None => findings.add(path, "it is simulated: expected its `half_width`"),
        Some(half_width) => nonnegative(format!("{path}.half_width"), half_width, findings),
    }
    let width = claim.half_width.unwrap_or(0.0);
    if width > widest * claim.value * (1.0 + NEAR) {
        let message = format!("{width}, more than an interval around the value can have");
        findings.add(format!("{path}.half_width"), message);
    }
    let time = claim.quantity.row().unit == Unit::Time;
    let time = time && claim.quantity != Quantity::LeastMakespan;
    if time && claim.value > campaign.horizon() {
        let message = format!("{}, longer than the campaign", claim.value);
        findings.add(format!("{path}.value"), message);
    }
    let part = matches!(
        claim.quantity,
        Quantity::ShortBatches
            | Quantity::ShortJobs
            | Quantity::LongBatches
            | Quantity::LongJobs
            | Quantity::WithinBound
            | Quantity::GivenUp
    );
    if part && claim.value > 1.0 {
        findings.add(
            format!("{path}.value"),
            format!("{}, expected a part of 1", claim.value),
        );
    }
    findings.stands(path, SIMULATED);
}
