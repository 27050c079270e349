//! Volunteer computing: jobs for hosts that may be slow, off, wrong or gone.
//!
//! Hosts ask for work, and each job they get has a deadline, after which another host gets it. The
//! dispatch rule uses the percentile of a host among all hosts and the expected completion time
//! C(B) of a batch.
//!
//! Source: "Server job scheduling", a proposal of the BOINC project, 2012 ("the proposal"), which
//! was never implemented; its open points are decided in [`policy`].

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
