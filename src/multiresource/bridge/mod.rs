//! Policies on a real Slurm: which type a job of its queue belongs to, which node is which server, and what an
//! administrator installs.
//!
//! [`TypeMap`] is the one door between the amounts of [`crate::slurm`] and the types, units and servers of a policy.

mod allowed;
mod document;
mod error;
mod export;
mod pattern;
mod resources;
mod rule;
mod servers;
#[cfg(test)]
mod tests;
mod types;

pub use allowed::bridgeable;
pub use error::TypesError;
pub use export::slurm as export_slurm;
pub use types::{TypeMap, Waste};
