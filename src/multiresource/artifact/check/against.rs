//! Whether an artifact was made for a given workload, and where they part.

use super::{Finding, Report};
use crate::law::ArrivalProcess;
use crate::multiresource::artifact::Artifact;
use crate::multiresource::workload::{Fleet, Record, RecordType, Shape, Workload};
use crate::number::Decimal;

/// Compares the workload that an artifact was made for with another one: nothing is found
/// where their digests agree, so that comments, sources and types that do not arrive may
/// differ. Paths are those of the artifact.
///
/// This does not check the artifact; see [`super::check`] for that.
pub fn check_against(artifact: &Artifact, workload: &Workload) -> Vec<Finding> {
    let (made_for, given) = (&artifact.workload, &workload.record());
    let mut report = Report::default();
    if made_for.time_unit != given.time_unit {
        let message = differs(&made_for.time_unit, &given.time_unit);
        report.add("workload.time_unit", message);
    }
    resources(made_for, given, &mut report);
    types(made_for, given, &mut report);
    if report.findings.is_empty() && made_for.digest != given.digest {
        report.add("workload.digest", differs(&made_for.digest, &given.digest));
    }
    report.findings
}

/// Compares the fleet that a policy was made for with another one, as [`check_against`] does.
pub fn check_fleet_against(made_for: &Fleet, given: &Fleet) -> Vec<Finding> {
    let mut report = Report::default();
    if made_for.time_unit() != given.time_unit() {
        let message = differs(&made_for.time_unit(), &given.time_unit());
        report.add("workload.time_unit", message);
    }
    let names = |fleet: &Fleet| -> Vec<String> {
        let shapes = fleet.shapes().iter();
        shapes.map(|shape| shape.name().to_owned()).collect()
    };
    let path = "workload.shapes";
    members(path, "shape", &names(made_for), &names(given), &mut report);
    for (h, shape) in made_for.shapes().iter().enumerate() {
        let same = given.shapes().iter().find(|s| s.name() == shape.name());
        if let Some(other) = same {
            one_shape(&format!("{path}[{h}]"), shape, other, &mut report);
        }
    }
    let record = |fleet: &Fleet| fleet.envelope().record();
    types(&record(made_for), &record(given), &mut report);
    if report.findings.is_empty() && made_for.digest() != given.digest() {
        let message = differs(&made_for.digest(), &given.digest());
        report.add("workload.digest", message);
    }
    report.findings
}

fn one_shape(path: &str, found: &Shape, other: &Shape, report: &mut Report) {
    if found.count() != other.count() {
        let message = format!(
            "count of `{}`: {}",
            found.name(),
            differs(&found.count(), &other.count())
        );
        report.add(format!("{path}.count"), message);
    }
    let capacity = |shape: &Shape| -> String {
        let resources = shape.server().resources().iter();
        let parts = resources.map(|r| format!("{}: {}", r.name(), r.capacity()));
        parts.collect::<Vec<_>>().join(", ")
    };
    if capacity(found) != capacity(other) {
        let message = format!(
            "capacity of `{}`: {}",
            found.name(),
            differs(&capacity(found), &capacity(other))
        );
        report.add(format!("{path}.capacity"), message);
    }
}

fn differs(made_for: &impl std::fmt::Display, given: &impl std::fmt::Display) -> String {
    format!("made for {made_for}, but the workload has {given}: synthesize a policy for it")
}

fn resources(made_for: &Record, given: &Record, report: &mut Report) {
    let names = |record: &Record| {
        record
            .resources
            .iter()
            .map(|r| r.name.clone())
            .collect::<Vec<_>>()
    };
    members(
        "workload.resources",
        "resource",
        &names(made_for),
        &names(given),
        report,
    );
    for (j, found) in made_for.resources.iter().enumerate() {
        let same = given.resources.iter().find(|r| r.name == found.name);
        if let Some(capacity) = same.map(|r| r.capacity).filter(|c| *c != found.capacity) {
            let message = format!(
                "capacity of `{}`: {}",
                found.name,
                differs(&found.capacity, &capacity)
            );
            report.add(format!("workload.resources[{j}].capacity"), message);
        }
    }
}

/// Which names are missing, new, or in another order (schedules count in the order of types).
fn members(path: &str, what: &str, made_for: &[String], given: &[String], report: &mut Report) {
    let before = report.findings.len();
    for (n, name) in made_for
        .iter()
        .enumerate()
        .filter(|(_, name)| !given.contains(name))
    {
        report.add(
            format!("{path}[{n}]"),
            format!("made for {what} `{name}`, which the workload lacks"),
        );
    }
    for name in given.iter().filter(|name| !made_for.contains(name)) {
        report.add(
            path,
            format!("not made for {what} `{name}`, which the workload has"),
        );
    }
    if report.findings.len() == before && made_for != given {
        report.add(path, differs(&made_for.join(", "), &given.join(", ")));
    }
}

fn types(made_for: &Record, given: &Record, report: &mut Report) {
    let names = |record: &Record| {
        record
            .types
            .iter()
            .map(|t| t.name.clone())
            .collect::<Vec<_>>()
    };
    members(
        "workload.types",
        "type",
        &names(made_for),
        &names(given),
        report,
    );
    for (i, found) in made_for.types.iter().enumerate() {
        let path = format!("workload.types[{i}]");
        if let Some(other) = given.types.iter().find(|t| t.name == found.name) {
            one_type(&path, found, other, report);
            for (j, resource) in made_for.resources.iter().enumerate() {
                let column = given.resources.iter().position(|r| r.name == resource.name);
                let of =
                    |demand: &[Decimal], j: usize| demand.get(j).copied().unwrap_or(Decimal::ZERO);
                let (a, b) = (of(&found.demand, j), column.map(|c| of(&other.demand, c)));
                if let Some(b) = b.filter(|b| *b != a) {
                    let message = format!(
                        "demand of `{}` for `{}`: {}",
                        found.name,
                        resource.name,
                        differs(&a, &b)
                    );
                    report.add(format!("{path}.demand[{j}]"), message);
                }
            }
        }
    }
}

fn one_type(path: &str, found: &RecordType, other: &RecordType, report: &mut Report) {
    if found.arrivals != other.arrivals {
        let told = |t: &RecordType| {
            let process = t
                .arrivals
                .as_ref()
                .map_or("poisson", ArrivalProcess::process);
            format!("{process} arrivals at rate {}", t.arrival_rate)
        };
        let what = match told(found) == told(other) {
            true => format!(
                "other numbers in `{}`: {}",
                found.name,
                differs(&told(found), &told(other))
            ),
            false => format!("`{}`: {}", found.name, differs(&told(found), &told(other))),
        };
        report.add(format!("{path}.arrivals"), what);
    } else if found.arrival_rate != other.arrival_rate {
        let message = format!(
            "arrival rate of `{}`: {}",
            found.name,
            differs(&found.arrival_rate, &other.arrival_rate)
        );
        report.add(format!("{path}.arrival_rate"), message);
    }
    if found.size != other.size {
        let law = |t: &RecordType| format!("{} sizes of mean {}", t.size.law(), t.size.mean());
        let message = format!("`{}`: {}", found.name, differs(&law(found), &law(other)));
        report.add(format!("{path}.size"), message);
    }
}
