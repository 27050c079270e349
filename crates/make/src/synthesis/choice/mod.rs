//! The choice among families, by simulation: several policies of each are searched through, the knobs of the best are
//! turned, then the best of each family are compared on arrivals and sizes that none was tuned on. What is
//! claimed of the one that is taken comes from one more run, under guard where nothing is proved of its stability, on
//! arrivals and sizes that decided nothing; where it is too short, nothing is claimed.
//!
//! # Method
//! All work is counted in events of First-Fit with few types ([`Family::work`]), so that the same seed gives the same
//! policy on each machine. In the search and in the comparison candidates climb a ladder of run lengths, the
//! cheapest next run first ([`ladder`]); who is clearly behind on a common rung runs no further. Knobs are tuned
//! one at a time over grids, which each rule has for its own ([`search`]). The final comparison has fresh
//! seeds: the best of many is partly the best by chance, which must not enter the claims. It ends as soon as all others are
//! surely slower than the best (95 % together, Bonferroni), or differ from it by less than 1 %.
//!
//! The best is the one with the least cost among those that have settled. Only where none has, the one whose
//! jobs stayed least is taken. The length of the last run is fixed before it begins: a run that ends once it is narrow is too
//! low more often than not.

mod candidates;
mod chosen;
mod decision;
mod evaluator;
mod ladder;
mod pooled;
mod record;
mod search;
#[cfg(test)]
mod tests;

use super::{Options, Outcome, Synthesis, SynthesisError, of_solution, synthesize};
pub use chosen::{Basis, ChoiceError, ChoiceOptions, Chosen, Families, Stage, Unkept};
use decision::decide;
use evaluator::{Evaluator, Guard};
pub use pooled::{Pooling, pool};
use synth_multiresource::artifact::{
    self, Backfill, EmptySlots, Family, FirstFitConfig, MaxWeightConfig, MostServersFirstConfig,
    MsrConfig, Preemption, Quantity,
};
use synth_multiresource::policy::TuningContext;
use synth_multiresource::simulator::Run;
use synth_multiresource::workload::{Fleet, Workload};

/// Chooses a policy with the preemption of the options. `msr` is the MSR policy for these options.
///
/// # Errors
/// When a policy makes a decision that no server could carry out; and where none keeps what is promised, or all run
/// away.
pub fn choose(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    msr: Box<Synthesis>,
    mut progress: impl FnMut(Stage),
) -> Result<Chosen, ChoiceError> {
    let (starts, skipped) = candidates::all(workload, options, choice, &msr);
    let guards = guards(workload, options, choice, &msr);
    let fleet = Fleet::from(workload.clone());
    let taken = msr.routes.iter().find(|r| r.route == msr.policy.route);
    let outlook = taken.and_then(|r| r.outlook.as_ref());
    let outlook = outlook.expect("the route taken has an outlook");
    let context = TuningContext::new(workload, outlook.largest);
    let rivals: Vec<Family> = match options.preemption {
        Preemption::Full => vec![MaxWeightConfig::plain(workload.types().len()).into()],
        _ => vec![FirstFitConfig {}.into(), MostServersFirstConfig {}.into()],
    };
    let mut evaluator = Evaluator::new(&fleet, options.objective, choice, guards, &mut progress);
    let mut synthesis = None;
    let artifact = |policy: &Family, run: Option<&Run>| {
        let Some(turned) = policy.msr() else {
            return Ok(record::artifact(
                &fleet,
                &msr.solution,
                policy,
                None,
                (run, options.objective),
            ));
        };
        let msr = synthesis.insert(retuned(workload, options, msr, turned)?);
        Ok(msr.artifact.clone())
    };
    let chosen = decide(&mut evaluator, starts, rivals, &context, artifact)?;
    Ok(Chosen {
        synthesis,
        skipped,
        ..chosen
    })
}

/// The policy of the program, as it is analysed: without backfilling, and with slots that keep their clocks. Its
/// stability is proved with exponential sizes and Poisson arrivals. With preemption also one without, where there are rules that have none.
fn guards(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    msr: &Synthesis,
) -> Vec<Guard> {
    let mut guards: Vec<Guard> = guard(workload, choice, msr).into_iter().collect();
    let stops_none = match options.preemption {
        Preemption::None => false,
        Preemption::Setup => true,
        Preemption::Full => workload.has_limits(),
    };
    if stops_none {
        let draining = Options {
            preemption: Preemption::None,
            setup_rate: None,
            switching_rate: None,
            route: None,
            ..options.clone()
        };
        if let Ok(Outcome::Policy(msr)) = synthesize(workload, &draining) {
            guards.extend(guard(workload, choice, &msr));
        }
    }
    guards
}

fn guard(workload: &Workload, choice: &ChoiceOptions, msr: &Synthesis) -> Option<Guard> {
    if choice.families.are_fixed() || !workload.is_poisson() {
        return None;
    }
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

/// What is claimed of the mean number of jobs under the policy of the program, or of the types' bounds; 0 where
/// nothing is.
fn mean_number(msr: &Synthesis) -> f64 {
    let claims = || msr.artifact.claims.iter();
    let all = claims().find(|c| c.quantity == Quantity::MeanNumber && c.job_type.is_none());
    let most = claims().filter(|c| c.quantity == Quantity::MeanNumberAtMost);
    all.map_or_else(|| most.map(|c| c.value).sum(), |claim| claim.value)
}

/// Returns the synthesis of the same schedules with the switching rate that was chosen.
fn retuned(
    workload: &Workload,
    options: &Options,
    msr: Box<Synthesis>,
    turned: &MsrConfig,
) -> Result<Box<Synthesis>, SynthesisError> {
    if *turned == msr.policy {
        return Ok(msr);
    }
    let options = Options {
        switching_rate: Some(turned.switching_rate),
        route: Some(turned.route),
        ..options.clone()
    };
    of_solution(workload, &options, msr.solution).map(Box::new)
}
