//! Volunteer computing: jobs for hosts that nobody owns, which are slow, off, wrong or gone.
//!
//! There is no queue at a server: a host asks for work, and what it gets has a deadline by which it is to
//! be returned, or another host gets the same. Which hosts get which jobs, and with which deadlines, is
//! decided from how a host stands among all others (its percentile) and from when a batch is expected to
//! be done (C(B)).
//!
//! Source: "Server job scheduling", a proposal of the BOINC project, 2012 ("the proposal"), which was never
//! built; what it leaves open is settled in [`policy`].

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
