//! The rule: what it is made of fits the workload, and what takes over from it is stable.

use serde::Serialize;
use serde_json::Value;

use super::round::Round;
use super::{Document, partition, shape};
use crate::artifact::{
    Backfill, Family, Guard, GuardedPolicy, MaxWeightPolicy, MsrPolicy, PooledPolicy, Preemption,
    StaticQuickswapPolicy,
};
use crate::schedule::{Packing, worth};
use crate::workload::{Fleet, Shape, Workload};
use synth_core::artifact::{Findings, Grounds, is_close, nonnegative, positive, written};

/// How far from 1 the dearest schedule may be worth.
const ROUNDING: f64 = 1e-9;

/// The smallest worth that is told apart, and the largest exponent: with more, weights of a few thousand jobs no
/// longer differ.
const LEAST_WORTH: f64 = 1e-6;
const MOST_EXPONENT: f64 = 2.0;

const GUARD: Grounds = Grounds::Derived("its loads, from a round of its loop or from its slots");

/// Checks the rule. Returns the loads of the types (K) while its guard is in charge, if it has one and all is right.
pub(super) fn check(document: &Document<'_>, findings: &mut Findings) -> Option<Vec<f64>> {
    let mut loads = None;
    if let Family::Guarded(policy) = document.rule {
        loads = findings.within("policy.guarded", |f| guard(document, policy, f));
    }
    findings.within(document.path_of_rule(), |f| followed(document, f));
    let loads = loads.filter(|_| findings.is_clear("policy"));
    if loads.is_some() {
        findings.stands("policy.guarded.guard", GUARD);
    }
    loads
}

/// Checks that the numbers leave each other room, and that what takes over goes with the rule and is stable. Returns
/// its loads (K), where they could be derived.
fn guard(
    document: &Document<'_>,
    policy: &GuardedPolicy,
    findings: &mut Findings,
) -> Option<Vec<f64>> {
    let (from, until) = (policy.from, policy.until);
    if until == 0 || until >= from {
        let expected = format!("at least 1 and less than `from`, {from}");
        findings.differs("until", until, expected);
    }
    let rule = &*policy.rule;
    if matches!(
        rule,
        Family::Guarded(_) | Family::Msr(_) | Family::Partition(_)
    ) {
        let expected = "a rule without clocks of its own";
        findings.differs("rule", format!("`{}`", rule.name()), expected);
    }
    match (&policy.guard, document.fleet.is_one_server()) {
        (Guard::Msr(guard), true) => {
            let guard = |f: &mut Findings| loop_that_takes_over(document, rule, guard, f);
            findings.within("guard", guard)
        }
        (Guard::Partition(guard), false) => findings.within("guard", |f| {
            let loads = partition::check(guard, document.fleet, f)?;
            shape::stable(("", "the guard"), &loads, document.workload, f);
            Some(loads)
        }),
        (Guard::Msr(_), false) => {
            findings.differs("guard", "a policy of one server", "a partition");
            None
        }
        (Guard::Partition(_), true) => {
            findings.differs("guard", "a partition", "a policy of the family msr");
            None
        }
    }
}

fn loop_that_takes_over(
    document: &Document<'_>,
    rule: &Family,
    guard: &MsrPolicy,
    findings: &mut Findings,
) -> Option<Vec<f64>> {
    shape::loop_of(guard, document.workload, findings);
    let preemption = match (rule.preempts(), rule.setup_rate()) {
        (true, None) => Preemption::Full,
        (true, Some(_)) => Preemption::Setup,
        (false, _) => Preemption::None,
    };
    if guard.setup_rate != rule.setup_rate() {
        let message = "expected the setups of the rule: what is in setup is taken over";
        findings.add("setup_rate", message);
    }
    if guard.preemption != preemption || guard.backfill != Backfill::None {
        let message = format!(
            "expected preemption {}, as the rule, and no backfilling, with which nothing is proved",
            written(&preemption)
        );
        findings.add("", message);
    }
    if !findings.is_clear("") {
        return None;
    }
    let Some(round) = Round::of(document.workload, guard) else {
        findings.add("", "too large to be derived again");
        return None;
    };
    let loads = round.loads(document.workload);
    let site = ("switching_rate", "the guard");
    shape::stable(site, &loads, document.workload, findings);
    Some(loads)
}

/// Checks the rule that is followed while nothing is amiss.
fn followed(document: &Document<'_>, findings: &mut Findings) {
    let (workload, fleet) = (document.workload, document.fleet);
    let rule = document.rule.followed();
    if rule.needs_limits() && !workload.has_limits() {
        let message = "asks for the limits of jobs, and of this workload none are known";
        findings.add("", format!("{} {message}", rule.name()));
    }
    match rule {
        // Of these there is nothing to say but the name; of one under guard it was said that it may not be one.
        Family::FirstFit(_)
        | Family::MostServersFirst(_)
        | Family::LeastServersFirst(_)
        | Family::EasyByMean(_)
        | Family::EasyBackfill(_)
        | Family::AdaptiveQuickswap(_)
        | Family::PooledEasy(_)
        | Family::Guarded(_) => {}
        Family::Msr(policy) => shape::loop_of(policy, workload, findings),
        Family::StaticQuickswap(policy) => static_quickswap(policy, workload, findings),
        Family::AdaptiveMsr(policy) => {
            priced(&policy.schedules, &policy.prices, workload, findings);
            let (switching, waste) = (&policy.switching, policy.switching.waste);
            findings.within("switching", |f| knobs(switching, &[], f));
            if waste > 1.0 {
                findings.differs("switching.waste", waste, "from 0 to 1");
            }
        }
        Family::Tdc(policy) => {
            priced(&policy.schedules, &policy.prices, workload, findings);
            findings.within("knobs", |f| knobs(&policy.knobs, &["patience"], f));
        }
        Family::Reserving(policy) => {
            let types = workload.types().len();
            findings.all_nonnegative("prices", &policy.prices, types, "job type");
            knobs(policy, &[], findings);
        }
        Family::MaxWeight(policy) => max_weight(policy, workload, findings),
        Family::MaxWeightSetup(policy) => {
            findings.within("weights", |f| max_weight(&policy.weights, workload, f));
            knobs(policy, &["setup_rate"], findings);
        }
        Family::ServerFilling(_) => {
            let count = workload.resources().len();
            if count != 1 {
                let message = format!("a rule for one resource, and the workload has {count}");
                findings.add("", message);
            }
        }
        Family::Pooled(policy) => pooled(policy, fleet, findings),
        Family::Partition(policy) => {
            if let Some(loads) = partition::check(policy, fleet, findings) {
                shape::stable(("", "the policy"), &loads, workload, findings);
            }
        }
    }
}

/// Each type has its turn, and thresholds are below the number of jobs that fit: no more are in
/// service, and a turn that ends with jobs waiting would not end.
fn static_quickswap(policy: &StaticQuickswapPolicy, workload: &Workload, findings: &mut Findings) {
    let (types, thresholds) = (workload.types(), &policy.thresholds);
    findings.permutation("cycle", &policy.cycle, types.len(), "job type");
    findings.length("thresholds", thresholds.len(), types.len(), "job type");
    let packing = Packing::new(workload);
    for (i, (kind, threshold)) in types.iter().zip(thresholds).enumerate() {
        let most = packing.most(i, packing.capacity());
        if *threshold >= most {
            let name = kind.name();
            let expected = format!("less than {most}: so many jobs of type `{name}` fit");
            findings.differs(format!("thresholds[{i}]"), threshold, expected);
        }
    }
}

/// Schedules that fit and serve all types, and prices at which the dearest of them is worth 1.
fn priced(schedules: &[Vec<u32>], prices: &[f64], workload: &Workload, findings: &mut Findings) {
    let types = workload.types().len();
    shape::schedules(schedules, workload, findings);
    shape::all_served(schedules, workload, findings);
    findings.all_nonnegative("prices", prices, types, "job type");
    if !findings.is_clear("") {
        return;
    }
    let mut dearest: f64 = 0.0;
    for (s, schedule) in schedules.iter().enumerate() {
        let worth = worth(schedule, prices);
        if worth > 1.0 + ROUNDING {
            let message = format!("worth {worth} at the prices, expected at most 1");
            findings.add(format!("schedules[{s}]"), message);
        }
        dearest = dearest.max(worth);
    }
    if dearest < 1.0 - ROUNDING {
        let message =
            format!("no schedule is worth more than {dearest}, expected 1 of the dearest");
        findings.add("prices", message);
    }
}

/// Checks that the numbers of a policy that stand by themselves are finite and ≥ 0, and these of them above 0.
fn knobs(policy: &impl Serialize, above_zero: &[&str], findings: &mut Findings) {
    let fields = serde_json::to_value(policy).unwrap_or_default();
    for (name, knob) in fields.as_object().into_iter().flatten() {
        match knob {
            // What is not finite is null.
            Value::Number(_) | Value::Null if above_zero.contains(&name.as_str()) => {
                positive(name, knob.as_f64().unwrap_or(f64::NAN), findings);
            }
            Value::Number(_) | Value::Null => {
                nonnegative(name, knob.as_f64().unwrap_or(f64::NAN), findings);
            }
            _ => {}
        }
    }
}

/// All worths are positive: else nothing is proved.
fn max_weight(policy: &MaxWeightPolicy, workload: &Workload, findings: &mut Findings) {
    let (types, worths) = (workload.types().len(), &policy.worths);
    findings.length("worths", worths.len(), types, "job type");
    for (i, worth) in worths.iter().enumerate() {
        if !(LEAST_WORTH..=1.0).contains(worth) {
            let expected = format!("{LEAST_WORTH} at least, at most 1");
            findings.differs(format!("worths[{i}]"), worth, expected);
        }
    }
    let exponent = policy.exponent;
    if !(exponent > 0.0 && exponent <= MOST_EXPONENT) {
        let expected = format!("above 0, at most {MOST_EXPONENT}");
        findings.differs("exponent", exponent, expected);
    }
}

/// Each type has servers where it may start, also beside a zone.
fn pooled(policy: &PooledPolicy, fleet: &Fleet, findings: &mut Findings) {
    nonnegative("reserve", policy.reserve, findings);
    let Some(zone) = &policy.zone else { return };
    let (types, shapes, path) = (fleet.types(), fleet.shapes(), "zone.servers");
    let known = |i: &usize| *i < types.len();
    let twice = (1..zone.types.len()).any(|k| zone.types[..k].contains(&zone.types[k]));
    if zone.types.is_empty() || twice || !zone.types.iter().all(known) {
        findings.differs(
            "zone.types",
            format!("{:?}", zone.types),
            "types, each once",
        );
    }
    findings.length(path, zone.servers.len(), shapes.len(), "server shape");
    if !findings.is_clear("") {
        return;
    }
    for (reserved, shape) in zone.servers.iter().zip(shapes) {
        let (name, count) = (shape.name(), shape.count());
        if *reserved > count {
            let message = format!("{reserved} of {name}, of which there are {count}");
            findings.add(path, message);
        }
    }
    let others = types
        .iter()
        .enumerate()
        .filter(|(i, _)| !zone.types.contains(i));
    for (i, kind) in others {
        let holds = |(shape, _): &(&Shape, &u32)| shape.types().contains(&i);
        let holding = shapes.iter().zip(&zone.servers).filter(holds);
        let left = holding.map(|(shape, reserved)| shape.count().saturating_sub(*reserved));
        let (left, nodes, name) = (left.sum::<u32>(), kind.nodes(), kind.name());
        if left < nodes {
            let message = format!(
                "`{name}` can start on {left} servers that are not in the zone, expected {nodes} at least"
            );
            findings.add(path, message);
        }
    }
}

/// Checks that a rule with prices can carry what the evidence says: it has all schedules of the mix that does. And its
/// prices are those that prove it, so that the dearest of its schedules is worth 1.
pub(super) fn certified(document: &Document<'_>, findings: &mut Findings) {
    let (schedules, own_prices) = match document.rule.followed() {
        Family::AdaptiveMsr(policy) => (&policy.schedules, &policy.prices),
        Family::Tdc(policy) => (&policy.schedules, &policy.prices),
        _ => return,
    };
    if !findings.is_clear("policy") || !findings.is_clear("evidence") {
        return;
    }
    let (path, evidence) = (document.path_of_rule(), document.evidence);
    let mix = evidence.servers.iter().flat_map(|server| &server.mix);
    let pairs = mix.flat_map(|mix| mix.schedules.iter().zip(&mix.weights));
    for (schedule, weight) in pairs.filter(|(u, _)| !schedules.contains(u)) {
        let message = format!(
            "{schedule:?} is not among them, and the mix that has the load is on it for {weight} of the time"
        );
        findings.add(format!("{path}.schedules"), message);
    }
    let pairs = evidence.prices.iter().zip(document.workload.types());
    let prices: Vec<f64> = pairs.map(|(y, kind)| y / kind.offered_load()).collect();
    let worths = schedules.iter().map(|schedule| worth(schedule, &prices));
    let dearest = worths.fold(0.0, f64::max);
    for (i, (found, price)) in own_prices.iter().zip(&prices).enumerate() {
        let expected = price / dearest;
        if !is_close(*found, expected, ROUNDING) {
            let expected = format!("{expected}, as the certificate prices it");
            findings.differs(format!("{path}.prices[{i}]"), found, expected);
        }
    }
}
