//! A rule over all servers of a fleet, whose jobs wait in one place.

use super::claims::PROGRAM;
use super::{Document, guarded, partition, simulated};
use crate::artifact::{
    ArrivalLaw, Findings, Grounds, SizeLaw, Subject, is_close, length, nonnegative, written,
};
use crate::multiresource::artifact::{
    Claim, Family, Guard, HoldsFor, Method, PartitionPolicy, PooledPolicy, Quantity,
};
use crate::multiresource::workload::{Fleet, Shape};

const GUARD: &str = "policy.guard";

const SLOTS: Grounds = Grounds::Derived("the law of the birth–death chain of each type's slots");

/// Relative rounding of what is derived from slots.
const ROUNDING: f64 = 1e-9;

/// The rule, and what is claimed of it.
pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    rule(document, findings);
    match document.rule {
        Family::Partition(policy) => of_slots(document, policy, findings),
        _ => simulated::check(document, findings),
    }
}

/// What the rule is made of.
fn rule(document: &Document<'_>, findings: &mut Findings) {
    let (fleet, workload) = (document.fleet, document.workload);
    if document.rule.needs_limits() && !workload.has_limits() {
        let message = "asks for the limits of jobs, and of this workload none are known";
        findings.add("policy", message);
    }
    match document.rule {
        Family::Partition(policy) => {
            partition::check("policy", policy, fleet, findings);
            if findings.is_clear("policy") {
                partition::stable("policy", policy, workload, findings);
            }
        }
        Family::Guarded(policy) => {
            guarded::numbers(policy, findings);
            match &*policy.rule {
                Family::Pooled(own) => pooled("policy.rule.pooled", own, fleet, findings),
                Family::PooledEasy(_) => {}
                other => {
                    let message = format!("`{}`, expected pooled or pooled-easy", other.name());
                    findings.add("policy.rule", message);
                }
            }
            let Guard::Partition(guard) = &policy.guard else {
                return findings.add(GUARD, "a policy of one server, expected a partition");
            };
            partition::check(GUARD, guard, fleet, findings);
            if findings.is_clear("policy") {
                partition::stable(GUARD, guard, workload, findings);
            }
            if findings.is_clear("policy") {
                findings.stands(GUARD, Grounds::Derived("the loads of its slots"));
            }
        }
        Family::Pooled(own) => pooled("policy", own, fleet, findings),
        Family::PooledEasy(_) => {}
        other => {
            let message = format!("`{}`, expected a rule over all servers", other.name());
            findings.add("policy", message);
        }
    }
}

/// Each type has servers where it may start, also beside a zone.
fn pooled(path: &str, policy: &PooledPolicy, fleet: &Fleet, findings: &mut Findings) {
    nonnegative(format!("{path}.reserve"), policy.reserve, findings);
    let Some(zone) = &policy.zone else { return };
    let (types, shapes) = (fleet.types(), fleet.shapes());
    let own = format!("{path}.zone.types");
    let known = |i: &usize| *i < types.len();
    let twice = (1..zone.types.len()).any(|k| zone.types[..k].contains(&zone.types[k]));
    if zone.types.is_empty() || twice || !zone.types.iter().all(known) {
        let message = format!("{:?}, expected types, each once", zone.types);
        findings.add(own, message);
    }
    let own = format!("{path}.zone.servers");
    length(
        &own,
        zone.servers.len(),
        shapes.len(),
        "server shape",
        findings,
    );
    if !findings.is_clear(path) {
        return;
    }
    for (kept, shape) in zone.servers.iter().zip(shapes) {
        if *kept > shape.count() {
            let message = format!(
                "{kept} of {}, of which there are {}",
                shape.name(),
                shape.count()
            );
            findings.add(&own, message);
        }
    }
    for (i, kind) in types
        .iter()
        .enumerate()
        .filter(|(i, _)| !zone.types.contains(i))
    {
        let holds = |shape: &Shape| shape.types().contains(&i);
        let pairs = shapes
            .iter()
            .zip(&zone.servers)
            .filter(|(shape, _)| holds(shape));
        let left: u32 = pairs
            .map(|(shape, kept)| shape.count().saturating_sub(*kept))
            .sum();
        if left < kind.nodes() {
            let message = format!(
                "`{}` can start on {left} servers that are not in the zone, expected {} at least",
                kind.name(),
                kind.nodes()
            );
            findings.add(&own, message);
        }
    }
}

/// Claims about a partition: the load, and the means of queues with so many servers, if it has one assignment.
fn of_slots(document: &Document<'_>, policy: &PartitionPolicy, findings: &mut Findings) {
    if !findings.is_empty() {
        return;
    }
    let expected = claims(document, policy);
    for (n, found) in document.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        let is_it = |c: &&Claim| c.quantity == found.quantity && c.subject() == found.subject();
        let Some(right) = expected.iter().find(is_it) else {
            findings.add(path, "nothing of that kind follows from the slots");
            continue;
        };
        let as_found = Claim {
            value: found.value,
            ..right.clone()
        };
        if !is_close(found.value, right.value, ROUNDING) {
            let message = format!("{}, expected {}", found.value, right.value);
            findings.add(format!("{path}.value"), message);
        } else if as_found != *found {
            let message = format!("expected {}, and no more", written(right));
            findings.add(path, message);
        } else {
            let grounds = match right.method {
                Method::ExactProgram => PROGRAM,
                _ => SLOTS,
            };
            findings.stands(path, grounds);
        }
    }
    let subjects = document.claims.iter().map(|c| (c.quantity, c.subject()));
    let subjects: std::collections::HashSet<_> = subjects.collect();
    length(
        "claims",
        document.claims.len(),
        subjects.len(),
        "subject",
        findings,
    );
}

fn claims(document: &Document<'_>, policy: &PartitionPolicy) -> Vec<Claim> {
    let fleet = document.fleet;
    let (time, none) = (fleet.time_unit(), HoldsFor::default());
    let mut all = Vec::new();
    if document.is_load_proven() {
        let load = (document.evidence.load, time);
        all.push(Claim::new(
            Quantity::Load,
            Subject::ALL,
            load,
            Method::ExactProgram,
            none,
        ));
    }
    if policy.assignments.len() > 1 {
        return all;
    }
    let holds_for = HoldsFor {
        sizes: Some(SizeLaw::Exponential),
        arrivals: Some(ArrivalLaw::Poisson),
        ..HoldsFor::default()
    };
    let mut claim = |quantity, name: Option<&str>, value| {
        let subject = Subject::of_type(name);
        let method = Method::ExactQbd;
        all.push(Claim::new(
            quantity,
            subject,
            (value, time),
            method,
            holds_for.clone(),
        ));
    };
    let mut number = 0.0;
    let jobs = partition::jobs(policy, 0, fleet.types());
    for (kind, slots) in fleet.types().iter().zip(jobs) {
        let own = partition::mean_number(slots, kind.offered_load());
        claim(Quantity::MeanNumber, Some(kind.name()), own);
        claim(
            Quantity::MeanResponse,
            Some(kind.name()),
            own / kind.arrival_rate(),
        );
        number += own;
    }
    claim(Quantity::MeanNumber, None, number);
    let rate = fleet.envelope().total_arrival_rate();
    claim(Quantity::MeanResponse, None, number / rate);
    all
}
