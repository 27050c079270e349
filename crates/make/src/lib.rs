//! This crate computes scheduling policies for multiresource jobs, and proofs, bounds and an exact
//! analysis for them.

pub mod analysis;
pub mod bound;
pub mod modulation;
pub mod optimum;
pub mod program;
pub mod synthesis;
