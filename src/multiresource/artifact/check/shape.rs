//! Shapes, indices and signs: what must hold before anything can be derived.

use std::collections::HashMap;

use super::{Mixed, OneServer, branching, exact, mix, mixes};
use crate::artifact::{Findings, length, nonnegative, permutation, positive, sums_to_one};
use crate::multiresource::artifact::{MsrPolicy, Preemption, SearchRecord};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// Policy and certificate, without a look at what the workload says.
pub(super) fn check(server: &OneServer<'_>, findings: &mut Findings) {
    let types = server.workload.types().len();
    mixes(server).for_each(|mix| mixed(mix, types, findings));
    let proof = server.certificate;
    match (server.rule.msr().is_some(), &proof.mix) {
        (false, None) => findings.add(
            "certificate.mix",
            "absent, expected the mix that has the load",
        ),
        (true, Some(_)) => findings.add(
            "certificate.mix",
            "expected none, since the policy is a mix",
        ),
        _ => {}
    }
    if let Some(policy) = server.rule.msr() {
        order("policy", policy, findings);
        rates("policy", policy, findings);
    }
    certificate(server, findings);
}

/// A policy that stands inside another: all that can be said without a look at its round.
pub(super) fn guard(
    path: &'static str,
    policy: &MsrPolicy,
    workload: &Workload,
    findings: &mut Findings,
) {
    let mix = Mixed {
        path,
        schedules: &policy.schedules,
        weights: &policy.weights,
    };
    mixed(mix, workload.types().len(), findings);
    order(path, policy, findings);
    rates(path, policy, findings);
    if findings.is_clear(path) {
        packing(mix, workload, findings);
    }
}

pub(super) fn mixed(mix: Mixed<'_>, types: usize, findings: &mut Findings) {
    let Mixed { path, .. } = mix;
    schedules(&format!("{path}.schedules"), mix.schedules, types, findings);
    let path = format!("{path}.weights");
    length(
        &path,
        mix.weights.len(),
        mix.schedules.len(),
        "schedule",
        findings,
    );
    for (s, weight) in mix.weights.iter().enumerate() {
        positive(format!("{path}[{s}]"), *weight, findings);
    }
    sums_to_one(&path, mix.weights, findings);
}

/// Schedules, none of them twice.
pub(super) fn schedules(path: &str, schedules: &[Vec<u32>], types: usize, findings: &mut Findings) {
    if schedules.is_empty() {
        findings.add(path, "no schedules, expected at least one");
    }
    let mut known = HashMap::new();
    for (s, schedule) in schedules.iter().enumerate() {
        let here = format!("{path}[{s}]");
        length(&here, schedule.len(), types, "job type", findings);
        if let Some(first) = known.insert(schedule, s) {
            findings.add(
                here,
                format!("{schedule:?} stands already at place {first}"),
            );
        }
    }
}

fn order(path: &str, policy: &MsrPolicy, findings: &mut Findings) {
    permutation(
        &format!("{path}.loop"),
        &policy.order,
        policy.schedules.len(),
        "schedule",
        findings,
    );
}

fn rates(policy_path: &str, policy: &MsrPolicy, findings: &mut Findings) {
    let path = format!("{policy_path}.switching_rate");
    positive(&path, policy.switching_rate, findings);
    let usable = |rate: f64| rate > 0.0 && rate.is_finite();
    let count = policy.schedules.len() as f64;
    let leaving = |weight: &f64| policy.switching_rate / (count * weight);
    // A rate beyond the range of numbers would make zero or infinite timers.
    if findings.is_clear(policy_path) && !policy.weights.iter().map(leaving).all(usable) {
        findings.add(
            path,
            format!(
                "{}: a schedule would be left at a rate out of the range of numbers",
                policy.switching_rate
            ),
        );
    }
    match (policy.preemption, policy.setup_rate) {
        (Preemption::Setup, None) => {
            findings.add(
                format!("{policy_path}.setup_rate"),
                "absent, expected a rate, since preemption is `setup`",
            );
        }
        (Preemption::Setup, Some(rate)) => {
            positive(format!("{policy_path}.setup_rate"), rate, findings);
        }
        (Preemption::None | Preemption::Full, Some(rate)) => {
            findings.add(
                format!("{policy_path}.setup_rate"),
                format!("{rate}, expected none, since preemption is not `setup`"),
            );
        }
        (Preemption::None | Preemption::Full, None) => {}
    }
}

fn certificate(server: &OneServer<'_>, findings: &mut Findings) {
    let found = server.certificate;
    let (types, resources) = (
        server.workload.types().len(),
        server.workload.resources().len(),
    );
    length(
        "certificate.prices",
        found.prices.len(),
        types,
        "job type",
        findings,
    );
    length(
        "certificate.resource_prices",
        found.resource_prices.len(),
        resources,
        "resource",
        findings,
    );
    for (i, price) in found.prices.iter().enumerate() {
        nonnegative(format!("certificate.prices[{i}]"), *price, findings);
    }
    for (j, price) in found.resource_prices.iter().enumerate() {
        nonnegative(
            format!("certificate.resource_prices[{j}]"),
            *price,
            findings,
        );
    }
    if let Some(tree) = &found.search {
        search("certificate.search", tree, (types, resources), findings);
    }
    sums_to_one("certificate.prices", &found.prices, findings);
    if let (Some(exact), Some(mix)) = (&found.exact, mix(server)) {
        exact::shape(exact, mix.schedules.len(), types, findings);
    }
    positive("certificate.load", found.load, findings);
    positive("certificate.bound", found.bound, findings);
    nonnegative("certificate.gap", found.gap, findings);
}

/// Of these types and resources, each type once at most, and no resource at a negative price, which
/// would prove nothing; and not too large.
pub(super) fn search(
    path: &str,
    found: &SearchRecord,
    (types, resources): (usize, usize),
    findings: &mut Findings,
) {
    let size = found.nodes.len().saturating_mul(found.types.len());
    if size > branching::SIZE {
        let most = branching::SIZE;
        return findings.add(
            path,
            format!("{size} nodes times types, expected at most {most}"),
        );
    }
    let mut known = vec![false; types];
    for (place, &i) in found.types.iter().enumerate() {
        if i >= types || std::mem::replace(&mut known[i], true) {
            let message = format!("{i}, expected each job type (below {types}) once at most");
            findings.add(format!("{path}.types[{place}]"), message);
        }
    }
    for (n, node) in found.nodes.iter().enumerate() {
        let here = format!("{path}.nodes[{n}]");
        let prices = format!("{here}.prices");
        length(&prices, node.prices.len(), resources, "resource", findings);
        for (j, price) in node.prices.iter().enumerate() {
            nonnegative(format!("{prices}[{j}]"), *price, findings);
        }
        if let Some((i, _)) = node.branch.filter(|(i, _)| !found.types.contains(i)) {
            findings.add(
                format!("{here}.branch"),
                format!("{i}, expected one of the types searched"),
            );
        }
    }
}

/// `uD ≤ P`, exactly, for each schedule; and every type in one of them.
pub(super) fn packing(mix: Mixed<'_>, workload: &Workload, findings: &mut Findings) {
    let path = format!("{}.schedules", mix.path);
    fits(&path, mix.schedules, workload, findings);
    all_served(&path, mix.schedules, workload, findings);
}

/// Every type stands in one of the schedules.
pub(super) fn all_served(
    path: &str,
    schedules: &[Vec<u32>],
    workload: &Workload,
    findings: &mut Findings,
) {
    for (i, kind) in workload.types().iter().enumerate() {
        let serves = |u: &Vec<u32>| u.get(i).is_some_and(|count| *count > 0);
        if !schedules.iter().any(serves) {
            let message = format!("type `{}` is served by no schedule", kind.name());
            findings.add(path, message);
        }
    }
}

/// `uD ≤ P`, exactly, for each schedule.
pub(super) fn fits(
    path: &str,
    schedules: &[Vec<u32>],
    workload: &Workload,
    findings: &mut Findings,
) {
    let packing = Packing::new(workload);
    for (s, schedule) in schedules.iter().enumerate() {
        if schedule.len() == workload.types().len() && !packing.fits(schedule) {
            let message = format!("{schedule:?} does not fit: {}", overrun(schedule, workload));
            findings.add(format!("{path}[{s}]"), message);
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
