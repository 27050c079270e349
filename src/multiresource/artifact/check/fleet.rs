//! The policy of a fleet: its servers' policies one by one, where jobs are sent, the proof over
//! all shapes, and what is claimed of all servers together.

use std::collections::HashMap;

use super::certificate::{self, Priced};
use super::shape::{length, nonnegative, positive, relaxation, sum};
use super::{Finding, Report, check, is_close, mean_schedule};
use crate::multiresource::artifact::{
    Artifact, Backfill, Claim, Conditions, EmptySlots, FleetArtifact, Method, Quantity, Routing,
    ShapePolicy, SizeLaw, VERSION,
};
use crate::multiresource::workload::{Fleet, Workload};

/// Relative rounding allowed in routing, load, worth and means.
const ROUNDING: f64 = 1e-9;

/// Checks everything that the policy of a fleet says, from itself alone: the fleet, and for each
/// shape what arrives at one of its servers.
///
/// # Errors
/// A list of all that is wrong.
pub fn check_fleet(artifact: &FleetArtifact) -> Result<(Fleet, Vec<Workload>), Vec<Finding>> {
    let mut report = Report::default();
    if artifact.version != VERSION {
        report.add(
            "version",
            format!("{}, expected {VERSION}", artifact.version),
        );
    }
    let fleet = artifact.workload.check();
    for fault in fleet.as_ref().err().into_iter().flatten() {
        report.add(format!("workload.{}", fault.place), fault.message.clone());
    }
    let Ok(fleet) = fleet else {
        return Err(report.findings);
    };
    shapes(artifact, &fleet, &mut report);
    certificate_shape(artifact, &fleet, &mut report);
    let mut workloads = Vec::new();
    if report.is_clear("policy") {
        workloads = servers(artifact, &fleet, &mut report);
    }
    if report.is_clear("certificate") {
        bound(artifact, &fleet, &mut report);
    }
    if report.findings.is_empty() {
        // From here on there is sense in what the servers' policies say.
        let served = served(artifact, &fleet);
        load(artifact, &fleet, &served, &mut report);
        routing(artifact, &fleet, &served, &mut report);
        claims(artifact, &fleet, &mut report);
    }
    match report.findings.is_empty() {
        true => Ok((fleet, workloads)),
        false => Err(report.findings),
    }
}

/// The shapes of the workload, and fractions of each type that sum to 1.
fn shapes(artifact: &FleetArtifact, fleet: &Fleet, report: &mut Report) {
    let found = &artifact.policy.shapes;
    let (count, types) = (fleet.shapes().len(), fleet.types());
    length("policy.shapes", found.len(), count, "shape", report);
    for (h, (found, shape)) in found.iter().zip(fleet.shapes()).enumerate() {
        let here = |field: &str| format!("policy.shapes[{h}].{field}");
        if found.name != shape.name() {
            let message = format!("`{}`, expected `{}`", found.name, shape.name());
            report.add(here("name"), message);
        }
        if found.count != shape.count() {
            let message = format!("{}, expected {}", found.count, shape.count());
            report.add(here("count"), message);
        }
        length(
            &here("routing"),
            found.routing.len(),
            types.len(),
            "job type",
            report,
        );
        for (i, fraction) in found.routing.iter().enumerate() {
            let path = here(&format!("routing[{i}]"));
            if !(0.0..=1.0).contains(fraction) {
                report.add(path, format!("{fraction}, expected a fraction from 0 to 1"));
            } else if *fraction > 0.0 && !shape.types().contains(&i) {
                let name = types.get(i).map_or("", |kind| kind.name());
                let message = format!("{fraction}, expected 0: type `{name}` does not fit there");
                report.add(path, message);
            }
        }
    }
    if report.is_clear("policy") {
        for (i, kind) in types.iter().enumerate() {
            let sum: f64 = found.iter().map(|shape| shape.routing[i]).sum();
            let is_one = (sum - 1.0).abs() <= ROUNDING;
            if !is_one {
                let name = kind.name();
                let message = format!(
                    "the fractions of type `{name}` (routing[{i}]) sum to {sum} over the shapes, expected 1"
                );
                report.add("policy.shapes", message);
            }
        }
    }
}

fn certificate_shape(artifact: &FleetArtifact, fleet: &Fleet, report: &mut Report) {
    let found = &artifact.certificate;
    let types = fleet.types().len();
    length(
        "certificate.prices",
        found.prices.len(),
        types,
        "job type",
        report,
    );
    for (i, price) in found.prices.iter().enumerate() {
        nonnegative(format!("certificate.prices[{i}]"), *price, report);
    }
    sum("certificate.prices", &found.prices, report);
    positive("certificate.load", found.load, report);
    positive("certificate.bound", found.bound, report);
    nonnegative("certificate.gap", found.gap, report);
    let count = fleet.shapes().len();
    length(
        "certificate.shapes",
        found.shapes.len(),
        count,
        "shape",
        report,
    );
    for (h, (found, shape)) in found.shapes.iter().zip(fleet.shapes()).enumerate() {
        let path = format!("certificate.shapes[{h}].resource_prices");
        let resources = shape.server().resources().len();
        length(
            &path,
            found.resource_prices.len(),
            resources,
            "resource of the shape",
            report,
        );
        for (j, price) in found.resource_prices.iter().enumerate() {
            nonnegative(format!("{path}[{j}]"), *price, report);
        }
        if let Some(relaxed) = &found.relaxed {
            let path = format!("certificate.shapes[{h}].relaxed");
            relaxation(&path, relaxed, resources, report);
        }
        nonnegative(
            format!("certificate.shapes[{h}].worth"),
            found.worth,
            report,
        );
    }
}

/// Each server's policy is valid, and made for what is sent there; these are returned.
fn servers(artifact: &FleetArtifact, fleet: &Fleet, report: &mut Report) -> Vec<Workload> {
    let mut workloads = Vec::new();
    for (h, shape) in artifact.policy.shapes.iter().enumerate() {
        let path = format!("policy.shapes[{h}].policy");
        match check(&shape.policy) {
            Ok(workload) => workloads.push(workload),
            Err(findings) => {
                for finding in findings {
                    report.add(format!("{path}.{}", finding.path), finding.message);
                }
                continue;
            }
        }
        let found = &shape.policy.workload.digest;
        match fleet.routed(h, &shape.routing).map(|sent| sent.digest()) {
            Ok(expected) if expected == *found => {}
            Ok(expected) => report.add(
                format!("{path}.workload.digest"),
                format!("{found}, expected {expected}: that of what is sent to one such server"),
            ),
            Err(_) => report.add(
                format!("policy.shapes[{h}].routing"),
                "nothing that could be simulated is sent there, expected some type",
            ),
        }
    }
    workloads
}

/// No server is worth more than is said, and the bound is one over what all are worth.
fn bound(artifact: &FleetArtifact, fleet: &Fleet, report: &mut Report) {
    let found = &artifact.certificate;
    let mut worth = 0.0;
    for (h, (own, shape)) in found.shapes.iter().zip(fleet.shapes()).enumerate() {
        let value = |&i: &usize| found.prices[i] / fleet.types()[i].offered_load();
        let values: Vec<f64> = shape.types().iter().map(value).collect();
        let at = Priced {
            by_table: own.relaxed.as_ref(),
            values: &values,
            resource_prices: &own.resource_prices,
            worth: own.worth,
            prices_path: &format!("certificate.shapes[{h}].resource_prices"),
            bound_path: &format!("certificate.shapes[{h}].worth"),
        };
        at.check(own.worth, shape.server(), report);
        worth += f64::from(shape.count()) * own.worth;
    }
    if !is_close(found.bound, 1.0 / worth, ROUNDING) {
        let message = format!("{}, expected {}", found.bound, 1.0 / worth);
        report.add("certificate.bound", message);
    }
    certificate::gap(found.load, found.bound, (found.gap, found.proven), report);
}

/// `n_h (π_h W_h)_i` (H × K): what the servers of each shape serve on average, at most.
fn served(artifact: &FleetArtifact, fleet: &Fleet) -> Vec<Vec<f64>> {
    let of_shape = |shape: &ShapePolicy| {
        let mean = shape.policy.policy.msr().map_or(Vec::new(), |policy| {
            mean_schedule(&policy.schedules, &policy.weights)
        });
        let names = shape.policy.workload.types.iter().map(|t| t.name.as_str());
        let by_name: HashMap<&str, f64> = names.zip(mean).collect();
        let of_type = |name: &str| by_name.get(name).copied().unwrap_or(0.0);
        let types = fleet.types().iter();
        types
            .map(|kind| f64::from(shape.count) * of_type(kind.name()))
            .collect()
    };
    artifact.policy.shapes.iter().map(of_shape).collect()
}

/// `load = max_i b_i / Σ_h n_h (π_h W_h)_i`, and below 1.
fn load(artifact: &FleetArtifact, fleet: &Fleet, served: &[Vec<f64>], report: &mut Report) {
    let found = artifact.certificate.load;
    let total = |i: usize| -> f64 { served.iter().map(|row| row[i]).sum() };
    let types = fleet.types().iter().enumerate();
    let load = types
        .map(|(i, kind)| kind.offered_load() / total(i))
        .fold(0.0, f64::max);
    let (is_load, stabilizes) = (is_close(found, load, ROUNDING), load < 1.0);
    if !(is_load && stabilizes) {
        let message = format!("{found}, expected {load}, and that below 1");
        report.add("certificate.load", message);
    }
}

/// Each type is sent to the shapes in proportion to what they serve of it.
fn routing(artifact: &FleetArtifact, fleet: &Fleet, served: &[Vec<f64>], report: &mut Report) {
    for (i, kind) in fleet.types().iter().enumerate() {
        let total: f64 = served.iter().map(|row| row[i]).sum();
        for (h, shape) in artifact.policy.shapes.iter().enumerate() {
            let (found, expected) = (shape.routing[i], served[h][i] / total);
            if !is_close(found, expected, ROUNDING) {
                report.add(
                    format!("policy.shapes[{h}].routing[{i}]"),
                    format!(
                        "{found} of type `{}`, expected {expected}, its part of what the mixes serve",
                        kind.name()
                    ),
                );
            }
        }
    }
}

/// Every claim is one that follows, once, with its value, unit, method and conditions.
fn claims(artifact: &FleetArtifact, fleet: &Fleet, report: &mut Report) {
    let expected = expected_claims(artifact, fleet);
    let is_about = |a: &Claim, b: &Claim| (a.quantity, &a.job_type) == (b.quantity, &b.job_type);
    for (n, found) in artifact.claims.iter().enumerate() {
        let here = |field: &str| format!("claims[{n}]{field}");
        if let Some(first) = artifact.claims[..n].iter().position(|c| is_about(c, found)) {
            report.add(
                here(""),
                format!("claims again what claims[{first}] claims"),
            );
            continue;
        }
        let Some(right) = expected.iter().find(|c| is_about(c, found)) else {
            report.add(
                here(""),
                "nothing of that kind follows from the certificate or from the servers' claims",
            );
            continue;
        };
        if !is_close(found.value, right.value, ROUNDING) {
            let message = format!("{}, expected {}", found.value, right.value);
            report.add(here(".value"), message);
        }
        let labels = Claim {
            value: right.value,
            ..found.clone()
        };
        if labels != *right {
            let message = format!(
                "unit `{}`, method {:?}, {:?}; expected unit `{}`, method {:?}, {:?}, and no more",
                found.unit,
                found.method,
                found.holds_for,
                right.unit,
                right.method,
                right.holds_for
            );
            report.add(here(""), message);
        }
    }
}

/// All that follows: the load if it is proven, and of each type and of all what the servers' exact
/// or approximate means add up to.
fn expected_claims(artifact: &FleetArtifact, fleet: &Fleet) -> Vec<Claim> {
    let unit = |quantity: Quantity| quantity.unit(fleet.time_unit());
    let mut all = Vec::new();
    if artifact.certificate.proven {
        all.push(Claim {
            quantity: Quantity::Load,
            job_type: None,
            at: None,
            value: artifact.certificate.load,
            half_width: None,
            unit: unit(Quantity::Load),
            method: Method::ExactProgram,
            holds_for: Conditions::default(),
        });
    }
    let of_server = |policy: &'_ Artifact, name: &str| -> Option<Claim> {
        let about = |c: &&Claim| c.job_type.as_deref() == Some(name);
        let mut claims = policy.claims.iter().filter(about);
        claims.find(|c| c.quantity == Quantity::MeanNumber).cloned()
    };
    let (mut together, mut parts_of_all) = (0.0, Vec::new());
    for (i, kind) in fleet.types().iter().enumerate() {
        let (mut number, mut parts) = (0.0, Vec::new());
        for shape in artifact.policy.shapes.iter().filter(|s| s.routing[i] > 0.0) {
            // Of all types or of none: the sum over all is no more than its parts.
            let Some(part) = of_server(&shape.policy, kind.name()) else {
                all.retain(|c| c.quantity == Quantity::Load);
                return all;
            };
            number += f64::from(shape.count) * part.value;
            parts.push(part);
        }
        let name = Some(kind.name().to_owned());
        all.extend(queue_claims(
            name,
            number,
            kind.arrival_rate(),
            &parts,
            &unit,
        ));
        together += number;
        parts_of_all.extend(parts);
    }
    let rate = fleet.envelope().total_arrival_rate();
    all.extend(queue_claims(None, together, rate, &parts_of_all, &unit));
    all
}

/// The mean number, and by Little's law the mean response time, with the weakest of the methods by
/// which the parts were found.
fn queue_claims(
    job_type: Option<String>,
    number: f64,
    rate: f64,
    parts: &[Claim],
    unit: &impl Fn(Quantity) -> String,
) -> [Claim; 2] {
    let has = |method: Method| parts.iter().any(|c| c.method == method);
    let known = [
        Method::ApproximationQueueLength,
        Method::ApproximationExponentialSizes,
    ];
    let method = known
        .into_iter()
        .find(|m| has(*m))
        .unwrap_or(Method::ExactQbd);
    let of_phases = |c: &Claim| c.holds_for.sizes == Some(SizeLaw::PhaseType);
    let law = match parts.iter().any(of_phases) {
        true => SizeLaw::PhaseType,
        false => SizeLaw::Exponential,
    };
    let claim = |quantity: Quantity, value: f64| Claim {
        quantity,
        job_type: job_type.clone(),
        at: None,
        value,
        half_width: None,
        unit: unit(quantity),
        method,
        holds_for: Conditions {
            empty_slots: Some(EmptySlots::Phantom),
            backfill: Some(Backfill::None),
            sizes: (method == Method::ExactQbd).then_some(law),
            routing: Some(Routing::Probabilistic),
        },
    };
    [
        claim(Quantity::MeanNumber, number),
        claim(Quantity::MeanResponse, number / rate),
    ]
}
