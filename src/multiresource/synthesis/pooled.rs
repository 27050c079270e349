//! From a fleet to a rule over all of its servers, whose jobs wait in one place.

use super::choice::{self, Basis, ChoiceError, ChoiceOptions, PooledChosen, Stage};
use super::exact::{Settled, evidence};
use super::partition::{Partitioned, partition};
use super::{Choice, Options, Outcome, SynthesisError, claims};
use crate::multiresource::artifact::{Artifact, Evidence, Family};
use crate::multiresource::program::Solution;
use crate::multiresource::workload::Fleet;

/// Which rule is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Pooling<'a> {
    /// Slots for each type, by analysis.
    Partition,
    /// The best, by simulation.
    Chosen(&'a ChoiceOptions),
}

/// A rule over a fleet, with what was learned on the way.
#[derive(Debug)]
pub struct PooledSynthesis {
    /// The product.
    pub artifact: Artifact,
    /// The program's solution.
    pub solution: Solution,
    /// What speaks for it, where it was chosen.
    pub basis: Option<Basis>,
    /// How it was chosen by simulation, if it was.
    pub choice: Option<Choice>,
    /// Whether an interrupt or a time limit ended the choice.
    pub is_cut: bool,
    /// Why nothing that was simulated is claimed of it, if anything was.
    pub unclaimed: Option<String>,
    /// What was not considered, and why.
    pub skipped: Vec<String>,
}

/// Makes a rule over all servers of a fleet.
///
/// # Errors
/// When the solver fails; and where nothing can be chosen.
pub fn pool(
    fleet: &Fleet,
    options: &Options,
    wanted: Pooling<'_>,
    progress: impl FnMut(Stage),
) -> Result<Outcome<PooledSynthesis>, ChoiceError> {
    let solution = match Settled::new(fleet, options)? {
        Outcome::Policy(settled) => settled.solution,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    let slots = partition(fleet, &solution);
    let chosen = match (wanted, &slots) {
        (Pooling::Chosen(choice), slots) => {
            choice::choose_pooled(fleet, options.objective, choice, slots.as_ref(), progress)?
        }
        (Pooling::Partition, Some(own)) => PooledChosen {
            policy: own.policy.clone().into(),
            basis: Basis::Analysis,
            is_cut: false,
            choice: None,
            claims: Vec::new(),
            simulation: None,
            unclaimed: None,
            skipped: Vec::new(),
        },
        (Pooling::Partition, None) => return Err(SynthesisError::NoPartition.into()),
    };
    let artifact = artifact(fleet, &solution, slots.as_ref(), &chosen);
    Ok(Outcome::Policy(Box::new(PooledSynthesis {
        artifact,
        basis: matches!(wanted, Pooling::Chosen(_)).then_some(chosen.basis),
        choice: chosen.choice,
        is_cut: chosen.is_cut,
        unclaimed: chosen.unclaimed,
        skipped: chosen.skipped,
        solution,
    })))
}

fn artifact(
    fleet: &Fleet,
    solution: &Solution,
    slots: Option<&Partitioned>,
    chosen: &PooledChosen,
) -> Artifact {
    let evidence = Evidence {
        simulation: chosen.simulation,
        ..evidence(solution, None, false)
    };
    let (workload, mut claims) = (fleet.envelope(), Vec::new());
    // With gangs it is a bound: whether a policy attains it is not known.
    if evidence.proven && fleet.gangs().next().is_none() {
        claims.push(claims::load(workload, evidence.load));
    }
    match (&chosen.policy, slots) {
        (Family::Partition(_), Some(slots)) => {
            let numbers = slots.numbers.iter();
            claims.extend(numbers.flat_map(|own| claims::of_slots(workload, own)));
        }
        (Family::Guarded(_), Some(slots)) => {
            claims.extend(claims::under_guard(workload, &slots.loads));
            claims.extend(chosen.claims.iter().cloned());
        }
        _ => claims.extend(chosen.claims.iter().cloned()),
    }
    Artifact::new(fleet.record(), chosen.policy.clone(), claims, evidence)
}
