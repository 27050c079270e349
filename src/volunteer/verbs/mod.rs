//! What can be asked of campaigns, one file a verb. Each is a function that returns values: nothing is printed here, and
//! progress goes to a callback.

mod compare;
mod enter;
mod simulate;

pub use crate::volunteer::artifact::check_against as against;
pub use compare::{Entry, Tournament, compare};
pub use enter::{Entered, RULES, enter};
pub use simulate::{Simulated, simulate};

use crate::artifact::ArtifactError;

/// Why a verb has no answer.
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// A policy file that cannot be read, or is refused.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// A policy file that cannot be read.
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
