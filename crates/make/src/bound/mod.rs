//! Lower bounds on what any policy can reach, where the dynamic program does not go.
//!
//! [`by_cells`] finds the function of `synth_cluster::bound` that proves most.

mod cells;
mod prices;

pub use cells::by_cells;
pub use prices::by_prices;

use synth_cluster::bound::CertificateError;

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BoundError {
    /// The program would have too many rows.
    #[error("the program of the bound would have more than {0} rows")]
    Large(usize),
    /// HiGHS did not end optimal.
    #[error("the program of the bound has no answer in double precision (the solver ends as {0})")]
    Solver(String),
    /// What the solver returned proves nothing, or the laws are others.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

#[cfg(test)]
mod tests;
