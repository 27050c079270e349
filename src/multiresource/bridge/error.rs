//! Why a bridge does not run, or has no answer.

use crate::slurm::SlurmError;

/// Why a bridge does not run, or has no answer.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// Slurm does not answer as it should; the next time it may.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// What was found, and what to do.
    #[error("{0}")]
    Refused(String),
}

impl From<String> for BridgeError {
    fn from(why: String) -> Self {
        BridgeError::Refused(why)
    }
}
