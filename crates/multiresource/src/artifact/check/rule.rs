use super::round::Round;
use super::{Document, partition};
use crate::artifact::{Backfill, Family, Guard, GuardedConfig, MsrConfig, Preemption};
use crate::policy::PolicyConfig;
use crate::policy::check::ROUNDING;
use crate::schedule::schedule_value;
use synth_core::artifact::{Findings, Grounds, is_close, written};

const GUARD: Grounds = Grounds::Derived("its loads, from a round of its loop or from its slots");

/// Returns the loads of the types (K) under the guard, if there is one and the policy is right.
pub(super) fn check(document: &Document<'_>, findings: &mut Findings) -> Option<Vec<f64>> {
    let loads = match document.rule {
        Family::Guarded(own) => findings.within("policy.guarded", |f| guard(document, own, f)),
        _ => None,
    };
    findings.within(document.path_of_rule(), |f| followed(document, f));
    let loads = loads.filter(|_| findings.is_clear("policy"));
    if loads.is_some() {
        findings.stands("policy.guarded.guard", GUARD);
    }
    loads
}

fn guard(
    document: &Document<'_>,
    policy: &GuardedConfig,
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
        Family::Guarded(_) | Family::Msr(_) | Family::Partition(_) | Family::RandomizedTimers(_)
    ) {
        let expected = "a rule without its own clocks";
        findings.differs("rule", format!("`{}`", rule.name()), expected);
    }
    match (&policy.guard, document.fleet.is_one_server()) {
        (Guard::Msr(guard), true) => {
            let guard = |f: &mut Findings| loop_that_takes_over(document, rule, guard, f);
            findings.within("guard", guard)
        }
        (Guard::Partition(guard), false) => findings.within("guard", |f| {
            guard.check(document.fleet, f);
            let clear = f.is_clear("");
            let loads = clear.then(|| partition::loads(guard, document.workload))?;
            document.check_stable(("", "the guard"), &loads, f);
            Some(loads)
        }),
        (Guard::Msr(_), false) => {
            findings.differs("guard", "a policy for one server", "a partition");
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
    guard: &MsrConfig,
    findings: &mut Findings,
) -> Option<Vec<f64>> {
    guard.check(document.fleet, findings);
    let preemption = match (rule.preempts(), rule.setup_rate()) {
        (true, None) => Preemption::Full,
        (true, Some(_)) => Preemption::Setup,
        (false, _) => Preemption::None,
    };
    if guard.setup_rate != rule.setup_rate() {
        let message =
            "expected the setup rate of the rule, since the guard takes over slots in setup";
        findings.add("setup_rate", message);
    }
    if guard.preemption != preemption || guard.backfill != Backfill::None {
        let message = format!(
            "expected preemption {}, as for the rule, and no backfilling, for which there is no proof",
            written(&preemption)
        );
        findings.add("", message);
    }
    if !findings.is_clear("") {
        return None;
    }
    let round = Round::of(document.workload, guard);
    if round.is_none() {
        findings.add("", "too large to derive again");
    }
    let loads = round?.loads(document.workload);
    let site = ("switching_rate", "the guard");
    document.check_stable(site, &loads, findings);
    Some(loads)
}

fn followed(document: &Document<'_>, findings: &mut Findings) {
    let (workload, fleet) = (document.workload, document.fleet);
    let rule = document.rule.followed();
    if rule.needs_limits() && !workload.has_limits() {
        let message = "needs the time limits of jobs, but they are not known in this workload";
        findings.add("", format!("{} {message}", rule.name()));
    }
    rule.check(fleet, findings);
    if let Family::Partition(policy) = rule
        && findings.is_clear("")
    {
        let loads = partition::loads(policy, workload);
        document.check_stable(("", "the policy"), &loads, findings);
    }
}

/// Checks that a rule with prices contains the schedules of the mix, and the prices of the
/// certificate, scaled so that its most valuable schedule has a value of 1.
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
            "{schedule:?} is missing: the mix that carries the load uses it for a fraction {weight} of the time"
        );
        findings.add(format!("{path}.schedules"), message);
    }
    let pairs = evidence.prices.iter().zip(document.workload.types());
    let prices: Vec<f64> = pairs.map(|(y, kind)| y / kind.offered_load()).collect();
    let worths = schedules.iter().map(|u| schedule_value(u, &prices));
    let dearest = worths.fold(0.0, f64::max);
    for (i, (found, price)) in own_prices.iter().zip(&prices).enumerate() {
        let expected = price / dearest;
        if !is_close(*found, expected, ROUNDING) {
            let expected = format!("{expected}, the price of the certificate");
            findings.differs(format!("{path}.prices[{i}]"), found, expected);
        }
    }
}
