//! The checker: what can be derived of a campaign from its laws is; what was simulated is judged for sense.

mod together;

use std::collections::HashSet;

use super::{Artifact, BESIDE, Beside, Claim, Mean, Method, Policy, Quantity, TUNED, Tried};
use crate::artifact::{
    Finding, Findings, Grounds, Known, Quantity as _, is_close, nonnegative, positive,
};
use crate::document::unusable;
use crate::simulation::student;
use crate::volunteer::policy::{Dispatch, UNKNOWN};
use crate::volunteer::workload::{Campaign, HostsRecord, Processor, Version};

/// How near sums of many doubles are to what they are to be.
const NEAR: f64 = 1e-9;

const SIMULATED: Grounds =
    Grounds::Judged("an interval around a number that can be; `synth simulate` tries to refute it");
const CAPACITY: Grounds = Grounds::Derived(
    "processors times mean speed, the fraction of time on, and the chances to be right and returned",
);
const TRIED: Grounds = Grounds::Judged(
    "what was taken stands on the front, and nothing on it is surely better than another",
);

const CAMPAIGNS: Grounds =
    Grounds::Judged("no interval is wider than that of so many campaigns can be");

/// Checks what an artifact says, and notes on which grounds the rest stands.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Campaign> {
    let campaign = match artifact.workload.check() {
        Ok(campaign) => campaign,
        Err(faults) => {
            for fault in faults {
                findings.add(format!("workload.{}", fault.place), fault.message);
            }
            return None;
        }
    };
    policy(&artifact.policy, findings);
    given(&artifact.policy, &campaign, findings);
    claims(artifact, &campaign, findings);
    evidence(artifact, findings);
    let remark = Grounds::Trusted("a remark: nothing follows from it");
    for path in [
        "workload.source",
        "provenance.tool",
        "provenance.options",
        "evidence.events",
    ] {
        findings.stands(path, remark);
    }
    Some(campaign)
}

/// Where the campaign that a policy was made for and this one differ.
pub fn check_against(artifact: &Artifact, campaign: &Campaign) -> Vec<Finding> {
    let recorded = artifact.workload.check().map(|own| own.digest());
    match recorded.is_ok_and(|digest| digest == campaign.digest()) {
        true => Vec::new(),
        false => vec![Finding {
            path: "workload".into(),
            message: "it differs from the campaign that is named: hosts, applications or batches are others".into(),
        }],
    }
}

fn policy(policy: &Policy, findings: &mut Findings) {
    dispatch(&policy.dispatch, "policy.dispatch", findings);
    let own = &policy.percentiles;
    positive("policy.percentiles.refresh", own.refresh, findings);
    positive("policy.tick", policy.tick, findings);
    // What the rule has built in.
    for (key, found, expected) in [
        ("unknown", own.unknown, UNKNOWN),
        ("least_pairs", f64::from(own.least_pairs), 3.0),
        ("least_part", own.least_part, 0.01),
    ] {
        if found != expected {
            let message = format!("{found}, expected {expected}: this program has no other rule");
            findings.add(format!("policy.percentiles.{key}"), message);
        }
    }
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
        ("percentiles.refresh", policy.percentiles.refresh, refresh),
        ("tick", policy.tick, refresh / 24.0),
    ] {
        if !is_close(found, expected, NEAR) {
            let message = format!("{found}, expected {expected}, which follows from the workload");
            findings.add(format!("policy.{key}"), message);
        }
    }
}

fn dispatch(rule: &Dispatch, path: &str, findings: &mut Findings) {
    if rule.first_each == Some(0) {
        findings.add(
            format!("{path}.first_each"),
            "0, expected 1 at least, or none",
        );
    }
    for (key, value) in [
        ("first_percentile", rule.first_percentile),
        ("tight_percentile", rule.tight_percentile),
    ] {
        if !(0.0..=100.0).contains(&value) {
            let message = format!("{value}, expected a percentage from 0 to 100");
            findings.add(format!("{path}.{key}"), message);
        }
    }
    if let Some(q) = rule.quantile
        && !(q > 0.0 && q < 1.0)
    {
        let message = format!("{q}, expected a fraction between 0 and 1");
        findings.add(format!("{path}.quantile"), message);
    }
    positive(format!("{path}.patience"), rule.patience, findings);
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
        claim.has_subject(&path, &known, findings);
        if !seen.insert((claim.quantity, claim.batch.clone())) {
            findings.add(&*path, "a second claim about the same");
        }
        let unit = claim.quantity.unit(campaign.time_unit());
        if claim.unit != unit {
            findings.add(&*path, format!("unit `{}`, expected `{unit}`", claim.unit));
        }
        if claim.at.is_some() || claim.longer_than.is_some() {
            let message =
                "it is no probability of a queue: neither `at` nor `longer_than` go with it";
            findings.add(&*path, message);
        }
        match claim.quantity {
            Quantity::Capacity => of_capacity(claim, campaign, &path, findings),
            _ => of_run(claim, campaign, (&path, widest), findings),
        }
    }
    together::check(artifact, campaign, findings);
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
    let time = matches!(
        claim.quantity,
        Quantity::MedianMakespan
            | Quantity::MeanMakespan
            | Quantity::WorstMakespan
            | Quantity::Makespan
            | Quantity::Waited
    );
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

fn mean(found: Option<Mean>, path: &str, findings: &mut Findings) {
    if let Some(found) = found {
        nonnegative(format!("{path}.value"), found.value, findings);
        nonnegative(format!("{path}.half_width"), found.half_width, findings);
    }
}

/// What the claims are from.
fn evidence(artifact: &Artifact, findings: &mut Findings) {
    tried(artifact, findings);
    beside(&artifact.evidence.beside, findings);
    if let Some(message) = unusable("the program", &artifact.provenance.tool) {
        findings.add("provenance.tool", message);
    }
    findings.stands("evidence.campaigns", CAMPAIGNS);
    if artifact.evidence.campaigns < 2 {
        findings.add(
            "evidence.campaigns",
            "expected two at least: an interval needs them",
        );
    }
}

/// That what was tried leads to what was taken.
fn tried(artifact: &Artifact, findings: &mut Findings) {
    const PATH: &str = "evidence.tried";
    let all = &artifact.evidence.tried;
    for (n, tried) in all.iter().enumerate() {
        let path = format!("{PATH}[{n}]");
        dispatch(&tried.dispatch, &format!("{path}.dispatch"), findings);
        for (key, found) in [
            ("cost", tried.cost),
            ("makespan", tried.makespan),
            ("tight", tried.tight),
            ("stopped", tried.stopped),
            ("delay", tried.delay),
        ] {
            mean(found, &format!("{path}.{key}"), findings);
        }
    }
    for (n, one) in all.iter().enumerate() {
        let path = format!("{PATH}[{n}]");
        let mut others = all.iter();
        if all[..n].iter().any(|own| own.dispatch == one.dispatch) {
            findings.add(&*path, "a second time the same parameters");
        } else if !one.front && !others.any(|other| is_better(other, one)) {
            let message = "not on the front, but nothing is better in anything";
            findings.add(format!("{path}.front"), message);
        }
    }
    let beside = &artifact.evidence.beside;
    let overruled = beside.iter().any(|own| own.rule == TUNED);
    let taken = |tried: &&Tried| !overruled && tried.dispatch == artifact.policy.dispatch;
    match all.iter().find(taken) {
        None if overruled => {}
        None => findings.add(PATH, "what the policy does was not tried"),
        Some(taken) if !taken.front => {
            findings.add(PATH, "what the policy does does not stand on the front");
        }
        _ => {}
    }
    // Intervals that do not meet decide without the campaigns; others may differ surely all the same,
    // since all had the same campaigns.
    for (n, one) in all.iter().enumerate().filter(|(_, one)| one.front) {
        if all.iter().any(|other| apart(other, one)) {
            let message =
                "on the front, but another is surely better in one thing and no worse in any";
            findings.add(format!("{PATH}[{n}].front"), message);
        }
    }
    let costs = all.iter().filter(|own| own.front);
    let least = costs
        .filter_map(|own| Some(own.cost?.value))
        .fold(f64::INFINITY, f64::min);
    if let Some(cost) = all.iter().find(taken).and_then(|own| own.cost)
        && cost.value > least * (1.02 + NEAR)
    {
        findings.add(
            PATH,
            "what the policy does costs more than 2 % above the least on the front",
        );
    }
    findings.stands(PATH, TRIED);
}

/// That the other rules are there, each once; or none, where the budget did not allow them.
fn beside(all: &[Beside], findings: &mut Findings) {
    for (n, beside) in all.iter().enumerate() {
        let path = format!("evidence.beside[{n}]");
        if !BESIDE.contains(&beside.rule.as_str()) && beside.rule != TUNED {
            let message = format!("`{}`, expected one of {}", beside.rule, BESIDE.join(", "));
            findings.add(format!("{path}.rule"), message);
        }
        mean(beside.makespan, &format!("{path}.makespan"), findings);
        mean(beside.instances, &format!("{path}.instances"), findings);
        // A difference, of which only the width has a sign.
        let excess = beside.excess.map(|found| Mean {
            value: found.value.abs(),
            ..found
        });
        mean(excess, &format!("{path}.excess"), findings);
        // What is done was sent.
        let sent = beside.instances.is_none_or(|found| found.value > 0.0);
        if beside.makespan.is_some() && !sent {
            findings.add(format!("{path}.instances"), "expected a number > 0");
        }
        if all[..n].iter().any(|own| own.rule == beside.rule) {
            findings.add(format!("{path}.rule"), "a second time the same rule");
        }
    }
    if !all.is_empty() && all.len() != BESIDE.len() {
        findings.add("evidence.beside", format!("expected {}", BESIDE.join(", ")));
    }
    findings.stands("evidence.beside", SIMULATED);
}

/// What is weighed against each other.
fn objectives(tried: &Tried) -> [Option<Mean>; 4] {
    [tried.cost, tried.tight, tried.stopped, tried.delay]
}

/// Whether the one is better than the other in anything.
fn is_better(one: &Tried, other: &Tried) -> bool {
    let mut pairs = objectives(one).into_iter().zip(objectives(other));
    pairs.any(|pair| match pair {
        (Some(a), Some(b)) => a.value < b.value,
        (some, None) => some.is_some(),
        _ => false,
    })
}

/// Whether by their intervals alone the one is better in something, and not worse in anything.
fn apart(one: &Tried, other: &Tried) -> bool {
    let mut better = false;
    for (a, b) in objectives(one).into_iter().zip(objectives(other)) {
        match (a, b) {
            (Some(a), Some(b)) if a.value > b.value => return false,
            (Some(a), Some(b)) => better |= a.value + a.half_width < b.value - b.half_width,
            (None, Some(_)) => return false,
            _ => {}
        }
    }
    better
}
