//! Runs a policy on a real Slurm: the bridge that starts the jobs, and the files to install for it.
//! The steps for a real cluster are described in `docs/how-to/production.md`. The test
//! `tests/suite/bridge.rs` starts a Slurm on the local machine and runs the bridge on it.
//!
//! - A [`TypeMap`] maps the jobs and nodes that are read by [`synth_slurm::commands`] to the job
//!   types and servers of a policy.
//! - The verb `synth bridge` ([`Arguments`]) reads the queue of a partition in each round, asks an
//!   [`Operator`](synth_operator::Operator) what to do, and releases the jobs that should start.
//! - The functions [`export_slurm`] and [`export_kueue`] return the files that an administrator has
//!   to install. The policy must be [`bridgeable`], because running jobs cannot be stopped.
//!
//! ```
//! use std::path::Path;
//! use synth_multiresource::artifact::Checked;
//! use synth_slurm_bridge::{bridgeable, export_slurm};
//!
//! let text = std::fs::read_to_string("../../tests/conformance/first-fit.json")?;
//! let vector: serde_json::Value = serde_json::from_str(&text)?;
//! let policy = Checked::parse(&vector["artifact"].to_string(), "first-fit")?;
//! bridgeable(&policy)?;
//! let files = export_slurm(&policy, Path::new("policy.json"), "batch")?;
//! assert!(files.iter().any(|(name, _)| name == "job_submit.lua"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
use synth_operator::check_only_starts;

const CANNOT_STOP: &str =
    "which Slurm cannot do without losing their work or keeping their memory allocated";

/// Checks that a policy only starts jobs.
///
/// # Errors
/// If the policy stops running jobs or needs setups. The message suggests another policy.
pub fn bridgeable(policy: &Checked) -> Result<(), String> {
    check_only_starts(policy, CANNOT_STOP)
}
