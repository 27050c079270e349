//! Fits a workload (job types, size distributions, arrival processes) to a trace.
//!
//! # Theory
//! Jobs with demand v arrive at rate N_v/T, where N_v is their number and T the time from the first
//! submission to the last. With S_v their total size, the load is `ρ̄ = max_r Σ_v S_v v_r/(T P_r)`
//! if packing loses no capacity. Demands are merged into the smallest number of types with a load
//! near ρ̄ (`merge`, `types`). Size distributions are empirical (`sizes`). Arrivals are Poisson
//! unless the *work* of jobs varies more than that (`dispersion`).
//!
//! # Practice
//! [`fit`] reads a trace into memory, at 72 bytes per job, and returns a [`Fit`]: the workload and
//! a report. [`predict`] then compares it with replays of the log.

mod arrivals;
mod dispersion;
mod fitting;
mod jobs;
mod levels;
mod limits;
mod merge;
mod predicted;
mod report;
mod sizes;
#[cfg(test)]
mod tests;
mod types;

pub use dispersion::{Dispersion, Drift, Excess};
pub use predicted::{MOST as MOST_REPLAYED, predict};
pub use report::{
    Fit, FitError, FitListener, FitOptions, FittedArrivals, Predicted, Report, TriedTypes,
    TypeFound,
};

use fitting::Fitting;
use jobs::Jobs;
use synth_traces::trace::Trace;
use types::Search;

/// The time in which the weight of jobs doubles if recent jobs have more weight \[s\].
const DOUBLES: f64 = 14.0 * 86_400.0;

/// Fits a workload to a trace. `listener` gets progress messages and returns whether to continue.
///
/// # Errors
/// If the trace cannot be read, has no rates, or does not yield a valid workload.
pub fn fit(
    trace: &mut Trace,
    options: &FitOptions,
    listener: FitListener<'_>,
) -> Result<Fit, FitError> {
    let doubles = options.since.as_ref().map(|_| DOUBLES);
    let jobs = Jobs::read(trace, options.by_limit, doubles, listener)?;
    let search = Search::new(&jobs, options.max_types);
    let (types, tried) = match &options.since {
        Some(kept) => {
            let demands: Vec<Vec<f64>> = kept.iter().map(|(_, demand)| demand.clone()).collect();
            let none = "no job fits into a type of the policy: fit the trace again without --since";
            let types = search.serving(&demands)?;
            (types.ok_or(FitError::Jobs(none.into()))?, Vec::new())
        }
        None => search.types(options.max_types, options.rounding_loss, |count| {
            listener(&format!("solving the optimization for {count} types"));
        })?,
    };
    Fitting::new(&jobs, types, options).conclude(tried)
}
