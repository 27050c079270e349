//! Whether an artifact was made for a given workload, and where they part.

use crate::artifact::{Finding, Findings};
use crate::law::ArrivalProcess;
use crate::multiresource::workload::{Record, RecordServer, RecordType};
use crate::number::Decimal;

/// Compares the workload that an artifact was made for with another one: nothing is found
/// where their digests agree, so that comments, sources and types that do not arrive may
/// differ. Paths are those of the artifact.
///
/// This does not check the artifact; see [`crate::artifact::Artifact::check`] for that.
pub fn check_against(made_for: &Record, given: &Record) -> Vec<Finding> {
    let mut findings = Findings::default();
    if made_for.time_unit != given.time_unit {
        let message = differs(&made_for.time_unit, &given.time_unit);
        findings.add("workload.time_unit", message);
    }
    let (path, what) = ("workload.resources", "resource");
    members(
        path,
        what,
        &made_for.resources,
        &given.resources,
        &mut findings,
    );
    servers(made_for, given, &mut findings);
    types(made_for, given, &mut findings);
    if made_for.modulation != given.modulation {
        let told = |record: &Record| {
            let states = record.modulation.as_ref().map(|m| m.factors.len());
            states.map_or("no modulation".into(), |n| {
                format!("a modulation of {n} states")
            })
        };
        let message = differs(&told(made_for), &told(given));
        findings.add("workload.modulation", message);
    }
    if made_for.start_latency != given.start_latency {
        let told = |record: &Record| {
            let law = record.start_latency.as_ref();
            law.map_or("no start latency".into(), |law| {
                format!("a {} start latency of mean {}", law.law(), law.mean())
            })
        };
        let message = differs(&told(made_for), &told(given));
        findings.add("workload.start_latency", message);
    }
    if findings.is_empty() && made_for.digest != given.digest {
        let message = differs(&made_for.digest, &given.digest);
        findings.add("workload.digest", message);
    }
    findings.into_list()
}

/// The shapes by name; of one server the name does not matter.
fn servers(made_for: &Record, given: &Record, findings: &mut Findings) {
    let path = "workload.servers";
    if let ([found], [other]) = (&made_for.servers[..], &given.servers[..])
        && (found.count, other.count) == (1, 1)
    {
        return capacities(made_for, given, (0, found, other), "", findings);
    }
    let names = |record: &Record| -> Vec<String> {
        let servers = record.servers.iter();
        servers.map(|server| server.name.clone()).collect()
    };
    members(path, "shape", &names(made_for), &names(given), findings);
    for (h, found) in made_for.servers.iter().enumerate() {
        let same = given.servers.iter().find(|s| s.name == found.name);
        let Some(other) = same else { continue };
        if found.count != other.count {
            let (name, count) = (&found.name, differs(&found.count, &other.count));
            let message = format!("count of `{name}`: {count}");
            findings.add(format!("{path}[{h}].count"), message);
        }
        let of = format!(" of `{}`", found.name);
        capacities(made_for, given, (h, found, other), &of, findings);
    }
}

/// Of one shape, of each resource that both know.
fn capacities(
    made_for: &Record,
    given: &Record,
    (h, found, other): (usize, &RecordServer, &RecordServer),
    of: &str,
    findings: &mut Findings,
) {
    for (j, name) in made_for.resources.iter().enumerate() {
        let column = given.resources.iter().position(|resource| resource == name);
        let capacity = |server: &RecordServer, j: usize| server.capacity.get(j).copied();
        let now = column.and_then(|c| capacity(other, c));
        if let (Some(before), Some(now)) = (capacity(found, j), now)
            && before != now
        {
            let message = format!("capacity of `{name}`{of}: {}", differs(&before, &now));
            findings.add(format!("workload.servers[{h}].capacity[{j}]"), message);
        }
    }
}

fn differs(made_for: &impl std::fmt::Display, given: &impl std::fmt::Display) -> String {
    format!("made for {made_for}, but the workload has {given}: synthesize a policy for it")
}

/// Which names are missing, new, or in another order (schedules count in the order of types).
fn members(path: &str, what: &str, made_for: &[String], given: &[String], findings: &mut Findings) {
    let before = findings.is_clear(path);
    for (n, name) in made_for
        .iter()
        .enumerate()
        .filter(|(_, name)| !given.contains(name))
    {
        findings.add(
            format!("{path}[{n}]"),
            format!("made for {what} `{name}`, which the workload lacks"),
        );
    }
    for name in given.iter().filter(|name| !made_for.contains(name)) {
        findings.add(
            path,
            format!("not made for {what} `{name}`, which the workload has"),
        );
    }
    if before && findings.is_clear(path) && made_for != given {
        findings.add(path, differs(&made_for.join(", "), &given.join(", ")));
    }
}

fn types(made_for: &Record, given: &Record, findings: &mut Findings) {
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
        findings,
    );
    for (i, found) in made_for.types.iter().enumerate() {
        let path = format!("workload.types[{i}]");
        if let Some(other) = given.types.iter().find(|t| t.name == found.name) {
            one_type(&path, found, other, findings);
            for (j, resource) in made_for.resources.iter().enumerate() {
                let column = given.resources.iter().position(|r| r == resource);
                let of =
                    |demand: &[Decimal], j: usize| demand.get(j).copied().unwrap_or(Decimal::ZERO);
                let (a, b) = (of(&found.demand, j), column.map(|c| of(&other.demand, c)));
                if let Some(b) = b.filter(|b| *b != a) {
                    let message = format!(
                        "demand of `{}` for `{}`: {}",
                        found.name,
                        resource,
                        differs(&a, &b)
                    );
                    findings.add(format!("{path}.demand[{j}]"), message);
                }
            }
        }
    }
}

fn one_type(path: &str, found: &RecordType, other: &RecordType, findings: &mut Findings) {
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
        findings.add(format!("{path}.arrivals"), what);
    } else if found.arrival_rate != other.arrival_rate {
        let message = format!(
            "arrival rate of `{}`: {}",
            found.name,
            differs(&found.arrival_rate, &other.arrival_rate)
        );
        findings.add(format!("{path}.arrival_rate"), message);
    }
    if found.size != other.size {
        let law = |t: &RecordType| format!("{} sizes of mean {}", t.size.law(), t.size.mean());
        let message = format!("`{}`: {}", found.name, differs(&law(found), &law(other)));
        findings.add(format!("{path}.size"), message);
    }
}
