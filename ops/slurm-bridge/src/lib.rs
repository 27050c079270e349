//! This crate runs policies on a real Slurm. It contains a bridge and the files to be installed.
//!
//! The [`TypeMap`] converts the jobs and nodes of [`synth_slurm::commands`] to the types, units and
//! servers of a policy.

mod document;
mod export;
mod journal;
mod kueue;
mod lock;
mod measured;
mod metrics;
mod release;
mod resources;
mod run;
mod setup;
mod survey;
#[cfg(test)]
mod tests;
mod types;
mod usage;
mod verb;
mod watch;

pub use export::{gangs, slurm as export_slurm};
pub use kueue::kueue as export_kueue;
pub use types::TypeMap;
pub use verb::Arguments;

use synth_multiresource::artifact::Checked;
use synth_operator::only_starts;

const CANNOT_STOP: &str =
    "which Slurm cannot do without losing their work or keeping their memory allocated";

/// Checks that a policy only starts jobs. Slurm cannot do anything else for a policy.
///
/// # Errors
/// If the policy stops running jobs or needs setups. The message suggests another policy.
pub fn bridgeable(policy: &Checked) -> Result<(), String> {
    only_starts(policy, CANNOT_STOP)
}
