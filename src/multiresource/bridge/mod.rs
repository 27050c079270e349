//! Policies on a real Slurm: which type a job of its queue belongs to, which node is which server, and what an
//! administrator installs.
//!
//! [`TypeMap`] is the one door between the amounts of [`crate::slurm`] and the types, units and servers of a policy.

mod allowed;
mod document;
mod error;
mod export;
mod journal;
mod lock;
mod measured;
mod pattern;
mod release;
mod resources;
mod rule;
mod run;
mod servers;
#[cfg(test)]
mod tests;
mod types;
mod usage;
mod watch;

pub use allowed::bridgeable;
pub use error::{BridgeError, TypesError};
pub use export::slurm as export_slurm;
pub use journal::{Head, Record, Recorded, Replayed, Round, jobs_csv, replay};
pub use release::{Opened, release_all};
pub use run::{Bridge, Setup, Signals};
pub use types::{TypeMap, Waste};
pub use watch::Manner;
