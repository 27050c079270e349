//! What can be asked of malleable jobs, one file a verb. Each is a function that returns values: nothing is printed here, and
//! progress goes to a callback.

mod compare;
mod enter;
mod fit;
mod simulate;
mod tournament;

pub use crate::malleable::artifact::check_against as against;
pub use compare::{Compared, compare};
pub use enter::{Entered, Named, RULES, enter};
pub use fit::{Fit, Fitted, fit};
pub use simulate::{Ran, Simulated, simulate};
pub use tournament::{Column, Entry, Tournament, tournament};

use crate::artifact::ArtifactError;
use crate::simulation::sweep::JournalError;

/// Why a verb has no answer.
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// A policy file that cannot be read, or is refused.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The journal of a comparison.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file that cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// What was asked for does not go together, or not with this workload or policy.
    #[error("{0}")]
    Request(String),
}

/// A request that cannot be met, and what to do.
fn refuse<T>(why: impl Into<String>) -> Result<T, VerbError> {
    Err(VerbError::Request(why.into()))
}
