//! A workload from a trace: types of jobs, laws of their sizes, and how they arrive.
//!
//! # Theory
//! Of the jobs with demand v let N_v be the number, S_v the total size, and T the time between the first submission and
//! the last: they arrive at rate N_v/T, and `ρ̄ = max_r Σ_v S_v v_r/(T P_r)` is the load if nothing were lost by
//! packing. Demands are merged into few types, each of which demands no less than its jobs do (`merge`); the number of
//! types is the least with a load near ρ̄ (`types`). Sizes are taken as they were measured (`sizes`). Arrivals
//! are Poisson unless the *work* of jobs, not their number, is more uneven than that (`dispersion`).
//!
//! # Practice
//! [`fit`] reads a trace once, into memory: 72 bytes a job. What it found stands in a [`Fit`]: the workload, and what it
//! stands on. [`predict`] then replays the log and simulates the workload under the same rules.

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

/// After so long a job weighs twice as much where recent ones weigh more \[s\].
const DOUBLES: f64 = 14.0 * 86_400.0;

/// Fits a workload to a trace. `listener` is notified of progress, and says whether to go on.
///
/// # Errors
/// When the trace cannot be read, has no rates, or what was found makes no workload.
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
            let none = "no job fits into a type of the policy: fit the trace anew, without --since";
            let types = search.serving(&demands)?;
            (types.ok_or(FitError::Jobs(none.into()))?, Vec::new())
        }
        None => search.types(options.max_types, options.rounding_loss, |count| {
            listener(&format!("solving the program of {count} types"));
        })?,
    };
    Fitting::new(&jobs, types, options).conclude(tried)
}
