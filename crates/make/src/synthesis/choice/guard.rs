//! A guard is a policy that has been proved to be stable. It is used instead of another rule while
//! that rule has too many jobs in the system.

use super::analysed::Analysed;
use super::options::ChoiceOptions;
use crate::synthesis::{Synthesis, SynthesisOptions, SynthesisOutcome, synthesize};
use synth_multiresource::artifact::{
    self, Backfill, EmptySlots, Family, GuardedConfig, MsrConfig, Preemption, Quantity,
};
use synth_multiresource::workload::{Fleet, Workload};

/// The guard is used if the number of jobs is greater than each of these values multiplied by the
/// mean number of jobs, under the rule and under the guard, respectively.
const GUARD: f64 = 10.0;
const OWN: f64 = 4.0;

pub(super) struct Guard {
    policy: artifact::Guard,
    mean_number: f64,
}

/// Returns the guards for these options, preemptive ones first.
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

/// Returns the analysed policy. With preemption, a nonpreemptive one is added if a rule needs it.
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
    /// Returns the MSR policy without backfilling if there is a proof that it is stable.
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

fn mean_number(msr: &Synthesis) -> f64 {
    let claims = || msr.artifact.claims.iter();
    let all = claims().find(|c| c.quantity == Quantity::MeanNumber && c.job_type.is_none());
    let most = claims().filter(|c| c.quantity == Quantity::MeanNumberAtMost);
    all.map_or_else(|| most.map(|c| c.value).sum(), |claim| claim.value)
}

/// Returns the policy under the first guard that preempts no more than it; `None` if it needs none.
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
    let from = (GUARD * mean_number).max(OWN * guard.mean_number);
    let from = from.ceil() as u64 + 1;
    Some(Family::Guarded(GuardedConfig {
        rule: Box::new(policy.clone()),
        guard: guard.policy.clone(),
        from,
        until: from.div_ceil(2),
    }))
}
