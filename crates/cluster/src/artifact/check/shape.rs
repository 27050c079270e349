//! Shapes, indices and signs: what must hold before anything can be derived.

use std::collections::HashMap;

use super::branching;
use crate::artifact::{MsrPolicy, Preemption, SearchRecord};
use crate::schedule::Packing;
use crate::workload::{JobType, Workload};
use synth_core::artifact::{Findings, positive};

/// Checks all of a loop that can be said without a look at its round.
pub(super) fn loop_of(policy: &MsrPolicy, workload: &Workload, findings: &mut Findings) {
    let count = policy.schedules.len();
    schedules(&policy.schedules, workload, findings);
    all_served(&policy.schedules, workload, findings);
    findings.positive_shares("weights", &policy.weights, count, "schedule");
    findings.permutation("loop", &policy.order, count, "schedule");
    positive("switching_rate", policy.switching_rate, findings);
    let leaving = |weight: &f64| policy.switching_rate / (count as f64 * weight);
    let usable = |rate: f64| rate > 0.0 && rate.is_finite();
    // A rate beyond the range of numbers would make zero or infinite timers.
    if findings.is_clear("") && !policy.weights.iter().map(leaving).all(usable) {
        let message = "a schedule would be left at a rate out of the range of numbers";
        findings.add(
            "switching_rate",
            format!("{}: {message}", policy.switching_rate),
        );
    }
    match (policy.preemption == Preemption::Setup, policy.setup_rate) {
        (true, Some(rate)) => positive("setup_rate", rate, findings),
        (true, None) => {
            findings.differs(
                "setup_rate",
                "absent",
                "a rate, since preemption is `setup`",
            );
        }
        (false, Some(rate)) => {
            findings.differs("setup_rate", rate, "none, since preemption is not `setup`");
        }
        (false, None) => {}
    }
}

/// Checks `schedules`: at least one, none twice, and each with `uD ≤ P`, exactly.
pub(super) fn schedules(schedules: &[Vec<u32>], server: &Workload, findings: &mut Findings) {
    if schedules.is_empty() {
        findings.add("schedules", "no schedules, expected at least one");
    }
    let (packing, types) = (Packing::new(server), server.types().len());
    let mut known = HashMap::new();
    for (s, schedule) in schedules.iter().enumerate() {
        let path = format!("schedules[{s}]");
        findings.length(&path, schedule.len(), types, "job type");
        if let Some(first) = known.insert(schedule, s) {
            let message = format!("{schedule:?} stands already at place {first}");
            findings.add(&path, message);
        }
        if schedule.len() == types && !packing.fits(schedule) {
            let message = format!("{schedule:?} does not fit: {}", overrun(schedule, server));
            findings.add(path, message);
        }
    }
}

/// Checks that every type stands in one of the schedules.
pub(super) fn all_served(schedules: &[Vec<u32>], workload: &Workload, findings: &mut Findings) {
    for (i, kind) in workload.types().iter().enumerate() {
        let serves = |u: &Vec<u32>| u.get(i).is_some_and(|count| *count > 0);
        if !schedules.iter().any(serves) {
            let message = format!("type `{}` is served by no schedule", kind.name());
            findings.add("schedules", message);
        }
    }
}

/// Returns which resources a schedule overruns.
fn overrun(schedule: &[u32], workload: &Workload) -> String {
    let needed = |j: usize| -> u128 {
        let units = |(u, kind): (&u32, &JobType)| u128::from(*u) * u128::from(kind.units()[j]);
        schedule.iter().zip(workload.types()).map(units).sum()
    };
    let resources = workload.resources().iter().enumerate();
    let over = resources.filter_map(|(j, resource)| {
        let (needs, has) = (needed(j), u128::from(resource.units()));
        let name = resource.name();
        let message = || format!("needs {needs} units of `{name}`, expected at most {has}");
        (needs > has).then(message)
    });
    over.collect::<Vec<_>>().join("; ")
}

/// Checks that every type gets more service than it brings work; `what` is what gives it, standing at this path.
pub(super) fn stable(
    (path, what): (&str, &str),
    loads: &[f64],
    workload: &Workload,
    findings: &mut Findings,
) {
    for (kind, load) in workload.types().iter().zip(loads) {
        // A load that is not a number is not stable either.
        let stable = *load < 1.0;
        if !stable {
            let name = kind.name();
            let message =
                format!("{what} is unstable: type `{name}` has load {load}, expected < 1");
            findings.add(path, message);
        }
    }
}

/// Checks that a search is of these types and resources, each type once at most, and no resource at a negative price,
/// which would prove nothing; and not too large.
pub(super) fn search(
    found: &SearchRecord,
    (types, resources): (usize, usize),
    findings: &mut Findings,
) {
    let size = found.nodes.len().saturating_mul(found.types.len());
    if size > branching::SIZE {
        let expected = format!("at most {}", branching::SIZE);
        return findings.differs("", format!("{size} nodes times types"), expected);
    }
    let mut known = vec![false; types];
    for (place, &i) in found.types.iter().enumerate() {
        if i >= types || std::mem::replace(&mut known[i], true) {
            let expected = format!("each job type (below {types}) once at most");
            findings.differs(format!("types[{place}]"), i, expected);
        }
    }
    for (n, node) in found.nodes.iter().enumerate() {
        let prices = format!("nodes[{n}].prices");
        findings.all_nonnegative(&prices, &node.prices, resources, "resource");
        if let Some((i, _)) = node.branch.filter(|(i, _)| !found.types.contains(i)) {
            findings.differs(format!("nodes[{n}].branch"), i, "one of the types searched");
        }
    }
}
