//! Fits a workload (job types, size distributions, arrival processes) to a trace.
//!
//! # Theory
//! Let N_v be the number of jobs with demand v, S_v their total size, and T the time from the first
//! submission to the last. These jobs arrive at rate N_v/T, and `ρ̄ = max_r Σ_v S_v v_r/(T P_r)` is
//! the load if packing lost no capacity. Demands are merged into a few types, each of which demands
//! at least as much as its jobs do (`merge`); the number of types is the smallest with a load near
//! ρ̄ (`types`). Size distributions are those measured (`sizes`). Arrivals are Poisson unless the
//! *work* of jobs, rather than their number, varies more than a Poisson process would
//! (`dispersion`).
//!
//! # Practice
//! [`fit`] reads a trace once and holds it in memory, at 72 bytes per job. Its result, a [`Fit`],
//! is the workload and a report of the evidence for it. [`predict`] then replays the log and
//! simulates the workload under the same rules.

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

/// Time over which the weight of a job doubles when recent jobs weigh more \[s\].
const DOUBLES: f64 = 14.0 * 86_400.0;

/// Fits a workload to a trace. `listener` receives progress messages and returns whether to
/// continue.
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
            listener(&format!("solving the program of {count} types"));
        })?,
    };
    Fitting::new(&jobs, types, options).conclude(tried)
}
