//! This crate is for volunteer computing, where hosts can be slow, turned off, wrong, or disappear.
//!
//! A host sends a request if it needs more work. Each job that it gets has a deadline, and if there
//! is no result by then, the job is sent to another host. The dispatch rule uses the percentile of
//! the host and the expected completion time `C(B)` of the batch.
//!
//! The source is a proposal of the BOINC project from 2012, "Server job scheduling" ("the
//! proposal"), which was never implemented. Some of its details are only defined in [`policy`].

pub mod artifact;
pub mod policy;
#[cfg(feature = "verbs")]
mod report;
pub mod simulator;
pub mod synthesis;
#[cfg(feature = "verbs")]
mod verbs;
pub mod workload;

pub use artifact::Volunteer;
