//! Lower bounds on the cost of any policy, for workloads too large for the dynamic program.

mod cells;
mod prices;

use cells::by_cells;
use prices::{by_prices, by_sizes};
use synth_multiresource::artifact::{Objective, Preemption};
pub use synth_multiresource::bound::{BoundDocument, CertificateError, Proof};

use synth_multiresource::workload::{Fleet, JobType};

/// The reason why there is no bound.
#[derive(Debug, thiserror::Error)]
pub enum BoundError {
    /// The linear program exceeds the limit of rows, which is 0 once there is no time left.
    #[error("the linear program for the lower bound would exceed its size limit of {0} rows")]
    Large(usize),
    /// HiGHS did not find a finite solution, or not all conditions are met after many rounds.
    #[error("the linear program for the lower bound could not be solved ({0})")]
    Solver(String),
    /// The solution proves nothing, or the workload's distributions are not supported.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// Returns the best available lower bound on the objective of every policy that knows no more about
/// a job than the workload reveals, as a file that `synth check` can verify.
///
/// If a policy can know the sizes, or can preempt jobs whose remaining size is not known, then only
/// the bound from prices and sizes is valid. Otherwise, the bound from prices competes, for
/// exponential sizes and few schedules, with one from a function of the state, by a linear program
/// limited by `rows`. Once `is_over` is `true`, only the prices of all types are tried.
///
/// # Errors
/// Returns an error if the objective is a percentile or every method fails.
pub fn lower_bound(
    fleet: &Fleet,
    objective: Objective,
    preemption: Preemption,
    rows: usize,
    is_over: &dyn Fn() -> bool,
) -> Result<BoundDocument, BoundError> {
    let proved = |(least, proof)| BoundDocument::new(fleet, (objective, preemption), least, proof);
    let is_memoryless = fleet.types().iter().all(JobType::is_memoryless);
    let is_residual_known = preemption == Preemption::None || is_memoryless;
    if fleet.envelope().has_limits() || !is_residual_known {
        return by_sizes(fleet, objective, is_over).map(proved);
    }
    let by_prices = by_prices(fleet, objective, preemption, is_over);
    let by_prices = by_prices.map(|(least, cuts)| (least, Proof::Prices(cuts)));
    let rows = if is_over() { 0 } else { rows };
    let by_cells = by_cells(fleet, objective, preemption != Preemption::None, rows);
    // A bound for preemptive policies is also a bound for nonpreemptive policies.
    let by_cells = by_cells.or_else(|_| self::by_cells(fleet, objective, true, rows));
    let best = match (by_cells, by_prices) {
        (Ok((least, _)), Ok(prices)) if least < prices.0 => Ok(prices),
        (Ok((least, own)), _) => Ok((least, Proof::Potential(own))),
        (_, prices) => prices,
    };
    best.map(proved)
}

#[cfg(test)]
mod tests;
