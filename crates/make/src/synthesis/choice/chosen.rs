//! The candidates of a choice, and its result.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::synthesis::{Choice, Synthesis, SynthesisError};
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
    /// Returns whether it is one policy as it is, to which no guard is to be added.
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

/// The user's part of a choice.
#[derive(Clone, Debug)]
pub struct ChoiceOptions {
    /// Among which families.
    pub families: Families,
    /// The work that may be done, in events of First-Fit with few types.
    pub budget: u64,
    /// When it has to be over, if ever; what is chosen then depends on the machine.
    pub end: Option<Instant>,
    /// Seed of the runs that decide; those that tune have the next one, and the run of the claims the one
    /// after that.
    pub seed: u64,
    /// What is promised of types.
    pub promises: Vec<Promise>,
    /// Once it is set, the choice ends with the best so far.
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

/// What speaks for the policy that is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// It has settled, and of all that have it costs least.
    Settled,
    /// It has settled, and of those that runs cannot tell from the best it slows down the most slowed type least; in place
    /// of this one, and by how much less, relatively.
    Fairest(&'static str, f64),
    /// None has settled, and with it jobs stayed least.
    StaysLeast,
    /// It is the policy that was named, as it is, and was seen to run away.
    RunsAway,
    /// All were seen to run away, and a guard carries the load where this one does.
    Guarded,
    /// No run says anything; its stability is proved, or it is the first candidate.
    Unseen,
    /// By analysis no policy can be better by what is worth it.
    Analysis,
    /// The only policy of the family that was required.
    Given,
}

impl Basis {
    /// Whether the policy was seen to settle.
    pub fn has_settled(&self) -> bool {
        matches!(self, Basis::Settled | Basis::Fairest(..))
    }
}

/// The policy that was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// The product.
    pub artifact: Artifact,
    /// What speaks for it.
    pub basis: Basis,
    /// Whether an interrupt or a time limit ended the choice.
    pub is_cut: bool,
    /// Its measurements; `None` where no candidate was seen to settle.
    pub run: Option<Run>,
    /// Why nothing that was simulated is claimed of it.
    pub unclaimed: Option<String>,
    /// What its run says that cannot be, and so is not claimed.
    pub retracted: Vec<String>,
    /// How it was chosen by simulation, if it was.
    pub choice: Option<Choice>,
    /// What was synthesized of its family, if that is Markovian Service Rate.
    pub synthesis: Option<Box<Synthesis>>,
    /// What was not considered, and why.
    pub skipped: Vec<String>,
}

impl Chosen {
    /// Returns a policy of which nothing was simulated.
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

/// Why there is no choice.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// A policy with other knobs.
    #[error(transparent)]
    Synthesis(#[from] SynthesisError),
    /// A rule that cannot run.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The options do not carry the load, or all policies that may be taken were seen to run away.
    #[error("{0}")]
    Broken(String),
    /// None of the policies was seen to keep what is promised.
    #[error("{}", .0.why)]
    Unkept(Box<Unkept>),
}

/// The policy that is nearest to what is promised, and does not keep it.
#[derive(Debug)]
pub struct Unkept {
    /// What it does, and what can be done.
    pub why: String,
    /// What people call it.
    pub policy: &'static str,
    /// Whether it surely breaks a promise, by its 95 % interval.
    pub surely: bool,
    /// What was measured of it; `None` where no run was long enough to tell.
    pub run: Option<Run>,
}

/// Progress of a choice.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The present stage.
    pub what: String,
    /// Fraction of the budget that is spent.
    pub spent: f64,
}
