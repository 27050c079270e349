//! What could be bought: each step has a proof of its load, which is derived like that of the artifact itself, on
//! larger servers made anew.

use super::{fleet, pooled};
use crate::artifact::{Findings, Grounds, Subject};
use crate::multiresource::artifact::{
    Artifact, Family, FleetCertificateRecord, Growth, Method, Quantity, Step,
};
use crate::multiresource::workload::{Fleet, JobType};
use crate::number::Decimal;

const PATH: &str = "provenance.growth";

/// Relative rounding of loads; and of means, which are made by searches.
const ROUNDING: f64 = 1e-9;
const MEANS: f64 = 1e-6;

/// Nodes that each knapsack may visit: these are answers beside others.
const NODES: u64 = 5_000_000;

const DERIVED: Grounds = Grounds::Derived(
    "the load from the mixes; the bound from the prices, by one knapsack a shape, on larger servers made anew",
);
const LOAD: Grounds = Grounds::Judged(
    "the load is that of the mixes, on larger servers made anew; the bound takes longer to derive",
);
const BOUND: Grounds = Grounds::Judged(
    "the bound from the prices, on larger servers made anew; the mixes that have the load are too long for the file",
);
const ORDER: Grounds = Grounds::Judged("no more than the load of the servers as they are");
const SENSE: Grounds = Grounds::Judged("the mean sizes, and what is claimed of the policy now");
const COUNTED: Grounds = Grounds::Trusted("what was not looked at cannot be seen");

pub(super) fn check(artifact: &Artifact, fleet: &Fleet, findings: &mut Findings) {
    let growth = artifact.provenance.growth.as_ref();
    // What is said of larger servers is compared with what is said of these.
    let sound = ["evidence", "certificate", "policy"];
    let Some(growth) = growth.filter(|_| sound.iter().all(|path| findings.is_clear(path))) else {
        return;
    };
    let Some(now) = load(artifact) else { return };
    if !possible(growth, fleet, findings) {
        return;
    }
    for (n, step) in growth.steps.iter().enumerate() {
        let here = |field: &str| format!("{PATH}.steps[{n}].{field}");
        let is_it = |s: &&Step| (&s.shape, &s.resource) == (&step.shape, &step.resource);
        if growth.steps[..n].iter().any(|s| is_it(&s)) {
            findings.add(here("shape"), "the same step stands there already");
        }
        match larger(fleet, step) {
            Err((field, message)) => findings.add(here(field), message),
            Ok(larger) => {
                let mut part = Findings::default();
                proof(&step.proof, &larger, &mut part);
                let own = here("proof");
                findings.take(part, |path| path.replacen("evidence.fleet", &own, 1));
            }
        }
        let found = step.proof.load;
        let before = growth.steps[..n].last().map_or(0.0, |s| s.proof.load);
        let in_order = before <= found && found <= now * (1.0 + ROUNDING);
        if !in_order {
            let message = format!(
                "{found}, expected no less than {before} of the step before, and no more than {now} of these servers"
            );
            findings.add(here("proof.load"), message);
        }
        if let Some(found) = step.mean_response {
            mean(artifact, fleet, &here("mean_response"), found, findings);
        }
    }
    if growth.skipped > 0 {
        findings.stands(format!("{PATH}.skipped"), COUNTED);
    }
}

/// No more steps than there are.
fn possible(growth: &Growth, fleet: &Fleet, findings: &mut Findings) -> bool {
    let most = fleet.shapes().len() * (fleet.envelope().resources().len() + 1);
    let is_possible = growth.steps.len().saturating_add(growth.skipped) <= most;
    if !is_possible {
        let message = format!(
            "{} beside {} steps, expected no more than {most} in all",
            growth.skipped,
            growth.steps.len()
        );
        findings.add(format!("{PATH}.steps"), message);
    }
    is_possible
}

/// The load of the servers as they are.
fn load(artifact: &Artifact) -> Option<f64> {
    let own = artifact.evidence.servers.first().map(|own| own.load);
    let all = artifact.evidence.fleet.as_ref().map(|all| all.load);
    all.or(own)
}

/// The servers with what is bought; or the field that is wrong, and why.
fn larger(fleet: &Fleet, step: &Step) -> Result<Fleet, (&'static str, String)> {
    let h = fleet.shapes().iter().position(|s| s.name() == step.shape);
    let h = h.ok_or_else(|| ("shape", format!("`{}`, expected a shape", step.shape)))?;
    let Some(name) = &step.resource else {
        let one = step.more == 1.0 && !fleet.is_one_server();
        let larger = one.then(|| fleet.with_one_more_server(h)).flatten();
        let why = "expected one more server of a fleet that has several";
        return larger.ok_or_else(|| ("more", format!("{}, {why}", step.more)));
    };
    let resources = fleet.envelope().resources();
    let j = resources.iter().position(|r| r.name() == name);
    let has = |j: &usize| !fleet.shapes()[h].capacity()[*j].is_zero();
    let why = "expected a resource that the shape has";
    let j = j.filter(has);
    let j = j.ok_or_else(|| ("resource", format!("`{name}`, {why}")))?;
    let more = Decimal::new(step.more).filter(|more| *more > Decimal::ZERO);
    let larger = more.and_then(|more| fleet.with_more(h, j, more));
    let why = "expected an amount > 0 that can be added";
    larger.ok_or_else(|| ("more", format!("{}, {why}", step.more)))
}

/// The load by its mixes, the bound by its prices.
fn proof(found: &FleetCertificateRecord, larger: &Fleet, findings: &mut Findings) {
    let path = "evidence.fleet";
    fleet::proof_shape(found, larger, findings);
    let is_short = found.servers.iter().all(|own| own.mix.is_none());
    if findings.is_empty() && !is_short {
        pooled::mixes(found, larger, findings);
    }
    if !findings.is_empty() {
        return;
    }
    if !is_short {
        fleet::load(found, larger, &pooled::served(found, larger), findings);
    } else if found.load < found.bound * (1.0 - ROUNDING) {
        let message = format!("{}, expected {} at least", found.load, found.bound);
        findings.add(format!("{path}.load"), message);
    }
    let mut bound = Findings::default();
    let sufficed = fleet::bound(found, larger, NODES, &mut bound);
    if sufficed {
        findings.take(bound, str::to_owned);
    }
    if findings.is_empty() {
        let grounds = match (is_short, sufficed) {
            (false, true) => DERIVED,
            (false, false) => LOAD,
            (true, true) => BOUND,
            (true, false) => ORDER,
        };
        findings.stands(path, grounds);
    }
}

/// A mean where a policy can be made anew by analysis: no job leaves before it is served, and none is later than now.
fn mean(artifact: &Artifact, fleet: &Fleet, path: &str, found: f64, findings: &mut Findings) {
    let rule = match &artifact.policy.queue {
        Some(rule) => Some(rule),
        None => artifact.one_server().map(|server| &server.policy.rule),
    };
    if !matches!(rule, Some(Family::Msr(_) | Family::Partition(_))) {
        let message = "expected none: no such policy is made by analysis";
        return findings.add(path, message);
    }
    let claim = artifact.find(Quantity::MeanResponse, Subject::ALL);
    let exact = claim.filter(|claim| claim.method == Method::ExactQbd);
    let work: f64 = fleet.types().iter().map(JobType::offered_load).sum();
    let least = work / fleet.envelope().total_arrival_rate();
    let most = exact.map_or(f64::MAX, |claim| claim.value);
    if (least * (1.0 - MEANS)..=most * (1.0 + MEANS)).contains(&found) {
        findings.stands(path, SENSE);
    } else {
        findings.add(path, format!("{found}, expected from {least} to {most}"));
    }
}
