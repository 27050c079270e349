//! Lower bounds on the cost of any policy, for workloads too large for the dynamic program.

mod cells;
mod prices;

pub use cells::by_cells;
pub use prices::{by_prices, by_sizes};
use synth_multiresource::artifact::{Objective, Preemption};
pub use synth_multiresource::bound::{BoundDocument, CertificateError, Proof};

use synth_multiresource::workload::{Fleet, JobType};

/// Reasons why there is no bound.
#[derive(Debug, thiserror::Error)]
pub enum BoundError {
    /// The linear program has too many rows.
    #[error("the linear program for the lower bound would have more than {0} rows")]
    Large(usize),
    /// HiGHS did not find a finite solution.
    #[error("the linear program for the lower bound could not be solved (HiGHS status: {0})")]
    Solver(String),
    /// The solution proves nothing, or the workload's distributions are not supported.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// A lower bound and its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// A lower bound on the cost of every policy that knows no more about a job than the workload
    /// reveals \[time\].
    pub lower_bound: f64,
    /// The proof.
    pub proof: Proof,
}

/// Returns the best available lower bound.
///
/// If a policy can know the sizes, or can preempt jobs whose remaining size is not known, then only
/// the bound from prices and sizes is valid. Otherwise, the bound is the larger one of the bound
/// from prices and, if the sizes are exponential and there are not too many schedules, the bound
/// from a function of the state. The latter is the solution of a linear program with at most `rows`
/// rows. Once `is_over` returns `true`, only the prices of all types are tried.
///
/// # Errors
/// Returns an error if the objective is a percentile or every method fails.
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
        return Ok(Bound {
            lower_bound: least,
            proof,
        });
    }
    let by_prices = by_prices(fleet, objective, preemption, is_over).map(|(least, cuts)| Bound {
        lower_bound: least,
        proof: Proof::Prices(cuts),
    });
    let rows = if is_over() { 0 } else { rows };
    let by_cells = by_cells(fleet, objective, preemption != Preemption::None, rows);
    // A bound for preemptive policies is also a bound for nonpreemptive policies.
    let by_cells = by_cells.or_else(|_| self::by_cells(fleet, objective, true, rows));
    let by_cells = by_cells.map(|(least, certificate)| Bound {
        lower_bound: least,
        proof: Proof::Potential(certificate),
    });
    match (by_cells, by_prices) {
        (Ok(cells), Ok(prices)) if cells.lower_bound >= prices.lower_bound => Ok(cells),
        (Ok(cells), Err(_)) => Ok(cells),
        (_, prices) => prices,
    }
}

/// Returns the bound as a file that `synth check` can verify.
pub fn document(fleet: &Fleet, sought: (Objective, Preemption), bound: &Bound) -> BoundDocument {
    BoundDocument::new(fleet, sought, bound.lower_bound, bound.proof.clone())
}

#[cfg(test)]
mod tests;
