//! Multiresource jobs: types with fixed demands for several resources, on one server or a fleet.
//!
//! The stages, in order: [`workload`] → [`schedule`] → [`program`] → [`modulation`] →
//! [`analysis`] → [`synthesis`] → [`artifact`] → [`policy`] → [`live`] → [`simulator`] → [`replay`] → [`verbs`] → [`report`];
//! and beside them [`optimum`], what no policy can beat, [`fit`], which makes a workload of a trace, and
//! [`bridge`], which runs the jobs of a real Slurm. `artifact`, `policy` and `simulator` never see how a
//! policy was made; `tests/house.rs` holds that.

#[cfg(feature = "synthesis")]
pub mod analysis;
pub mod artifact;
#[cfg(feature = "cli")]
pub mod bridge;
#[cfg(feature = "cli")]
pub mod command;
#[cfg(feature = "cli")]
pub mod fit;
pub mod live;
#[cfg(feature = "synthesis")]
pub mod modulation;
#[cfg(feature = "synthesis")]
pub mod optimum;
pub mod policy;
#[cfg(feature = "synthesis")]
pub mod program;
#[cfg(feature = "cli")]
pub mod replay;
#[cfg(feature = "cli")]
pub mod report;
pub mod schedule;
pub mod simulator;
#[cfg(feature = "synthesis")]
pub mod synthesis;
#[cfg(feature = "cli")]
pub mod verbs;
pub mod workload;

pub use artifact::Multiresource;
