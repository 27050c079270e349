//! A guard is a policy with a proof of stability that replaces a rule while it has too many jobs.

use super::analysed::Analysed;
use super::options::ChoiceOptions;
use crate::synthesis::{Synthesis, SynthesisOptions, SynthesisOutcome, synthesize};
use synth_multiresource::artifact::{
    self, Backfill, EmptySlots, Family, GuardedConfig, MsrConfig, Preemption, Quantity,
};
use synth_multiresource::workload::{Fleet, Workload};

/// The guard takes over at `GUARD` times the mean number of jobs under the rule, but not before
/// `OWN` times its own. Otherwise, it would almost never let go, and the policy would be as slow.
const GUARD: f64 = 10.0;
const OWN: f64 = 4.0;

pub(super) struct Guard {
    policy: artifact::Guard,
    /// The mean number of jobs under the guard, or 0 if it is not known.
    mean_number: f64,
}

pub(super) fn guards(
    fleet: &Fleet,
    options: &SynthesisOptions,
    choice: &ChoiceOptions,
    analysed: &Analysed,
) -> Vec<Guard> {
    let workload = fleet.envelope();
    if choice.families.are_fixed() || !workload.is_poisson() {
        return Vec::new();
    }
    match analysed {
        Analysed::Server(msr) => of_server(workload, options, msr),
        Analysed::Fleet(_, slots) => {
            let of_slots = slots.iter().map(|own| Guard {
                mean_number: own.mean_number(fleet),
                policy: artifact::Guard::Partition(own.policy.clone()),
            });
            of_slots.collect()
        }
    }
}

/// Returns the analysed policy, and a nonpreemptive one if a rule needs it.
fn of_server(workload: &Workload, options: &SynthesisOptions, msr: &Synthesis) -> Vec<Guard> {
    let mut guards: Vec<Guard> = Guard::new(workload, msr).into_iter().collect();
    let stops_none = match options.preemption {
        Preemption::None => false,
        Preemption::Setup => true,
        Preemption::Full => workload.has_limits(),
    };
    if stops_none {
        let draining = SynthesisOptions {
            preemption: Preemption::None,
            setup_rate: None,
            switching_rate: None,
            route: None,
            ..options.clone()
        };
        if let Ok(SynthesisOutcome::Policy(msr)) = synthesize(workload, &draining) {
            guards.extend(Guard::new(workload, &msr));
        }
    }
    guards
}

impl Guard {
    /// Returns the MSR policy without backfilling, and with empty slots that keep their clocks, if
    /// this is proved to be stable (for Poisson arrivals and exponential sizes).
    fn new(workload: &Workload, msr: &Synthesis) -> Option<Self> {
        let policy = MsrConfig {
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
            ..msr.policy.clone()
        };
        let proved = Family::from(policy.clone()).is_proved_stable(workload);
        proved.then(|| Guard {
            mean_number: mean_number(msr),
            policy: artifact::Guard::Msr(policy),
        })
    }
}

/// Returns the claimed mean number of jobs, or the sum of the upper bounds (0 without claims).
fn mean_number(msr: &Synthesis) -> f64 {
    let claims = || msr.artifact.claims.iter();
    let all = claims().find(|c| c.quantity == Quantity::MeanNumber && c.job_type.is_none());
    let most = claims().filter(|c| c.quantity == Quantity::MeanNumberAtMost);
    all.map_or_else(|| most.map(|c| c.value).sum(), |claim| claim.value)
}

/// Returns the policy under the first guard that preempts no more than it, if it needs one.
///
/// If the distribution of the number of jobs decreases exponentially, only one job in 20 000 finds
/// ten times the mean in the system, where the guard takes over. The number is also so far above
/// the mean of the guard that one half of it, where the guard lets go, is reached soon.
pub(super) fn guarded(
    guards: &[Guard],
    workload: &Workload,
    policy: &Family,
    mean_number: f64,
) -> Option<Family> {
    let keeps_clocks = matches!(
        policy,
        Family::Msr(_) | Family::Partition(_) | Family::Guarded(_)
    );
    if keeps_clocks || policy.is_proved_stable(workload) {
        return None;
    }
    let suits = |guard: &&Guard| policy.preempts() || !guard.policy.preempts();
    let guard = guards.iter().find(suits)?;
    let most = (GUARD * mean_number).max(OWN * guard.mean_number);
    let from = most.ceil() as u64 + 1;
    Some(Family::Guarded(GuardedConfig {
        rule: Box::new(policy.clone()),
        guard: guard.policy.clone(),
        from,
        until: from.div_ceil(2),
    }))
}
