//! A rule over all servers of a fleet, whose jobs wait in one place.

use super::certificate::NODES;
use super::claims::PROGRAM;
use super::{
    Budget, CLAIMS, MAKING, OneServer, fleet, guarded, making, of_server, partition, shape,
};
use super::{Mixed, simulated};
use crate::artifact::{
    ArrivalLaw, Findings, Grounds, SizeLaw, Subject, is_close, length, nonnegative, written,
};
use crate::multiresource::artifact::{
    Artifact, CertificateRecord, Claim, Family, FleetCertificateRecord, Guard, HoldsFor, Making,
    Method, PartitionPolicy, PooledPolicy, Quantity,
};
use crate::multiresource::workload::{Fleet, Shape};

const GUARD: &str = "policy.guard";

const SLOTS: Grounds = Grounds::Derived("the law of the birth–death chain of each type's slots");

/// Relative rounding of what is derived from slots.
const ROUNDING: f64 = 1e-9;

/// The proof over all shapes, the rule, and what is claimed of it.
pub(super) fn check(artifact: &Artifact, policy: &Family, fleet: &Fleet, findings: &mut Findings) {
    if fleet.is_one_server() {
        let message = "expected none: there is one server, and a rule of its own in `servers`";
        return findings.add("policy.queue", message);
    }
    for (path, found) in [
        ("policy.servers", artifact.policy.servers.len()),
        ("evidence.servers", artifact.evidence.servers.len()),
        ("provenance.servers", artifact.provenance.servers.len()),
    ] {
        if found > 0 {
            findings.add(
                path,
                "expected none: jobs wait in one place, in `policy.queue`",
            );
        }
    }
    fleet::certificate_shape(artifact, fleet, findings);
    let Some(proof) = &artifact.evidence.fleet else {
        return;
    };
    if findings.is_clear("evidence") {
        mixes(proof, fleet, findings);
    }
    if findings.is_clear("evidence") {
        fleet::bound(proof, fleet, NODES, findings);
        fleet::load(proof, fleet, &served(proof, fleet), findings);
    }
    if findings.is_clear("evidence") {
        findings.stands("evidence.fleet", fleet::PROVED);
    }
    let certificate = certificate(proof, fleet);
    let making = Making {
        choice: artifact.provenance.choice.clone(),
        ..Making::default()
    };
    let whole = OneServer {
        place: None,
        shapes: &[],
        rule: policy,
        certificate: &certificate,
        making: &making,
        claims: of_server(artifact, None),
        workload: fleet.envelope(),
        budgets: &[CLAIMS, MAKING].map(Budget::new),
    };
    let mut part = Findings::default();
    if !findings.is_clear("evidence") {
        part.add("certificate", "");
        let mut alone = Findings::default();
        rule(&whole, fleet, &mut alone);
        return findings.take(alone, |path| whole.absolute(path));
    }
    rule(&whole, fleet, &mut part);
    making::check(&whole, &mut part);
    match policy {
        Family::Partition(policy) => of_slots(&whole, policy, fleet, &mut part),
        _ => simulated::of_server(&whole, &mut part),
    }
    findings.take(part, |path| whole.absolute(path));
}

/// What is known of the load, as that of one server has it; where there are gangs it is a bound.
fn certificate(proof: &FleetCertificateRecord, fleet: &Fleet) -> CertificateRecord {
    CertificateRecord {
        load: proof.load,
        prices: proof.prices.clone(),
        resource_prices: Vec::new(),
        bound: proof.bound,
        search: None,
        gap: proof.gap,
        proven: proof.proven && fleet.gangs().next().is_none(),
        exact: None,
        mix: None,
    }
}

/// Each shape has a mix of schedules that fit.
pub(super) fn mixes(proof: &FleetCertificateRecord, fleet: &Fleet, findings: &mut Findings) {
    for (h, (found, shape)) in proof.servers.iter().zip(fleet.shapes()).enumerate() {
        let path = format!("evidence.fleet.servers[{h}]");
        let Some(mix) = &found.mix else {
            findings.add(path, "no mix, expected that of its servers");
            continue;
        };
        let mixed = Mixed {
            path: "mix",
            schedules: &mix.schedules,
            weights: &mix.weights,
        };
        let mut part = Findings::default();
        shape::mixed(mixed, shape.types().len(), &mut part);
        if part.is_empty() {
            shape::fits("mix.schedules", &mix.schedules, shape.server(), &mut part);
        }
        findings.take(part, |place| format!("{path}.{place}"));
    }
}

/// `n_h (π_h W_h)_i` (H × K).
pub(super) fn served(proof: &FleetCertificateRecord, fleet: &Fleet) -> Vec<Vec<f64>> {
    let shapes = proof.servers.iter().zip(fleet.shapes());
    let of_shape = shapes.map(|(found, shape)| {
        let mut row = vec![0.0; fleet.types().len()];
        if let Some(mix) = &found.mix {
            let mean = super::mean_schedule(&mix.schedules, &mix.weights);
            for (&i, mean) in shape.types().iter().zip(mean) {
                row[i] = f64::from(shape.count()) * mean;
            }
        }
        row
    });
    of_shape.collect()
}

/// What the rule is made of.
fn rule(whole: &OneServer<'_>, fleet: &Fleet, findings: &mut Findings) {
    let workload = fleet.envelope();
    if whole.rule.needs_limits() && !workload.has_limits() {
        let message = "asks for the limits of jobs, and of this workload none are known";
        findings.add("policy", message);
    }
    match whole.rule {
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
            let message = format!(
                "`{}` is a rule of one server: expected in `servers`",
                other.name()
            );
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
fn of_slots(
    whole: &OneServer<'_>,
    policy: &PartitionPolicy,
    fleet: &Fleet,
    findings: &mut Findings,
) {
    if !findings.is_empty() {
        return;
    }
    let expected = claims(whole, policy, fleet);
    for (n, found) in &whole.claims {
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
        } else if as_found != **found {
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
    let subjects = whole.claims.iter().map(|(_, c)| (c.quantity, c.subject()));
    let subjects: std::collections::HashSet<_> = subjects.collect();
    length(
        "claims",
        whole.claims.len(),
        subjects.len(),
        "subject",
        findings,
    );
}

fn claims(whole: &OneServer<'_>, policy: &PartitionPolicy, fleet: &Fleet) -> Vec<Claim> {
    let (time, none) = (fleet.time_unit(), HoldsFor::default());
    let mut all = Vec::new();
    if whole.certificate.proven {
        let load = (whole.certificate.load, time);
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
