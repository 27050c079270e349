//! Shapes, indices and signs: what must hold before anything can be derived.

use std::collections::HashMap;

use super::Report;
use crate::artifact::{Artifact, MsrPolicy, Preemption};
use crate::schedule::Packing;
use crate::workload::Workload;

/// How far weights or prices may be from their sum 1.
const SUM: f64 = 1e-9;

/// Policy and certificate, without a look at what the workload says.
pub(super) fn check(artifact: &Artifact, report: &mut Report) {
    let types = artifact.workload.types.len();
    schedules(&artifact.policy, types, report);
    weights(&artifact.policy, report);
    order(&artifact.policy, report);
    rates(&artifact.policy, report);
    certificate(artifact, report);
}

fn schedules(policy: &MsrPolicy, types: usize, report: &mut Report) {
    if policy.schedules.is_empty() {
        report.add("policy.schedules", "no schedules, expected at least one");
    }
    let mut known = HashMap::new();
    for (s, schedule) in policy.schedules.iter().enumerate() {
        let path = format!("policy.schedules[{s}]");
        length(&path, schedule.len(), types, "job type", report);
        if let Some(first) = known.insert(schedule, s) {
            report.add(
                path,
                format!("{schedule:?} stands already at policy.schedules[{first}]"),
            );
        }
    }
}

fn length(path: &str, found: usize, expected: usize, each: &str, report: &mut Report) {
    if found != expected {
        report.add(
            path,
            format!("{found} entries, expected {expected}, one for each {each}"),
        );
    }
}

fn weights(policy: &MsrPolicy, report: &mut Report) {
    let path = "policy.weights";
    length(
        path,
        policy.weights.len(),
        policy.schedules.len(),
        "schedule",
        report,
    );
    for (s, weight) in policy.weights.iter().enumerate() {
        positive(format!("{path}[{s}]"), *weight, report);
    }
    sum(path, &policy.weights, report);
}

fn order(policy: &MsrPolicy, report: &mut Report) {
    let path = "policy.loop";
    let count = policy.schedules.len();
    length(path, policy.order.len(), count, "schedule", report);
    let mut visited = vec![false; count];
    for (n, s) in policy.order.iter().enumerate() {
        match visited.get_mut(*s) {
            None => report.add(
                format!("{path}[{n}]"),
                format!("{s}, expected an index below {count}"),
            ),
            Some(true) => report.add(
                format!("{path}[{n}]"),
                format!("{s} stands twice in the loop"),
            ),
            Some(seen) => *seen = true,
        }
    }
}

fn rates(policy: &MsrPolicy, report: &mut Report) {
    let path = "policy.switching_rate";
    positive(path, policy.switching_rate, report);
    let usable = |rate: f64| rate > 0.0 && rate.is_finite();
    let count = policy.schedules.len() as f64;
    let leaving = |weight: &f64| policy.switching_rate / (count * weight);
    // A rate beyond the range of numbers would make timers of 0 or of eternity.
    if report.is_clear("policy") && !policy.weights.iter().map(leaving).all(usable) {
        report.add(
            path,
            format!(
                "{}: a schedule would be left at a rate out of the range of numbers",
                policy.switching_rate
            ),
        );
    }
    match (policy.preemption, policy.setup_rate) {
        (Preemption::Setup, None) => {
            report.add(
                "policy.setup_rate",
                "absent, expected a rate, since preemption is `setup`",
            );
        }
        (Preemption::Setup, Some(rate)) => positive("policy.setup_rate", rate, report),
        (Preemption::None | Preemption::Full, Some(rate)) => {
            report.add(
                "policy.setup_rate",
                format!("{rate}, expected none, since preemption is not `setup`"),
            );
        }
        (Preemption::None | Preemption::Full, None) => {}
    }
}

fn certificate(artifact: &Artifact, report: &mut Report) {
    let found = &artifact.certificate;
    let (types, resources) = (
        artifact.workload.types.len(),
        artifact.workload.resources.len(),
    );
    length(
        "certificate.prices",
        found.prices.len(),
        types,
        "job type",
        report,
    );
    length(
        "certificate.resource_prices",
        found.resource_prices.len(),
        resources,
        "resource",
        report,
    );
    for (i, price) in found.prices.iter().enumerate() {
        nonnegative(format!("certificate.prices[{i}]"), *price, report);
    }
    for (j, price) in found.resource_prices.iter().enumerate() {
        nonnegative(format!("certificate.resource_prices[{j}]"), *price, report);
    }
    sum("certificate.prices", &found.prices, report);
    positive("certificate.load", found.load, report);
    positive("certificate.bound", found.bound, report);
    nonnegative("certificate.gap", found.gap, report);
}

fn positive(path: impl Into<String>, found: f64, report: &mut Report) {
    if !(found > 0.0 && found.is_finite()) {
        report.add(path, format!("{found}, expected a finite number > 0"));
    }
}

fn nonnegative(path: impl Into<String>, found: f64, report: &mut Report) {
    if !(found >= 0.0 && found.is_finite()) {
        report.add(path, format!("{found}, expected a finite number ≥ 0"));
    }
}

fn sum(path: &str, shares: &[f64], report: &mut Report) {
    let sum: f64 = shares.iter().sum();
    // A sum that is not a number is not close to 1 either.
    let is_one = (sum - 1.0).abs() <= SUM;
    if !is_one {
        report.add(path, format!("they sum to {sum}, expected 1"));
    }
}

/// `uD ≤ P`, exactly, for each schedule; and every type in one of them.
pub(super) fn packing(policy: &MsrPolicy, workload: &Workload, report: &mut Report) {
    let packing = Packing::new(workload);
    let types = workload.types();
    for (s, schedule) in policy.schedules.iter().enumerate() {
        if schedule.len() == types.len() && !packing.fits(schedule) {
            let message = format!("{schedule:?} does not fit: {}", overrun(schedule, workload));
            report.add(format!("policy.schedules[{s}]"), message);
        }
    }
    for (i, kind) in types.iter().enumerate() {
        let serves = |u: &Vec<u32>| u.get(i).is_some_and(|count| *count > 0);
        if !policy.schedules.iter().any(serves) {
            let message = format!("type `{}` is served by no schedule", kind.name());
            report.add("policy.schedules", message);
        }
    }
}

/// Which resources a schedule overruns.
fn overrun(schedule: &[u32], workload: &Workload) -> String {
    let needed = |j: usize| -> u128 {
        let units = |(u, kind): (&u32, &crate::workload::JobType)| {
            u128::from(*u) * u128::from(kind.units()[j])
        };
        schedule.iter().zip(workload.types()).map(units).sum()
    };
    let over = workload
        .resources()
        .iter()
        .enumerate()
        .filter_map(|(j, resource)| {
            let (needs, has) = (needed(j), u128::from(resource.units()));
            (needs > has).then(|| {
                format!(
                    "needs {needs} units of `{}`, expected at most {has}",
                    resource.name()
                )
            })
        });
    over.collect::<Vec<_>>().join("; ")
}
