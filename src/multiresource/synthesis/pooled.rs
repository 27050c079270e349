//! From a fleet to a rule over all of its servers, whose jobs wait in one place.

use super::choice::{self, Basis, ChoiceError, ChoiceOptions, PooledChosen, Stage};
use super::evidence::evidence;
use super::exact::Settled;
use super::partition::{Partitioned, partition};
use super::{Choice, Options, Outcome, SynthesisError};
use crate::artifact::{ArrivalLaw, SizeLaw, Subject};
use crate::multiresource::artifact::{
    Artifact, Claim, Conditions, Evidence, Family, HoldsFor, Method, Quantity,
};
use crate::multiresource::program::{PROOF_GAP, Solution};
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
    let mut claims = load(&evidence, fleet);
    match (&chosen.policy, slots) {
        (Family::Partition(_), Some(slots)) => claims.extend(exact(fleet, slots)),
        (Family::Guarded(_), Some(slots)) => {
            claims.extend(under_guard(fleet, slots));
            claims.extend(chosen.claims.iter().cloned());
        }
        _ => claims.extend(chosen.claims.iter().cloned()),
    }
    Artifact::new(fleet.record(), chosen.policy.clone(), claims, evidence)
}

/// The load, if it is proved.
fn load(proof: &Evidence, fleet: &Fleet) -> Vec<Claim> {
    // With gangs it is a bound: whether a policy attains it is not known.
    let proven = proof.gap <= PROOF_GAP && fleet.gangs().next().is_none();
    let value = (proof.load, fleet.time_unit());
    let (method, none) = (Method::ExactProgram, HoldsFor::default());
    let claim = Claim::new(Quantity::Load, Subject::ALL, value, method, none);
    proven.then_some(claim).into_iter().collect()
}

fn exponential() -> HoldsFor {
    HoldsFor {
        sizes: Some(SizeLaw::Exponential),
        arrivals: Some(ArrivalLaw::Poisson),
        own: Conditions::default(),
    }
}

/// Each type is a queue with as many servers as it has slots.
fn exact(fleet: &Fleet, slots: &Partitioned) -> Vec<Claim> {
    let Some(numbers) = &slots.numbers else {
        return Vec::new();
    };
    let types = fleet.types().iter().zip(numbers);
    let each = types.map(|(kind, number)| (Some(kind.name()), kind.arrival_rate(), *number));
    let all = (
        None,
        fleet.envelope().total_arrival_rate(),
        numbers.iter().sum(),
    );
    let both = each
        .chain([all])
        .flat_map(|(name, rate, number): (Option<&str>, f64, f64)| {
            [
                (Quantity::MeanNumber, number),
                (Quantity::MeanResponse, number / rate),
            ]
            .map(|(quantity, value)| {
                let subject = Subject::of_type(name);
                let value = (value, fleet.time_unit());
                Claim::new(quantity, subject, value, Method::ExactQbd, exponential())
            })
        });
    both.collect()
}

/// The loads while the partition is in charge.
fn under_guard(fleet: &Fleet, slots: &Partitioned) -> Vec<Claim> {
    let types = fleet.types().iter().zip(&slots.loads);
    let claim = types.map(|(kind, load)| {
        let (subject, value) = (
            Subject::of_type(Some(kind.name())),
            (*load, fleet.time_unit()),
        );
        let quantity = Quantity::LoadUnderGuard;
        Claim::new(
            quantity,
            subject,
            value,
            Method::ProofByGuard,
            exponential(),
        )
    });
    claim.collect()
}
