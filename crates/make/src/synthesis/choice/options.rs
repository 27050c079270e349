//! The options of a selection, and its result.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::synthesis::{ChoiceLog, Synthesis, SynthesisError};
use synth_multiresource::artifact::{Artifact, Family, Promise};
use synth_multiresource::simulator::{Failure, Run};

/// The families of the candidates.
#[derive(Clone, Debug, PartialEq)]
pub enum Families {
    /// This policy as it is.
    Fixed(Box<Family>),
    /// Those of these names.
    Only(&'static [&'static str]),
    /// All of them.
    All,
}

impl Families {
    /// Whether it is one policy as it is, to which no guard is to be added.
    pub(super) fn are_fixed(&self) -> bool {
        matches!(self, Families::Fixed(_))
    }

    pub(super) fn have(&self, name: &str) -> bool {
        match self {
            Families::Fixed(_) => false,
            Families::Only(names) => names.contains(&name),
            Families::All => true,
        }
    }
}

/// The user's part of a selection.
#[derive(Clone, Debug)]
pub struct ChoiceOptions {
    /// The families of the candidates.
    pub families: Families,
    /// The work that may be done, in events of First-Fit with few types.
    pub budget: u64,
    /// When it has to be over, if ever; the policy then depends on the machine.
    pub end: Option<Instant>,
    /// Seed of the runs that decide; those that tune have the next one, and the run of the claims the one
    /// after that.
    pub seed: u64,
    /// The promises about the delays of types.
    pub promises: Vec<Promise>,
    /// Once it is set, the selection ends with the best so far.
    pub interrupt: Arc<AtomicBool>,
}

impl ChoiceOptions {
    /// Among these families, without further conditions.
    pub fn new(families: Families, budget: u64, seed: u64) -> Self {
        ChoiceOptions {
            families,
            budget,
            end: None,
            seed,
            promises: Vec::new(),
            interrupt: Arc::default(),
        }
    }
}

/// The reason for the policy that is selected.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// It has converged, and costs least of all that have.
    Settled,
    /// It has converged, and of those that runs cannot tell from the best, its most slowed type is slowed down least: the
    /// name of the best, and by how much less, relatively.
    Fairest(&'static str, f64),
    /// None has converged, and under this one jobs stayed least.
    StaysLeast,
    /// It is the policy that was named, as it is, and its number of jobs grew without end.
    RunsAway,
    /// The number of jobs grew without end under all of them, and a guard carries the load for this one.
    Guarded,
    /// No run is conclusive; its stability is proved, or it is the first candidate.
    Unseen,
    /// By analysis no policy can be better by what is worth it.
    Analysis,
    /// The only policy of the family that was required.
    Given,
}

impl Basis {
    /// Whether the policy was seen to converge.
    pub fn has_settled(&self) -> bool {
        matches!(self, Basis::Settled | Basis::Fairest(..))
    }
}

/// The policy that was selected.
#[derive(Debug)]
pub struct Chosen {
    /// The policy file.
    pub artifact: Artifact,
    /// Why it was selected.
    pub basis: Basis,
    /// Whether an interrupt or a time limit ended the selection.
    pub is_cut: bool,
    /// Its measurements; `None` if no candidate was seen to converge.
    pub run: Option<Run>,
    /// Why no simulated result is claimed for it.
    pub unclaimed: Option<String>,
    /// Results of its run that cannot be true, and so are not claimed.
    pub retracted: Vec<String>,
    /// The record of the selection by simulation, if there was one.
    pub choice: Option<ChoiceLog>,
    /// The synthesis of its family, if that is Markovian Service Rate.
    pub synthesis: Option<Box<Synthesis>>,
    /// The families that were not considered, and why.
    pub skipped: Vec<String>,
}

impl Chosen {
    /// Returns a policy that was not simulated.
    pub(in crate::synthesis) fn new(artifact: Artifact, basis: Basis) -> Self {
        Chosen {
            artifact,
            basis,
            is_cut: false,
            run: None,
            unclaimed: None,
            retracted: Vec::new(),
            choice: None,
            synthesis: None,
            skipped: Vec::new(),
        }
    }
}

/// Why no policy is selected.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// A policy with other knobs.
    #[error(transparent)]
    Synthesis(#[from] SynthesisError),
    /// A rule that cannot run.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The options do not carry the load, or the number of jobs grew without end under all candidates.
    #[error("{0}")]
    Broken(String),
    /// None of the policies was seen to keep the promises.
    #[error("{}", .0.why)]
    Unkept(Box<Unkept>),
}

/// The policy that comes nearest to the promises, and does not keep them.
#[derive(Debug)]
pub struct Unkept {
    /// What it does, and what can be done.
    pub why: String,
    /// Its name in common use.
    pub policy: &'static str,
    /// Whether it breaks a promise by its whole 95 % interval.
    pub surely: bool,
    /// Its measurements; `None` if no run was long enough.
    pub run: Option<Run>,
}

/// Progress of a selection.
#[derive(Clone, Debug)]
pub struct SelectionStage {
    /// The present stage.
    pub what: String,
    /// Fraction of the budget that is spent.
    pub spent: f64,
}
