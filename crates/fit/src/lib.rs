//! This crate fits a workload (job types, size distributions, and arrival processes) to a trace.
//!
//! # Theory
//! If there are `N_v` jobs with the demand `v`, their arrival rate is `N_v/T`, where `T` is the
//! time between the first and the last submission. If `S_v` is the sum of their sizes, the load is
//! `ρ̄ = max_r Σ_v S_v v_r/(T P_r)`, unless some of the capacity is lost by packing. The demands
//! are merged into the smallest number of types that has a load which is close to `ρ̄` (`merge`,
//! `types`). The size distributions are empirical (`sizes`). The arrivals are Poisson, unless the
//! *work* of the jobs varies more than this (`dispersion`).
//!
//! # Practice
//! [`fit`] reads a trace into memory (72 bytes for each job), and returns a [`Fit`] that contains
//! the workload and a report. After that, [`predict`] can be used to compare it with replays of the
//! log.

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

/// The time in which the weight of a job doubles, if recent jobs have more weight \[s\].
const DOUBLES: f64 = 14.0 * 86_400.0;

/// Fits a workload to a trace. The `listener` is called with messages about the progress and
/// returns whether to continue.
///
/// # Errors
/// Returns an error if the trace cannot be read or has no rates, or if there is no valid workload.
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
