//! What is said of all servers together: how many there are of each shape, where jobs are sent, the
//! proof over all shapes, and what is claimed of the whole.

use std::collections::HashMap;

use super::certificate::{self, NODES, Priced};
use super::claims::PROGRAM;
use super::shape::search;
use super::{mean_schedule, of_server};
use crate::artifact::{
    ArrivalLaw, Findings, Grounds, SizeLaw, Subject, find, is_close, length, nonnegative, positive,
    sums_to_one, written,
};
use crate::multiresource::artifact::{
    Artifact, Claim, Conditions, FleetCertificateRecord, HoldsFor, Method, Quantity, Routing,
    Server, ServerPolicy,
};
use crate::multiresource::workload::{Fleet, Workload};

pub(super) const PROVED: Grounds =
    Grounds::Derived("the load from the mixes; the bound from the prices, by one knapsack a shape");
const MIXES: Grounds = Grounds::Derived("what the mixes of the shapes serve");
const SUMMED: Grounds = Grounds::Derived("the sum over the servers");

/// Relative rounding allowed in routing, load, worth and means.
const ROUNDING: f64 = 1e-9;

/// One entry for each shape of the workload, and fractions of each type that sum to 1.
pub(super) fn structure(artifact: &Artifact, fleet: &Fleet, findings: &mut Findings) {
    let found = &artifact.policy.servers;
    let (count, types) = (fleet.shapes().len(), fleet.types());
    for (path, found) in [
        ("policy.servers", found.len()),
        ("evidence.servers", artifact.evidence.servers.len()),
        ("provenance.servers", artifact.provenance.servers.len()),
    ] {
        length(path, found, count, "shape of servers", findings);
    }
    for (h, (found, shape)) in found.iter().zip(fleet.shapes()).enumerate() {
        let here = |field: &str| format!("policy.servers[{h}].{field}");
        if found.name != shape.name() {
            let message = format!("`{}`, expected `{}`", found.name, shape.name());
            findings.add(here("name"), message);
        }
        if found.count != shape.count() {
            let message = format!("{}, expected {}", found.count, shape.count());
            findings.add(here("count"), message);
        }
        let routing = here("routing");
        length(
            &routing,
            found.routing.len(),
            types.len(),
            "job type",
            findings,
        );
        for (i, fraction) in found.routing.iter().enumerate() {
            let path = here(&format!("routing[{i}]"));
            if !(0.0..=1.0).contains(fraction) {
                findings.add(path, format!("{fraction}, expected a fraction from 0 to 1"));
            } else if fleet.is_one_server() && *fraction != 1.0 {
                findings.add(path, format!("{fraction}, expected 1: there is one server"));
            } else if *fraction > 0.0 && !shape.types().contains(&i) {
                let name = types.get(i).map_or("", |kind| kind.name());
                let message = format!("{fraction}, expected 0: type `{name}` does not fit there");
                findings.add(path, message);
            }
        }
    }
    if findings.is_clear("policy") {
        for (i, kind) in types.iter().enumerate() {
            let sum: f64 = found.iter().map(|server| server.routing[i]).sum();
            let is_one = (sum - 1.0).abs() <= ROUNDING;
            if !is_one {
                let name = kind.name();
                let message = format!(
                    "the fractions of type `{name}` (routing[{i}]) sum to {sum} over the shapes, expected 1"
                );
                findings.add("policy.servers", message);
            }
        }
    }
}

/// Lengths and signs of the fleet's certificate, which is there where there are several servers.
pub(super) fn certificate_shape(artifact: &Artifact, fleet: &Fleet, findings: &mut Findings) {
    let path = "evidence.fleet";
    let found = match (&artifact.evidence.fleet, fleet.is_one_server()) {
        (Some(found), false) => found,
        (None, true) => return,
        (None, false) => return findings.add(path, "absent, expected the proof over all shapes"),
        (Some(_), true) => return findings.add(path, "expected none: there is one server"),
    };
    proof_shape(found, fleet, findings);
}

/// Lengths and signs of a certificate of a fleet.
pub(super) fn proof_shape(found: &FleetCertificateRecord, fleet: &Fleet, findings: &mut Findings) {
    let path = "evidence.fleet";
    let prices = format!("{path}.prices");
    let types = fleet.types().len();
    length(&prices, found.prices.len(), types, "job type", findings);
    for (i, price) in found.prices.iter().enumerate() {
        nonnegative(format!("{prices}[{i}]"), *price, findings);
    }
    sums_to_one(&prices, &found.prices, findings);
    positive(format!("{path}.load"), found.load, findings);
    positive(format!("{path}.bound"), found.bound, findings);
    nonnegative(format!("{path}.gap"), found.gap, findings);
    let (servers, count) = (format!("{path}.servers"), fleet.shapes().len());
    length(&servers, found.servers.len(), count, "shape", findings);
    for (h, (found, shape)) in found.servers.iter().zip(fleet.shapes()).enumerate() {
        let prices = format!("{servers}[{h}].resource_prices");
        let resources = shape.server().resources().len();
        let each = "resource of the shape";
        length(
            &prices,
            found.resource_prices.len(),
            resources,
            each,
            findings,
        );
        for (j, price) in found.resource_prices.iter().enumerate() {
            nonnegative(format!("{prices}[{j}]"), *price, findings);
        }
        if let Some(tree) = &found.search {
            let path = format!("{servers}[{h}].search");
            let types = shape.types().len();
            search(&path, tree, (types, resources), findings);
        }
        nonnegative(format!("{servers}[{h}].worth"), found.worth, findings);
    }
}

/// For each shape, what is sent to one of its servers.
pub(super) fn sent(
    artifact: &Artifact,
    fleet: &Fleet,
    findings: &mut Findings,
) -> Option<Vec<Workload>> {
    let routed = artifact.policy.servers.iter().enumerate();
    let routed = routed.map(|(h, server)| fleet.routed(h, &server.routing).map_err(|_| h));
    let sent: Result<Vec<Workload>, usize> = routed.collect();
    if let Err(h) = &sent {
        let message = "nothing that could be simulated is sent there, expected some type";
        findings.add(format!("policy.servers[{h}].routing"), message);
    }
    sent.ok()
}

/// The proof over all shapes, where jobs are sent, and what is claimed of the whole.
pub(super) fn check(
    artifact: &Artifact,
    fleet: &Fleet,
    sent: &[Workload],
    names: &[&str],
    findings: &mut Findings,
) {
    let Some(proof) = &artifact.evidence.fleet else {
        return;
    };
    if findings.is_clear("evidence.fleet") {
        bound(proof, fleet, NODES, findings);
    }
    unknown_servers(artifact, names, findings);
    if findings.is_clear("policy")
        && let Some(served) = served(artifact, fleet, sent)
    {
        routing(artifact, fleet, &served, findings);
        if findings.is_clear("evidence") {
            load(proof, fleet, &served, findings);
        }
    }
    for (path, grounds) in [("evidence.fleet", PROVED), ("policy.servers", MIXES)] {
        if findings.is_clear(path) {
            findings.stands(path, grounds);
        }
    }
    if findings.is_empty() {
        // From here on there is sense in what is claimed of the servers.
        claims(artifact, proof, fleet, findings);
    }
}

/// Claims about servers that are none.
fn unknown_servers(artifact: &Artifact, names: &[&str], findings: &mut Findings) {
    for (n, claim) in artifact.claims.iter().enumerate() {
        if let Some(name) = claim.server.as_deref().filter(|name| !names.contains(name)) {
            let message = format!("`{name}`, expected the name of a shape of servers");
            findings.add(format!("claims[{n}].server"), message);
        }
    }
}

/// No server is worth more than is said, and the bound is one over what all are worth. Each knapsack may visit so many
/// nodes; returned is whether they sufficed.
pub(super) fn bound(
    found: &FleetCertificateRecord,
    fleet: &Fleet,
    nodes: u64,
    findings: &mut Findings,
) -> bool {
    let (mut worth, mut sufficed) = (0.0, true);
    for (h, (own, shape)) in found.servers.iter().zip(fleet.shapes()).enumerate() {
        let value = |&i: &usize| found.prices[i] / fleet.types()[i].offered_pieces();
        let values: Vec<f64> = shape.types().iter().map(value).collect();
        let at = Priced {
            search: own.search.as_ref(),
            values: &values,
            resource_prices: &own.resource_prices,
            worth: own.worth,
            nodes,
            prices_path: &format!("evidence.fleet.servers[{h}].resource_prices"),
            bound_path: &format!("evidence.fleet.servers[{h}].worth"),
        };
        sufficed &= at.check(own.worth, shape.server(), findings) > 0;
        worth += f64::from(shape.count()) * own.worth;
    }
    if !is_close(found.bound, 1.0 / worth, ROUNDING) {
        let message = format!("{}, expected {}", found.bound, 1.0 / worth);
        findings.add("evidence.fleet.bound", message);
    }
    let stated = (found.gap, found.proven);
    certificate::gap("evidence.fleet", found.load, found.bound, stated, findings);
    sufficed
}

/// `n_h (π_h W_h)_i` (H × K): what the servers of each shape serve on average, at most; `None` where
/// schedules have the wrong length.
fn served(artifact: &Artifact, fleet: &Fleet, sent: &[Workload]) -> Option<Vec<Vec<f64>>> {
    let of_shape = |(server, workload): (Server<'_>, &Workload)| {
        let (schedules, weights) = match (&server.certificate.mix, server.policy.rule.msr()) {
            (Some(mix), _) => (&mix.schedules, &mix.weights),
            (None, Some(policy)) => (&policy.schedules, &policy.weights),
            (None, None) => return None,
        };
        let types = workload.types().len();
        if schedules.iter().any(|schedule| schedule.len() != types) {
            return None;
        }
        let mean = mean_schedule(schedules, weights);
        let names = workload.types().iter().map(|kind| kind.name());
        let by_name: HashMap<&str, f64> = names.zip(mean).collect();
        let of_type = |name: &str| by_name.get(name).copied().unwrap_or(0.0);
        let types = fleet.types().iter();
        let all = types.map(|kind| f64::from(server.policy.count) * of_type(kind.name()));
        Some(all.collect())
    };
    artifact.servers().zip(sent).map(of_shape).collect()
}

/// `load = max_i b_i / Σ_h n_h (π_h W_h)_i`, and below 1.
pub(super) fn load(
    proof: &FleetCertificateRecord,
    fleet: &Fleet,
    served: &[Vec<f64>],
    findings: &mut Findings,
) {
    let found = proof.load;
    let total = |i: usize| -> f64 { served.iter().map(|row| row[i]).sum() };
    let types = fleet.types().iter().enumerate();
    let load = types
        .map(|(i, kind)| kind.offered_pieces() / total(i))
        .fold(0.0, f64::max);
    let (is_load, stabilizes) = (is_close(found, load, ROUNDING), load < 1.0);
    if !(is_load && stabilizes) {
        let message = format!("{found}, expected {load}, and that below 1");
        findings.add("evidence.fleet.load", message);
    }
}

/// Each type is sent to the shapes in proportion to what they serve of it.
fn routing(artifact: &Artifact, fleet: &Fleet, served: &[Vec<f64>], findings: &mut Findings) {
    for (i, kind) in fleet.types().iter().enumerate() {
        let total: f64 = served.iter().map(|row| row[i]).sum();
        for (h, server) in artifact.policy.servers.iter().enumerate() {
            let (found, expected) = (server.routing[i], served[h][i] / total);
            if !is_close(found, expected, ROUNDING) {
                findings.add(
                    format!("policy.servers[{h}].routing[{i}]"),
                    format!(
                        "{found} of type `{}`, expected {expected}, its part of what the mixes serve",
                        kind.name()
                    ),
                );
            }
        }
    }
}

/// Claims about all servers follow from the certificate and from the claims about one server of each
/// shape.
fn claims(
    artifact: &Artifact,
    proof: &FleetCertificateRecord,
    fleet: &Fleet,
    findings: &mut Findings,
) {
    let mut whole = of_server(artifact, None);
    whole.retain(|(_, claim)| claim.server.is_none());
    let expected = expected_claims(artifact, proof, fleet);
    for (place, (n, found)) in whole.iter().enumerate() {
        let here = |field: &str| format!("claims[{n}]{field}");
        let is_it = |c: &Claim| c.quantity == found.quantity && c.subject() == found.subject();
        if let Some((first, _)) = whole[..place].iter().find(|(_, c)| is_it(c)) {
            let message = format!("claims again what claims[{first}] claims");
            findings.add(here(""), message);
            continue;
        }
        let Some(right) = find(&expected, found.quantity, found.subject()) else {
            findings.add(
                here(""),
                "nothing of that kind follows from the certificate or from the servers' claims",
            );
            continue;
        };
        if !is_close(found.value, right.value, ROUNDING) {
            let message = format!("{}, expected {}", found.value, right.value);
            findings.add(here(".value"), message);
        }
        let as_wide = match (found.half_width, right.half_width) {
            (Some(found), Some(right)) => is_close(found, right, ROUNDING),
            (found, right) => found == right,
        };
        if !as_wide {
            let told = |width: Option<f64>| width.map_or("none".into(), |w| w.to_string());
            let (found, right) = (told(found.half_width), told(right.half_width));
            findings.add(here(".half_width"), format!("{found}, expected {right}"));
        }
        findings.stands(here(""), grounds(artifact, found, findings));
        let labels = Claim {
            value: right.value,
            half_width: right.half_width,
            ..(*found).clone()
        };
        if labels != *right {
            let told = |c: &Claim| {
                let (unit, method) = (&c.unit, c.method);
                let (method, assumes) = (written(&method), written(&c.holds_for));
                format!("unit `{unit}`, method {method}, holds for {assumes}")
            };
            let message = format!("{}; expected {}, and no more", told(found), told(right));
            findings.add(here(""), message);
        }
    }
}

/// A sum stands on no better grounds than its parts.
fn grounds(artifact: &Artifact, claim: &Claim, findings: &Findings) -> Grounds {
    if claim.method == Method::ExactProgram {
        return PROGRAM;
    }
    let about = |part: &Claim| claim.job_type.is_none() || part.job_type == claim.job_type;
    let parts = artifact.claims.iter().enumerate();
    let numbers = parts.filter(|(_, part)| {
        part.server.is_some() && part.quantity == Quantity::MeanNumber && about(part)
    });
    let noted = numbers.filter_map(|(n, _)| findings.grounds(&format!("claims[{n}]")));
    noted.fold(SUMMED, Grounds::and)
}

/// All that follows: the load if it is proven, and of each type and of all what the servers' means
/// add up to, where all of them are claimed.
fn expected_claims(
    artifact: &Artifact,
    proof: &FleetCertificateRecord,
    fleet: &Fleet,
) -> Vec<Claim> {
    let time = fleet.time_unit();
    let mut all = Vec::new();
    if proof.proven {
        let (load, none) = ((proof.load, time), HoldsFor::default());
        let (method, of_all) = (Method::ExactProgram, Subject::ALL);
        all.push(Claim::new(Quantity::Load, of_all, load, method, none));
    }
    let part = |server: &ServerPolicy, job_type: Option<&str>| {
        let subject = Subject::of_type(job_type).on(Some(&server.name));
        let claim = artifact.find(Quantity::MeanNumber, subject)?;
        Some((f64::from(server.count), claim.clone()))
    };
    let types = || fleet.types().iter().enumerate();
    let sent = |i: usize| move |server: &&ServerPolicy| server.routing[i] > 0.0;
    let servers = || artifact.policy.servers.iter();
    for (i, kind) in types() {
        let name = Some(kind.name());
        let parts = servers().filter(sent(i)).map(|server| part(server, name));
        if let Some(parts) = parts.collect::<Option<Vec<_>>>() {
            all.extend(queue_claims(name, kind.arrival_rate(), time, &parts));
        }
    }
    // A loop is analysed type by type; where one run measured all types, their sum has an interval
    // of its own.
    let of_all = |server: &ServerPolicy| -> Vec<Option<(f64, Claim)>> {
        let each = || types().filter(|(i, _)| sent(*i)(&server));
        match server.rule.msr() {
            Some(_) => each().map(|(_, t)| part(server, Some(t.name()))).collect(),
            None => vec![part(server, None)],
        }
    };
    let parts: Option<Vec<(f64, Claim)>> = servers().flat_map(of_all).collect();
    if let Some(parts) = parts {
        let rate = fleet.envelope().total_arrival_rate();
        all.extend(queue_claims(None, rate, time, &parts));
    }
    all
}

/// The mean number from those of single servers, each with how many there are of them, and by
/// Little's law the mean response time: with the weakest of the methods by which the parts were found.
/// Shapes are simulated independently, so that the squares of their half widths add up.
fn queue_claims(
    job_type: Option<&str>,
    rate: f64,
    time: &str,
    parts: &[(f64, Claim)],
) -> [Claim; 2] {
    let any = |is: &dyn Fn(&Claim) -> bool| parts.iter().any(|(_, claim)| is(claim));
    let approximate = any(&|c| c.method == Method::ApproximationQueueLength);
    let simulated = any(&|c| c.method == Method::Simulated);
    let analysed = any(&|c| c.method != Method::Simulated);
    let of_phases = any(&|c| c.holds_for.sizes == Some(SizeLaw::PhaseType));
    let method = match (approximate, simulated) {
        (true, _) => Method::ApproximationQueueLength,
        (false, true) => Method::Simulated,
        (false, false) => Method::ExactQbd,
    };
    let law = match of_phases {
        true => SizeLaw::PhaseType,
        false => SizeLaw::Exponential,
    };
    let exact = analysed && !approximate;
    let conditions = match analysed {
        true => Conditions::analysed(),
        false => Conditions::default(),
    };
    let holds_for = HoldsFor {
        sizes: exact.then_some(law),
        arrivals: exact.then_some(ArrivalLaw::Poisson),
        own: Conditions {
            routing: Some(Routing::Probabilistic),
            ..conditions
        },
    };
    let number: f64 = parts.iter().map(|(count, claim)| count * claim.value).sum();
    let widths = parts
        .iter()
        .map(|(count, claim)| count * claim.half_width.unwrap_or(0.0));
    let width = widths.map(|width| width * width).sum::<f64>().sqrt();
    let claim = |quantity: Quantity, per: f64| {
        let subject = Subject::of_type(job_type);
        let value = (number / per, time);
        Claim {
            half_width: (method == Method::Simulated).then_some(width / per),
            ..Claim::new(quantity, subject, value, method, holds_for.clone())
        }
    };
    [
        claim(Quantity::MeanNumber, 1.0),
        claim(Quantity::MeanResponse, rate),
    ]
}
