//! Multiresource jobs: types with fixed demands for several resources, on one server or a fleet.
//!
//! The stages, in order: [`workload`] → [`schedule`] → [`program`] → [`modulation`] →
//! [`analysis`] → [`synthesis`] → [`artifact`] → [`policy`] → [`simulator`] → [`verbs`] → [`report`];
//! and beside them [`optimum`], what no policy can beat. `artifact`, `policy` and `simulator` never see how a
//! policy was made; `tests/house.rs` holds that.

pub mod analysis;
pub mod artifact;
pub mod modulation;
pub mod optimum;
pub mod policy;
pub mod program;
pub mod report;
pub mod schedule;
pub mod simulator;
pub mod synthesis;
pub mod verbs;
pub mod workload;
