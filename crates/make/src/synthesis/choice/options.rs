use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::synthesis::{ChoiceLog, Synthesis, SynthesisError};
use synth_multiresource::artifact::{Artifact, Family, Guarantee};
use synth_multiresource::simulator::{Estimate, Failure, Run};

/// The policy families that can be selected.
#[derive(Clone, Debug, PartialEq)]
pub enum Families {
    /// One fixed policy.
    Fixed(Box<Family>),
    /// Only the families with these names.
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
    /// The policy families that can be selected.
    pub families: Families,
    /// The maximum amount of work, in events of First-Fit with few types.
    pub budget: u64,
    /// The deadline, if any; with one, the result depends on the machine.
    pub end: Option<Instant>,
    /// The seed of the comparison. The tuning and the run for claims use the next two seeds.
    pub seed: u64,
    /// The guarantees on the delay of some job types.
    pub promises: Vec<Guarantee>,
    /// If set, the selection ends with the best policy so far.
    pub interrupt: Arc<AtomicBool>,
}

impl ChoiceOptions {
    /// Returns options that have no deadline and no guarantees.
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
    BestConverged,
    /// It is as good as this policy, and the slowdown of its worst type is lower by this fraction.
    Fairest(&'static str, f64),
    /// No policy has converged, and the jobs stayed for the shortest time under this policy.
    StaysLeast,
    /// It was selected by name, even though the number of jobs grew without bound.
    Unstable,
    /// The number of jobs grew without bound for all policies, so the load is carried by a guard.
    Guarded,
    /// No run is conclusive. The policy is proved to be stable, or it is the first candidate.
    Inconclusive,
    /// There is a proof by analysis that no policy can be better by a relevant margin.
    Analysis,
    /// It is the only policy of the required family.
    Given,
}

impl Basis {
    /// Returns whether the policy was seen to converge.
    pub fn has_converged(&self) -> bool {
        matches!(self, Basis::BestConverged | Basis::Fairest(..))
    }
}

/// A selected policy.
#[derive(Debug)]
pub struct Chosen {
    /// The policy file.
    pub artifact: Artifact,
    /// Why it was selected.
    pub basis: Basis,
    /// Whether the selection was stopped by an interrupt or by a time limit.
    pub is_cut: bool,
    /// The results of its run, or `None` if no candidate has converged.
    pub run: Option<Run>,
    /// The reason why no results of a simulation are claimed for it.
    pub unclaimed: Option<String>,
    /// The results of its run that were rejected as impossible and are not claimed.
    pub retracted: Vec<String>,
    /// The record of the selection by simulation, if there was one.
    pub choice: Option<ChoiceLog>,
    /// Its synthesis, if it is an MSR policy.
    pub synthesis: Option<Box<Synthesis>>,
    /// The families that have not been considered, and the reason for each of them.
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
    /// The simulation of a rule returned an error.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The options cannot carry the load, or the number of jobs grew without bound in all runs.
    #[error("{0}")]
    Broken(String),
    /// No policy has been found that keeps the guarantees.
    #[error("{}", .0.why)]
    Unkept(Box<Unkept>),
}

/// The policy that is closest to the guarantees, although it does not keep all of them.
#[derive(Debug)]
pub struct Unkept {
    /// What it achieves, and what to do.
    pub why: String,
    /// Its name in common use.
    pub policy: &'static str,
    /// Whether the whole 95 % interval of a guarantee is above its limit.
    pub surely: bool,
    /// The results of its run, or `None` if all runs were too short.
    pub run: Option<Run>,
    /// The shares of the jobs that keep each of the guarantees, by policy.
    pub shares: Vec<(String, Vec<Option<Estimate>>)>,
}

/// The progress of a selection.
#[derive(Clone, Debug)]
pub struct SelectionStage {
    /// The present stage.
    pub what: String,
    /// The fraction of the budget spent.
    pub spent: f64,
}
