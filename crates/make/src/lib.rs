//! What makes policies for multiresource jobs: the program with its proof, modulation, exact analysis, the optimum of small systems, and the choice. Compiles HiGHS.

pub mod analysis;
pub mod bound;
pub mod modulation;
pub mod optimum;
pub mod program;
pub mod synthesis;
