//! Selection among families by simulation. Several policies of each family are searched, the knobs of the best are
//! tuned, then the best of each family are compared on arrivals and sizes that none was tuned on. The claims for the
//! policy that is selected come from one more run, on arrivals and sizes that decided nothing, under a guard if its stability
//! is not proved; if that run is too short, its results are not claimed.
//!
//! # Method
//! All work is counted in events of First-Fit with few types ([`Family::work`]), so that the same seed gives the same
//! policy on each machine. A run is judged once, when it ends ([`trials`]). In the search and in the comparison candidates
//! climb a ladder of run lengths, the cheapest next run first ([`ladder`]); those that are clearly behind on a common rung run
//! no further. Knobs are tuned one at a time over grids, which each rule defines for itself ([`search`]). The final comparison
//! has fresh seeds: the best of many is partly the best by chance, which must not enter the claims. It ends as soon as all
//! others are surely slower than the best (95 % together, Bonferroni), or differ from it by less than 1 %.
//!
//! The best is the one with the least cost among those that have converged. Only if none has, the one whose jobs stayed least
//! is selected. The length of the last run is fixed before it begins: a run that ends once its interval is narrow is too
//! low more often than not.

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

/// Selects a policy with the preemption of the options. `analysed` is the policy that analysis alone has for them.
///
/// # Errors
/// When a policy makes a decision that no server could carry out; and when none keeps the promises, or the number of jobs
/// grows without end under all of them.
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
        && let Some(chosen) = analysed.suffices(fleet, options.objective)
    {
        return Ok(chosen);
    }
    let (starts, skipped) = candidates::all(fleet, options, choice, &analysed);
    check_memory(fleet, starts.len())?;
    let mut selection = Selection {
        guards: guard::guards(fleet, options, choice, &analysed),
        trials: Trials::new(fleet, options.objective, choice, &mut progress),
        candidates: starts
            .into_iter()
            .map(|policy| Candidate::new(policy, 1))
            .collect(),
    };
    if !choice.families.are_fixed() {
        selection.search(&analysed.context(fleet))?;
    }
    selection.compare(candidates::rivals(fleet.envelope(), options, &analysed))?;
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

/// Rejects fleets whose simulations would take too much memory: each rule has several at once, which go on from rung to rung.
fn check_memory(fleet: &Fleet, rules: usize) -> Result<(), SynthesisError> {
    let (servers, types) = (fleet.servers(), fleet.types());
    let in_service: f64 = types.iter().map(|t| t.offered_pieces()).sum();
    // As measured, in bytes.
    let each = servers as f64 * (48 + 16 * types.len()) as f64 + 96.0 * in_service;
    let needed = each * f64::from(REPLICATIONS) * (rules + 1) as f64 / f64::from(1 << 30);
    if needed <= 1.0 || fleet.is_one_server() {
        return Ok(());
    }
    Err(SynthesisError::Refused(format!(
        "to compare {} rules by simulation on {servers} servers would take about {needed:.1} GiB of memory, and 1 GiB is allowed: describe a smaller fleet, with the counts of servers and the arrival rates divided by {:.0}; or choose one rule with --family, such as --family partition, which is analysed without a simulation",
        rules + 1,
        needed.ceil().max(2.0)
    )))
}
