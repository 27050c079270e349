//! Policies on a real Slurm: which type a job of its queue belongs to, which node is which server, and what an
//! administrator installs.
//!
//! [`TypeMap`] is the one door between the amounts of [`synth_slurm::commands`] and the types, units and servers of a policy.

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

/// Why Slurm cannot stop jobs as a policy would.
const CANNOT_STOP: &str = "which Slurm cannot do without losing their work or keeping their memory";

/// Checks that a policy decides only when jobs start, which is all that a bridge to Slurm can do.
///
/// # Errors
/// When it stops jobs that run, or waits for setups; says which policy to ask for.
pub fn bridgeable(policy: &Checked) -> Result<(), String> {
    only_starts(policy, CANNOT_STOP)
}
