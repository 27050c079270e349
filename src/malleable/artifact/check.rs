//! The checker: derives what an artifact says from the artifact alone, by other code than made it.

use std::collections::HashSet;

use super::bound::{least_cost, least_makespan};
use super::{Artifact, Claim, Method, Quantity};
use crate::artifact::{
    Finding, Findings, Grounds, Known, Quantity as _, is_close, length, positive,
};
use crate::malleable::policy::Rule;
use crate::malleable::workload::{Objective, Pool};

/// How near sums of many doubles are to what they are to be.
const NEAR: f64 = 1e-9;

/// Servers that are given out twice, of all.
const ROUNDING: f64 = 1e-9;

const FLOW: Grounds = Grounds::Derived("the plan is executed, from one end of a job to the next");
const BOUND: Grounds =
    Grounds::Derived("weak duality: no policy does work that is worth more than it costs");

/// Checks what an artifact says, and notes on which grounds the rest stands.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Pool> {
    let pool = match artifact.workload.check() {
        Ok(pool) => pool,
        Err(faults) => {
            for fault in faults {
                findings.add(format!("workload.{}", fault.place), fault.message);
            }
            return None;
        }
    };
    policy(artifact, &pool, findings);
    if findings.is_clear("policy") {
        let ends = ends(artifact, &pool, findings);
        evidence(artifact, &pool, &ends, findings);
        claims(artifact, &pool, &ends, findings);
    }
    let remark = Grounds::Trusted("a remark: nothing follows from it");
    for path in ["workload.source", "provenance.tool", "provenance.options"] {
        findings.stands(path, remark);
    }
    Some(pool)
}

/// Where the workload that a policy was made for and this one differ.
pub fn check_against(artifact: &Artifact, pool: &Pool) -> Vec<Finding> {
    let recorded = artifact.workload.check().map(|own| own.digest());
    match recorded.is_ok_and(|digest| digest == pool.digest()) {
        true => Vec::new(),
        false => vec![Finding {
            path: "workload".into(),
            message: "it differs from the workload that is named: servers, speedups, jobs or the objective are others".into(),
        }],
    }
}

fn policy(artifact: &Artifact, pool: &Pool, findings: &mut Findings) {
    let (path, list) = match &artifact.policy.rule {
        Rule::Prices(prices) => ("policy.rule.prices", prices),
        Rule::Servers(servers) => ("policy.rule.servers", servers),
    };
    length(path, list.len(), pool.jobs().len(), "job", findings);
    for (i, value) in list.iter().enumerate() {
        positive(format!("{path}[{i}]"), *value, findings);
    }
    let sum: f64 = list.iter().sum();
    if matches!(artifact.policy.rule, Rule::Servers(_)) && sum > pool.servers() * (1.0 + ROUNDING) {
        findings.add(
            path,
            format!("{sum} servers in all, but there are {}", pool.servers()),
        );
    }
}

/// When jobs end: the plan is executed event by event.
fn ends(artifact: &Artifact, pool: &Pool, findings: &mut Findings) -> Vec<f64> {
    let mut done: Vec<f64> = vec![0.0; pool.jobs().len()];
    let mut ends = vec![f64::INFINITY; done.len()];
    let (mut now, mut stage) = (0.0, 0);
    let mut remaining: Vec<usize> = (0..done.len()).collect();
    let table = &artifact.policy.stages;
    while !remaining.is_empty() {
        let servers = artifact.policy.rule.servers(pool, &remaining);
        let sum: f64 = servers.iter().sum();
        if !(sum <= pool.servers() * (1.0 + ROUNDING) && servers.iter().all(|k| *k >= 0.0)) {
            findings.add("policy.rule", format!("it gives out {sum} servers"));
            return ends;
        }
        if !table.is_empty() {
            tabled(table.get(stage), &remaining, &servers, stage, findings);
        }
        let speed = |(i, k): (&usize, &f64)| pool.curves()[pool.jobs()[*i].curve].at(*k);
        let speeds: Vec<f64> = remaining.iter().zip(&servers).map(speed).collect();
        let rest = |i: usize| pool.jobs()[i].size - done[i];
        let all = remaining.iter().zip(&speeds);
        let (first, step) = all
            .map(|(&i, speed)| (i, rest(i) / speed))
            .fold((0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a });
        if step == f64::INFINITY {
            let name = &pool.jobs()[remaining[0]].name;
            findings.add("policy.rule", format!("job `{name}` never ends"));
            return ends;
        }
        now += step.max(0.0);
        for (&i, speed) in remaining.iter().zip(&speeds) {
            done[i] += speed * step;
        }
        // Those that end together have rounding errors left.
        let ended = |i: usize| i == first || done[i] >= pool.jobs()[i].size * (1.0 - 1e-12);
        for &i in remaining.iter().filter(|i| ended(**i)) {
            ends[i] = now;
            stage += 1;
        }
        remaining.retain(|i| ends[*i] == f64::INFINITY);
    }
    if !table.is_empty() {
        length("policy.stages", table.len(), ends.len(), "job", findings);
    }
    findings.stands("policy.stages", FLOW);
    ends
}

/// That a row of the table says what the rule says.
fn tabled(
    row: Option<&Vec<f64>>,
    remaining: &[usize],
    servers: &[f64],
    stage: usize,
    findings: &mut Findings,
) {
    let Some(row) = row else { return };
    let mut expected = vec![0.0; row.len()];
    for (&i, k) in remaining.iter().zip(servers) {
        if let Some(entry) = expected.get_mut(i) {
            *entry = *k;
        }
    }
    let all: f64 = servers.iter().sum();
    for (i, (found, expected)) in row.iter().zip(&expected).enumerate() {
        if !((found - expected).abs() <= NEAR * all) {
            let path = format!("policy.stages[{stage}][{i}]");
            findings.add(path, format!("{found}, expected {expected}"));
        }
    }
}

fn evidence(artifact: &Artifact, pool: &Pool, ends: &[f64], findings: &mut Findings) {
    let evidence = &artifact.evidence;
    length(
        "evidence.ends",
        evidence.ends.len(),
        ends.len(),
        "job",
        findings,
    );
    for (i, (found, expected)) in evidence.ends.iter().zip(ends).enumerate() {
        if !is_close(*found, *expected, NEAR) {
            let message = format!("{found}, expected {expected}");
            findings.add(format!("evidence.ends[{i}]"), message);
        }
    }
    findings.stands("evidence.ends", FLOW);
    let makespan = pool.objective() == Objective::Makespan;
    let count = if makespan { 0 } else { ends.len() };
    length(
        "evidence.prices",
        evidence.prices.len(),
        count,
        "job",
        findings,
    );
    for (i, price) in evidence.prices.iter().enumerate() {
        positive(format!("evidence.prices[{i}]"), *price, findings);
    }
    if !evidence.prices.is_sorted() {
        findings.add(
            "evidence.prices",
            "they fall, expected the largest job's first",
        );
    }
    findings.stands("evidence.prices", BOUND);
}

/// What the ends of jobs cost.
#[must_use]
pub fn cost(pool: &Pool, quantity: Quantity, ends: &[f64]) -> f64 {
    let each = || pool.jobs().iter().zip(ends);
    match quantity {
        Quantity::FlowTime => ends.iter().sum(),
        Quantity::MeanResponse => ends.iter().sum::<f64>() / ends.len() as f64,
        Quantity::WeightedFlowTime => each().map(|(job, end)| job.weight * end).sum(),
        Quantity::Slowdown => each().map(|(job, end)| end / job.size).sum(),
        Quantity::Makespan => ends.iter().copied().fold(0.0, f64::max),
        Quantity::Gap => f64::NAN,
    }
}

fn claims(artifact: &Artifact, pool: &Pool, ends: &[f64], findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        if !claim.has_subject(&path, &Known::default(), findings) {
            continue;
        }
        if !seen.insert(claim.quantity) {
            findings.add(&*path, "a second claim about the same");
        }
        let unit = claim.quantity.unit(pool.time_unit());
        if claim.unit != unit {
            findings.add(&*path, format!("unit `{}`, expected `{unit}`", claim.unit));
        }
        if claim.at.is_some() || claim.longer_than.is_some() || claim.half_width.is_some() {
            let message =
                "it is one number: neither `at` nor `longer_than` nor `half_width` go with it";
            findings.add(&*path, message);
        }
        match claim.quantity {
            Quantity::Gap => gap(artifact, claim, pool, ends, &path, findings),
            quantity => {
                let expected = cost(pool, quantity, ends);
                if claim.method != Method::ExactFlow {
                    findings.add(format!("{path}.method"), "expected exact-flow");
                }
                if !is_close(claim.value, expected, NEAR) {
                    let message = format!("{}, expected {expected}", claim.value);
                    findings.add(format!("{path}.value"), message);
                }
                findings.stands(&*path, FLOW);
            }
        }
    }
}

/// That no policy costs so much less.
fn gap(
    artifact: &Artifact,
    claim: &Claim,
    pool: &Pool,
    ends: &[f64],
    path: &str,
    findings: &mut Findings,
) {
    findings.stands(path, BOUND);
    if !findings.is_clear("evidence") {
        return;
    }
    let cost = cost(pool, pool.objective().quantity(), ends);
    let (method, bound) = match pool.objective() {
        Objective::Makespan => {
            let least = cost / (1.0 + claim.value);
            let bound = least_makespan(pool, least, NEAR).map(|()| least);
            (Method::BoundServers, bound)
        }
        _ => (
            Method::BoundPrices,
            least_cost(pool, &artifact.evidence.prices, NEAR),
        ),
    };
    if claim.method != method {
        findings.add(
            format!("{path}.method"),
            "it is not how this objective is bounded",
        );
    }
    let told = match bound {
        Err(why) => Some(why),
        Ok(least)
            if !(claim.value >= 0.0 && cost <= least * (1.0 + claim.value) * (1.0 + NEAR)) =>
        {
            Some(format!(
                "{}, but all that is known is {}: {cost} over {least}",
                claim.value,
                cost / least - 1.0
            ))
        }
        Ok(_) => None,
    };
    if let Some(message) = told {
        findings.add(format!("{path}.value"), message);
    }
}
