//! A rule under guard: what takes over is stable, and the numbers leave it room.

use super::{Document, Round, shape};
use crate::artifact::{Findings, Grounds, written};
use crate::multiresource::artifact::{Backfill, Family, GuardedPolicy, Preemption};

const PATH: &str = "policy.guard";

pub(super) fn check(document: &Document<'_>, policy: &GuardedPolicy, findings: &mut Findings) {
    let GuardedPolicy { rule, guard, .. } = policy;
    numbers(policy, findings);
    if matches!(**rule, Family::Guarded(_) | Family::Msr(_)) {
        let message = format!(
            "`{}`, expected a rule without clocks of its own",
            rule.name()
        );
        findings.add("policy.rule", message);
    }
    let Some(guard) = guard.msr() else {
        let message = "a partition, expected a policy of the family msr";
        return findings.add(PATH, message);
    };
    shape::loop_of(PATH, guard, document.workload, findings);
    let preemption = match (rule.preempts(), rule.setup_rate()) {
        (true, None) => Preemption::Full,
        (true, Some(_)) => Preemption::Setup,
        (false, _) => Preemption::None,
    };
    if guard.setup_rate != rule.setup_rate() {
        let message = "expected the setups of the rule: what is in setup is taken over";
        findings.add(format!("{PATH}.setup_rate"), message);
    }
    if guard.preemption != preemption || guard.backfill != Backfill::None {
        let message = format!(
            "expected preemption {}, as the rule, and no backfilling, with which nothing is proved",
            written(&preemption)
        );
        findings.add(PATH, message);
    }
    if !findings.is_clear(PATH) {
        return;
    }
    let Some(round) = Round::of(document.workload, guard) else {
        return findings.add(PATH, "too large to be derived again");
    };
    let types = document.workload.types().iter();
    for (kind, load) in types.zip(round.loads(document.workload)) {
        // A load that is not a number is not stable either.
        let stable = load < 1.0;
        if !stable {
            let name = kind.name();
            let message =
                format!("the guard is unstable: type `{name}` has load {load}, expected < 1");
            findings.add(format!("{PATH}.switching_rate"), message);
        }
    }
    if findings.is_clear("policy") {
        findings.stands(PATH, Grounds::Derived("the loads ρ_i of its round"));
    }
}

/// B and b leave each other room.
pub(super) fn numbers(policy: &GuardedPolicy, findings: &mut Findings) {
    let GuardedPolicy { from, until, .. } = policy;
    if *until == 0 || until >= from {
        let message = format!("{until}, expected at least 1 and less than `from`, {from}");
        findings.add("policy.until", message);
    }
}
