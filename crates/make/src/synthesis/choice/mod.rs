//! The selection of one of the policy families by simulation.
//!
//! First, several policies of each family are tried. The best of them are tuned, and the best
//! policy of each family is compared with new samples, because the best of many is partly the best
//! by chance. The policy with the lowest cost among those that have converged is selected or, if
//! there is none, the one under which the jobs stayed for the shortest time.
//!
//! The claims are from a separate run, on samples that were not used for any decision. If it is too
//! short, its results are not claimed. Its length does not depend on its confidence intervals,
//! because the result would be biased (mostly too low) if a run were stopped as soon as its
//! interval is narrow. The run has a guard if there is no proof that the policy is stable.
//!
//! The unit of work is an event of First-Fit ([`Family::work`]), so the result for a given seed is
//! the same on every machine. The length of the runs is increased in steps ([`ladder`]), and
//! clearly worse candidates are stopped. The comparison ends if each of the others is certainly
//! worse than the best or within 1 % of it (95 % for all together, Bonferroni).

mod analysed;
mod candidates;
mod claimed;
mod decision;
mod guard;
mod ladder;
mod options;
mod record;
mod search;
#[cfg(test)]
mod tests;
mod trials;

use super::{SynthesisError, SynthesisOptions};
pub use analysed::Analysed;
use ladder::{Candidate, Selection};
pub use options::{Basis, ChoiceError, ChoiceOptions, Chosen, Families, SelectionStage, Unkept};
use synth_multiresource::artifact::retract;
use synth_multiresource::workload::Fleet;
use trials::{REPLICATIONS, Trials};

/// Selects a policy, starting from the policies known by analysis.
///
/// # Errors
/// Returns an error if a policy makes an infeasible decision, no policy keeps the guarantees, or
/// the number of jobs grows without bound under all of them.
pub fn choose(
    fleet: &Fleet,
    options: &SynthesisOptions,
    choice: &ChoiceOptions,
    analysed: impl Into<Analysed>,
    mut progress: impl FnMut(SelectionStage),
) -> Result<Chosen, ChoiceError> {
    let analysed = analysed.into();
    if choice.promises.is_empty()
        && choice.families == Families::All
        && let Some(chosen) = analysed.already_optimal(fleet, options.objective)
    {
        return Ok(chosen);
    }
    let (starts, skipped) = candidates::all(fleet, options, choice, &analysed);
    check_memory(fleet, starts.len())?;
    let mut selection = Selection {
        guards: guard::guards(fleet, options, choice, &analysed),
        trials: Trials::new(fleet, options.objective, choice, &mut progress),
        candidates: starts.into_iter().map(Candidate::new).collect(),
    };
    if !choice.families.are_fixed() {
        selection.search(&analysed.context(fleet))?;
    }
    let rivals = candidates::current_rules(fleet.envelope(), options, &analysed);
    selection.compare(rivals)?;
    let (basis, is_decided) = selection.decide()?;
    if let Some(unkept) = selection.unkept() {
        return Err(ChoiceError::Unkept(Box::new(unkept)));
    }
    let (run, unclaimed) = selection.description(&basis);
    let claimed = run.filter(|_| unclaimed.is_none());
    let policy = &selection.candidates[0].policy;
    let (mut artifact, synthesis) = analysed.artifact(fleet, options, policy, claimed)?;
    Ok(Chosen {
        retracted: retract(&mut artifact),
        artifact,
        is_cut: selection.trials.is_cut,
        run: run.cloned(),
        unclaimed,
        choice: Some(selection.record(&basis, is_decided)),
        basis,
        synthesis,
        skipped,
    })
}

fn check_memory(fleet: &Fleet, rules: usize) -> Result<(), SynthesisError> {
    let (servers, types) = (fleet.servers(), fleet.types());
    let in_service: f64 = types.iter().map(|t| t.offered_tasks()).sum();
    // These numbers of bytes have been measured.
    let each = servers as f64 * (48 + 16 * types.len()) as f64 + 96.0 * in_service;
    let needed = each * f64::from(REPLICATIONS) * (rules + 1) as f64 / f64::from(1 << 30);
    if needed <= 1.0 || fleet.is_one_server() {
        return Ok(());
    }
    Err(SynthesisError::InvalidOptions(format!(
        "a simulation of {} rules on {servers} servers would need about {needed:.1} GiB of memory, more than the limit of 1 GiB. Use a smaller fleet, where the number of servers and the arrival rates are divided by {:.0}, or use the option --family. For example, --family partition does not need a simulation",
        rules + 1,
        needed.ceil().max(2.0)
    )))
}
