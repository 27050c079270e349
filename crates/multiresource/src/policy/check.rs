use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use crate::schedule::{Packing, schedule_value};
use crate::workload::Workload;
use synth_core::artifact::{Findings, nonnegative, positive};

/// The tolerance for the worth of the most valuable schedule, which must be 1.
pub(crate) const ROUNDING: f64 = 1e-9;

pub(crate) fn schedules(schedules: &[Vec<u32>], server: &Workload, findings: &mut Findings) {
    let mut known = HashMap::new();
    for (s, schedule) in schedules.iter().enumerate() {
        if let Some(first) = known.insert(schedule, s) {
            let message = format!("{schedule:?} duplicates schedules[{first}]");
            findings.add(format!("schedules[{s}]"), message);
        }
    }
    each_fits(schedules, server, findings);
}

pub(crate) fn each_fits(schedules: &[Vec<u32>], server: &Workload, findings: &mut Findings) {
    if schedules.is_empty() {
        findings.add("schedules", "no schedules, expected at least one");
    }
    let (packing, types) = (Packing::new(server), server.types().len());
    for (s, schedule) in schedules.iter().enumerate() {
        let path = format!("schedules[{s}]");
        findings.length(&path, schedule.len(), types, "job type");
        if schedule.len() == types && !packing.fits(schedule) {
            let why = overrun(schedule, &packing, server);
            findings.add(path, format!("{schedule:?} does not fit: {why}"));
        }
    }
}

pub(crate) fn all_served(schedules: &[Vec<u32>], workload: &Workload, findings: &mut Findings) {
    for (i, kind) in workload.types().iter().enumerate() {
        let serves = |u: &Vec<u32>| u.get(i).is_some_and(|count| *count > 0);
        if !schedules.iter().any(serves) {
            let message = format!("type `{}` is served by no schedule", kind.name());
            findings.add("schedules", message);
        }
    }
}

fn overrun(schedule: &[u32], packing: &Packing, workload: &Workload) -> String {
    let resources = workload.resources().iter().enumerate();
    let over = resources.filter_map(|(j, resource)| {
        let (needs, has) = (packing.used(schedule, j), u128::from(resource.units()));
        let name = resource.name();
        let message = || format!("needs {needs} units of `{name}`, expected at most {has}");
        (needs > has).then(message)
    });
    over.collect::<Vec<_>>().join("; ")
}

pub(super) fn priced(
    all: &[Vec<u32>],
    prices: &[f64],
    workload: &Workload,
    findings: &mut Findings,
) {
    let types = workload.types().len();
    schedules(all, workload, findings);
    all_served(all, workload, findings);
    findings.all_nonnegative("prices", prices, types, "job type");
    if !findings.is_clear("") {
        return;
    }
    let mut dearest: f64 = 0.0;
    for (s, schedule) in all.iter().enumerate() {
        let worth = schedule_value(schedule, prices);
        if worth > 1.0 + ROUNDING {
            let message = format!("the value at the prices is {worth}, expected at most 1");
            findings.add(format!("schedules[{s}]"), message);
        }
        dearest = dearest.max(worth);
    }
    if dearest < 1.0 - ROUNDING {
        let message = format!("the most valuable schedule is worth {dearest}, expected 1");
        findings.add("prices", message);
    }
}

/// Checks that top-level numbers are finite and ≥ 0, or > 0 if named in `above_zero`.
pub(super) fn numbers(policy: &impl Serialize, above_zero: &[&str], findings: &mut Findings) {
    let fields = serde_json::to_value(policy).unwrap_or_default();
    for (name, knob) in fields.as_object().into_iter().flatten() {
        let value = knob.as_f64().unwrap_or(f64::NAN);
        match knob {
            // Infinity and NaN are serialized as `null`.
            Value::Number(_) | Value::Null if above_zero.contains(&name.as_str()) => {
                positive(name, value, findings);
            }
            Value::Number(_) | Value::Null => nonnegative(name, value, findings),
            _ => {}
        }
    }
}
