use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::synthesis::{ChoiceLog, Synthesis, SynthesisError};
use synth_multiresource::artifact::{Artifact, Family, Promise};
use synth_multiresource::simulator::{Failure, Run};

/// The policy families of the candidates.
#[derive(Clone, Debug, PartialEq)]
pub enum Families {
    /// One fixed policy.
    Fixed(Box<Family>),
    /// Families with these names.
    Only(&'static [&'static str]),
    /// All families.
    All,
}

impl Families {
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

/// The options of a selection.
#[derive(Clone, Debug)]
pub struct ChoiceOptions {
    /// The policy families of the candidates.
    pub families: Families,
    /// The work that may be done, in events of First-Fit with few types.
    pub budget: u64,
    /// The deadline, if any; with one, the result depends on the machine.
    pub end: Option<Instant>,
    /// The seed of the comparison; tuning and the run for claims use the next two seeds.
    pub seed: u64,
    /// The guarantees on the delays of job types.
    pub promises: Vec<Promise>,
    /// If set, the selection ends with the best policy so far.
    pub interrupt: Arc<AtomicBool>,
}

impl ChoiceOptions {
    /// Returns options without a deadline or guarantees.
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

/// The reason why a policy was selected.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// It has converged and has the lowest cost.
    Settled,
    /// As good as the named policy, with a slowdown of its worst-off type lower by this fraction.
    Fairest(&'static str, f64),
    /// None has converged, and jobs stayed shortest under this policy.
    StaysLeast,
    /// It was specified by name, although its number of jobs grew without bound.
    RunsAway,
    /// The number of jobs grew without bound under all policies, and a guard carries the load.
    Guarded,
    /// No run is conclusive; its stability is proved, or it is the first candidate.
    Unseen,
    /// Analysis proves that no policy can be better by a relevant margin.
    Analysis,
    /// It is the only policy of the required family.
    Given,
}

impl Basis {
    /// Returns whether the policy was seen to converge.
    pub fn has_settled(&self) -> bool {
        matches!(self, Basis::Settled | Basis::Fairest(..))
    }
}

/// A selected policy.
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
    /// Why no simulated results are claimed for it.
    pub unclaimed: Option<String>,
    /// The results of its run that were rejected as impossible and are not claimed.
    pub retracted: Vec<String>,
    /// The record of the selection by simulation, if there was one.
    pub choice: Option<ChoiceLog>,
    /// Its synthesis, if it is an MSR policy.
    pub synthesis: Option<Box<Synthesis>>,
    /// The families that were not considered, with reasons.
    pub skipped: Vec<String>,
}

impl Chosen {
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

/// Reasons why no policy is selected.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The synthesis failed.
    #[error(transparent)]
    Synthesis(#[from] SynthesisError),
    /// A simulated rule failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The options cannot carry the load, or the number of jobs grew without bound in all runs.
    #[error("{0}")]
    Broken(String),
    /// No policy was seen to keep the guarantees.
    #[error("{}", .0.why)]
    Unkept(Box<Unkept>),
}

/// The policy that comes nearest to the guarantees without keeping them.
#[derive(Debug)]
pub struct Unkept {
    /// What it achieves, and what to do.
    pub why: String,
    /// Its name in common use.
    pub policy: &'static str,
    /// Whether it breaks a guarantee by its whole 95 % interval.
    pub surely: bool,
    /// Its measurements; `None` if no run was long enough.
    pub run: Option<Run>,
}

/// Progress of a selection.
#[derive(Clone, Debug)]
pub struct SelectionStage {
    /// The present stage.
    pub what: String,
    /// The fraction of the budget spent.
    pub spent: f64,
}
