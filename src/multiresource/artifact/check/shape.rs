//! Shapes, indices and signs: what must hold before anything can be derived.

use std::collections::HashMap;

use super::{Mixed, Report, exact, mix, mixes};
use crate::multiresource::artifact::{Artifact, MsrPolicy, Preemption, RelaxedRecord};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// How far weights or prices may be from their sum 1.
const SUM: f64 = 1e-9;

/// Policy and certificate, without a look at what the workload says.
pub(super) fn check(artifact: &Artifact, report: &mut Report) {
    let types = artifact.workload.types.len();
    mixes(artifact).for_each(|mix| mixed(mix, types, report));
    let proof = &artifact.certificate;
    let is_own = artifact.policy.msr().is_some() && proof.balance.is_none();
    match (is_own, &proof.mix) {
        (false, None) => report.add(
            "certificate.mix",
            "absent, expected the mix that has the load",
        ),
        (true, Some(_)) => report.add(
            "certificate.mix",
            "expected none, since the policy is a mix",
        ),
        _ => {}
    }
    if let Some(policy) = artifact.policy.msr() {
        order(policy, report);
        rates(policy, report);
    }
    certificate(artifact, report);
}

fn mixed(mix: Mixed<'_>, types: usize, report: &mut Report) {
    let Mixed { path, .. } = mix;
    schedules(&format!("{path}.schedules"), mix.schedules, types, report);
    let path = format!("{path}.weights");
    length(
        &path,
        mix.weights.len(),
        mix.schedules.len(),
        "schedule",
        report,
    );
    for (s, weight) in mix.weights.iter().enumerate() {
        positive(format!("{path}[{s}]"), *weight, report);
    }
    sum(&path, mix.weights, report);
}

/// Schedules, none of them twice.
pub(super) fn schedules(path: &str, schedules: &[Vec<u32>], types: usize, report: &mut Report) {
    if schedules.is_empty() {
        report.add(path, "no schedules, expected at least one");
    }
    let mut known = HashMap::new();
    for (s, schedule) in schedules.iter().enumerate() {
        let here = format!("{path}[{s}]");
        length(&here, schedule.len(), types, "job type", report);
        if let Some(first) = known.insert(schedule, s) {
            report.add(
                here,
                format!("{schedule:?} stands already at {path}[{first}]"),
            );
        }
    }
}

pub(super) fn length(path: &str, found: usize, expected: usize, each: &str, report: &mut Report) {
    if found != expected {
        report.add(
            path,
            format!("{found} entries, expected {expected}, one for each {each}"),
        );
    }
}

fn order(policy: &MsrPolicy, report: &mut Report) {
    permutation(
        "policy.loop",
        &policy.order,
        policy.schedules.len(),
        "schedule",
        report,
    );
}

/// Each index once.
pub(super) fn permutation(
    path: &str,
    order: &[usize],
    count: usize,
    each: &str,
    report: &mut Report,
) {
    length(path, order.len(), count, each, report);
    let mut visited = vec![false; count];
    for (n, s) in order.iter().enumerate() {
        match visited.get_mut(*s) {
            None => report.add(
                format!("{path}[{n}]"),
                format!("{s}, expected an index below {count}"),
            ),
            Some(true) => report.add(format!("{path}[{n}]"), format!("{s} stands there twice")),
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
    if let Some(relaxed) = &found.relaxed {
        relaxation("certificate.relaxed", relaxed, resources, report);
    }
    sum("certificate.prices", &found.prices, report);
    if let (Some(exact), Some(mix)) = (&found.exact, mix(artifact)) {
        exact::shape(exact, mix.schedules.len(), types, report);
    }
    positive("certificate.load", found.load, report);
    positive("certificate.bound", found.bound, report);
    nonnegative("certificate.gap", found.gap, report);
}

/// Of these resources, each kept whole at most once, and none at a negative price, which would prove
/// nothing.
pub(super) fn relaxation(path: &str, found: &RelaxedRecord, resources: usize, report: &mut Report) {
    let prices = format!("{path}.prices");
    length(&prices, found.prices.len(), resources, "resource", report);
    for (j, price) in found.prices.iter().enumerate() {
        nonnegative(format!("{prices}[{j}]"), *price, report);
    }
    for (place, &j) in found.whole.iter().enumerate() {
        if j >= resources || found.whole[..place].contains(&j) {
            let path = format!("{path}.whole[{place}]");
            report.add(
                path,
                format!("{j}, expected each resource (below {resources}) once at most"),
            );
        }
    }
}

pub(super) fn positive(path: impl Into<String>, found: f64, report: &mut Report) {
    if !(found > 0.0 && found.is_finite()) {
        report.add(path, format!("{found}, expected a finite number > 0"));
    }
}

pub(super) fn nonnegative(path: impl Into<String>, found: f64, report: &mut Report) {
    if !(found >= 0.0 && found.is_finite()) {
        report.add(path, format!("{found}, expected a finite number ≥ 0"));
    }
}

pub(super) fn sum(path: &str, shares: &[f64], report: &mut Report) {
    let sum: f64 = shares.iter().sum();
    // A sum that is not a number is not close to 1 either.
    let is_one = (sum - 1.0).abs() <= SUM;
    if !is_one {
        report.add(path, format!("they sum to {sum}, expected 1"));
    }
}

/// `uD ≤ P`, exactly, for each schedule; and every type in one of them.
pub(super) fn packing(mix: Mixed<'_>, workload: &Workload, report: &mut Report) {
    let path = format!("{}.schedules", mix.path);
    fits(&path, mix.schedules, workload, report);
    all_served(&path, mix.schedules, workload, report);
}

/// Every type stands in one of the schedules.
pub(super) fn all_served(
    path: &str,
    schedules: &[Vec<u32>],
    workload: &Workload,
    report: &mut Report,
) {
    for (i, kind) in workload.types().iter().enumerate() {
        let serves = |u: &Vec<u32>| u.get(i).is_some_and(|count| *count > 0);
        if !schedules.iter().any(serves) {
            let message = format!("type `{}` is served by no schedule", kind.name());
            report.add(path, message);
        }
    }
}

/// `uD ≤ P`, exactly, for each schedule.
pub(super) fn fits(path: &str, schedules: &[Vec<u32>], workload: &Workload, report: &mut Report) {
    let packing = Packing::new(workload);
    for (s, schedule) in schedules.iter().enumerate() {
        if schedule.len() == workload.types().len() && !packing.fits(schedule) {
            let message = format!("{schedule:?} does not fit: {}", overrun(schedule, workload));
            report.add(format!("{path}[{s}]"), message);
        }
    }
}

/// Which resources a schedule overruns.
fn overrun(schedule: &[u32], workload: &Workload) -> String {
    let needed = |j: usize| -> u128 {
        let units = |(u, kind): (&u32, &crate::multiresource::workload::JobType)| {
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
