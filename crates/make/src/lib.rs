//! Synthesis of scheduling policies for multiresource jobs: the schedule program with its proof,
//! modulation, exact analysis, lower bounds and selection.

pub mod analysis;
pub mod bound;
pub mod modulation;
pub mod optimum;
pub mod program;
pub mod synthesis;
