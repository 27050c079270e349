//! Lower bounds on what any policy can reach, where the dynamic program does not go.
//!
//! [`by_cells`] finds the function of `synth_multiresource::bound` that proves most.

mod cells;
mod prices;

pub use cells::by_cells;
pub use prices::{by_prices, by_sizes};
use synth_multiresource::artifact::{Objective, Preemption};
pub use synth_multiresource::bound::{BoundDocument, CertificateError, Proof};

use synth_multiresource::workload::{Fleet, JobType};

/// Why there is no bound.
#[derive(Debug, thiserror::Error)]
pub enum BoundError {
    /// The program would have too many rows.
    #[error("the program of the bound would have more than {0} rows")]
    Large(usize),
    /// HiGHS found no numbers.
    #[error("the program of the bound has no answer in double precision (the solver ends as {0})")]
    Solver(String),
    /// What the solver returned proves nothing, or the laws are others.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// A lower bound, and what proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// No policy has less \[time\]; none that knows no more of a job than its type, where the workload reveals no more.
    pub least: f64,
    /// Why.
    pub proof: Proof,
}

/// Returns the best of the bounds: that of prices, and where there are few enough schedules and sizes are exponential that of a function
/// of the state, from a program of at most so many rows. Where policies may know sizes, or stop jobs of which nobody knows what is left, it is
/// that of prices and sizes. Once it is over, no more is tried than prices of all types.
///
/// # Errors
/// When the objective is a percentile; where one way fails the other is taken.
pub fn lower_bound(
    fleet: &Fleet,
    objective: Objective,
    preemption: Preemption,
    rows: usize,
    is_over: &dyn Fn() -> bool,
) -> Result<Bound, BoundError> {
    let is_memoryless = fleet.types().iter().all(JobType::is_memoryless);
    let is_residual_known = preemption == Preemption::None || is_memoryless;
    if fleet.envelope().has_limits() || !is_residual_known {
        let (least, proof) = by_sizes(fleet, objective, is_over)?;
        return Ok(Bound { least, proof });
    }
    let by_prices = by_prices(fleet, objective, preemption, is_over).map(|(least, cuts)| Bound {
        least,
        proof: Proof::Prices(cuts),
    });
    let rows = if is_over() { 0 } else { rows };
    let by_cells = by_cells(fleet, objective, preemption != Preemption::None, rows);
    // A policy that stops nothing is among those that may.
    let by_cells = by_cells.or_else(|_| self::by_cells(fleet, objective, true, rows));
    let by_cells = by_cells.map(|(least, certificate)| Bound {
        least,
        proof: Proof::Potential(certificate),
    });
    match (by_cells, by_prices) {
        (Ok(cells), Ok(prices)) if cells.least >= prices.least => Ok(cells),
        (Ok(cells), Err(_)) => Ok(cells),
        (_, prices) => prices,
    }
}

/// Returns the bound as a file that `synth check` proves anew.
pub fn document(fleet: &Fleet, sought: (Objective, Preemption), bound: &Bound) -> BoundDocument {
    BoundDocument::new(fleet, sought, bound.least, bound.proof.clone())
}

#[cfg(test)]
mod tests;
