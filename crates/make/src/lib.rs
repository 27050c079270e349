//! This crate computes scheduling policies for multiresource jobs. It contains the schedule program
//! and its proof, the modulation, the exact analysis, the lower bounds and the selection of a
//! policy.

pub mod analysis;
pub mod bound;
pub mod modulation;
pub mod optimum;
pub mod program;
pub mod synthesis;
