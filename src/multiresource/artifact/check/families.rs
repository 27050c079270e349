//! The rules that look at queues: what they are made of must fit the workload.

use super::{Report, shape};
use crate::multiresource::artifact::{
    AdaptiveMsrPolicy, Family, StaticQuickswapPolicy, Switching, TablePolicy,
};
use crate::multiresource::schedule::{Neighbours, Packing};
use crate::multiresource::workload::Workload;

/// How far from 1 the dearest working schedule may be worth.
const ROUNDING: f64 = 1e-9;

pub(super) fn check(family: &Family, workload: &Workload, report: &mut Report) {
    match family {
        Family::Msr(_) | Family::AdaptiveQuickswap(_) => {}
        Family::StaticQuickswap(policy) => static_quickswap(policy, workload, report),
        Family::AdaptiveMsr(policy) => adaptive_msr(policy, workload, report),
        Family::Optimal(policy) => table(policy, workload, report),
    }
}

/// Each type has its turn, and thresholds are below the number of jobs that fit: no more are in
/// service, and a turn that ends with jobs waiting would not end.
fn static_quickswap(policy: &StaticQuickswapPolicy, workload: &Workload, report: &mut Report) {
    let types = workload.types();
    shape::permutation(
        "policy.cycle",
        &policy.cycle,
        types.len(),
        "job type",
        report,
    );
    let path = "policy.thresholds";
    shape::length(
        path,
        policy.thresholds.len(),
        types.len(),
        "job type",
        report,
    );
    let packing = Packing::new(workload);
    for (i, (kind, threshold)) in types.iter().zip(&policy.thresholds).enumerate() {
        let most = packing.most(i, packing.capacity());
        if *threshold >= most {
            let message = format!(
                "{threshold}, expected less than {most}: so many jobs of type `{}` fit",
                kind.name()
            );
            report.add(format!("{path}[{i}]"), message);
        }
    }
}

/// Working schedules that fit and serve all types, prices at which none is worth more than 1.
fn adaptive_msr(policy: &AdaptiveMsrPolicy, workload: &Workload, report: &mut Report) {
    let types = workload.types();
    let path = "policy.schedules";
    shape::schedules(path, &policy.schedules, types.len(), report);
    shape::length(
        "policy.prices",
        policy.prices.len(),
        types.len(),
        "job type",
        report,
    );
    for (i, price) in policy.prices.iter().enumerate() {
        shape::nonnegative(format!("policy.prices[{i}]"), *price, report);
    }
    if report.is_clear("policy") {
        shape::fits(path, &policy.schedules, workload, report);
        shape::all_served(path, &policy.schedules, workload, report);
        let mut dearest: f64 = 0.0;
        for (s, schedule) in policy.schedules.iter().enumerate() {
            let worth = schedule.iter().zip(&policy.prices);
            let worth: f64 = worth.map(|(u, p)| f64::from(*u) * p).sum();
            if worth > 1.0 + ROUNDING {
                let message = format!("worth {worth} at the prices, expected at most 1");
                report.add(format!("{path}[{s}]"), message);
            }
            dearest = dearest.max(worth);
        }
        if dearest < 1.0 - ROUNDING {
            let message =
                format!("no schedule is worth more than {dearest}, expected 1 of the dearest");
            report.add("policy.prices", message);
        }
    }
    switching(policy.switching, report);
}

fn switching(switching: Switching, report: &mut Report) {
    let Switching {
        waste,
        margin,
        floor,
        patience,
    } = switching;
    shape::nonnegative("policy.switching.margin", margin, report);
    shape::nonnegative("policy.switching.floor", floor, report);
    shape::nonnegative("policy.switching.patience", patience, report);
    if !(0.0..=1.0).contains(&waste) {
        report.add(
            "policy.switching.waste",
            format!("{waste}, expected from 0 to 1"),
        );
    }
}

/// More entries than a table of ours has.
const LARGEST_TABLE: u64 = 1 << 28;

/// All schedules that can be reached, and at each state a job that waits and fits.
fn table(policy: &TablePolicy, workload: &Workload, report: &mut Report) {
    let types = workload.types().len();
    let path = "policy.schedules";
    shape::schedules(path, &policy.schedules, types, report);
    shape::length(
        "policy.limits",
        policy.limits.len(),
        types,
        "job type",
        report,
    );
    let (tables, schedules) = (policy.decisions.len(), policy.schedules.len());
    shape::length("policy.decisions", tables, schedules, "schedule", report);
    if !report.is_clear("policy") {
        return;
    }
    shape::fits(path, &policy.schedules, workload, report);
    if policy.schedules[0].iter().any(|slots| *slots > 0) {
        report.add(format!("{path}[0]"), "expected the empty schedule");
    }
    let sides = policy.limits.iter().map(|limit| *limit as u64 + 1);
    let states = sides.fold(1, u64::saturating_mul);
    if states.saturating_mul(schedules as u64) > LARGEST_TABLE {
        return report.add("policy.limits", "a table too large to be run");
    }
    let near = Neighbours::new(policy.schedules.clone());
    for (s, runs) in policy.decisions.iter().enumerate() {
        let running = (0..types).filter(|i| policy.schedules[s][*i] > 0);
        if let Some(i) = running.clone().find(|i| near.fewer[s][*i].is_none()) {
            let name = workload.types()[i].name();
            let message = format!("a job of `{name}` can end, and what is left stands nowhere");
            report.add(format!("{path}[{s}]"), message);
        }
        if let Err(message) = decisions(policy, &near.more[s], states, runs) {
            report.add(format!("policy.decisions[{s}]"), message);
        }
    }
}

/// What is wrong with the decisions where a schedule runs, to which these types can be added.
fn decisions(
    policy: &TablePolicy,
    more: &[Option<usize>],
    states: u64,
    runs: &[[u32; 2]],
) -> Result<(), String> {
    let covered: u64 = runs.iter().map(|run| u64::from(run[0])).sum();
    if covered != states {
        return Err(format!("they are for {covered} states, expected {states}"));
    }
    let mut state = 0;
    for &[length, choice] in runs {
        if let Some(i) = (choice as usize).checked_sub(1) {
            if more.get(i).is_none_or(|next| next.is_none()) {
                return Err(format!("{choice}: no such job fits beside what runs"));
            }
            if lacks(&policy.limits, i, state, length as usize) {
                return Err(format!(
                    "{choice} at a state where no job of that type waits"
                ));
            }
        }
        state += length as usize;
    }
    Ok(())
}

/// Whether some state of `length` from `state` on has no waiting job of this type.
fn lacks(limits: &[usize], kind: usize, state: usize, length: usize) -> bool {
    let stride: usize = limits[kind + 1..].iter().map(|limit| limit + 1).product();
    let side = limits[kind] + 1;
    let within = state % (stride * side);
    // Those without stand first in each block of stride × side.
    within < stride || within + length > stride * side
}
