//! This crate creates a workload from the log of a cluster: it finds the job types, and fits a size
//! distribution and an arrival process to each of them.
//!
//! - The function [`fit`] reads a [`Trace`] into memory, which takes 72 bytes for each job, and
//!   returns a [`Fit`]. The [`FitOptions`] limit the number of types.
//! - A [`Fit`] contains the workload and a [`Report`] with the evidence for it.
//! - The function [`predict`] simulates some rules on the workload, and compares the results with
//!   replays of the log.
//!
//! The jobs with demand v arrive with rate `N_v/T`, where `N_v` is their number and T is the time
//! from the first submission to the last. If `S_v` is the sum of their sizes and no capacity is
//! lost by packing, the load is `ρ̄ = max_r Σ_v S_v v_r/(T P_r)`. Demands are merged into the
//! smallest number of types whose load is near ρ̄ (`merge`, `types`). The size distributions are
//! empirical (`sizes`). Arrivals are Poisson processes, unless the *work* of the jobs varies more
//! (`dispersion`); then the rates switch between two states (H. Heffes, D. M. Lucantoni, IEEE
//! Journal on Selected Areas in Communications 4(6), 1986).
//!
//! ```
//! use synth_fit::{FitOptions, FittedArrivals, fit};
//! use synth_traces::trace::{ReadOptions, Servers, Source, Trace};
//!
//! let row = |n: u32| format!("{},{},{}\n", 10 * n, if n % 2 == 0 { 8 } else { 20 }, 1 + n % 2);
//! let text = format!("time,size,cpu\n{}", (0..200).map(row).collect::<String>());
//! let source = Source::Text("jobs.csv".into(), text.into());
//! let servers = Some(Servers::shapes("cpu=8")?);
//! let mut trace = Trace::open(&source, &ReadOptions { servers, ..ReadOptions::default() })?;
//! let (max_types, arrivals) = (4, FittedArrivals::Poisson);
//! let (source, rounding_loss, by_limit, kept_types) = ("example".into(), 0.0, false, None);
//! let options = FitOptions { source, max_types, rounding_loss, arrivals, by_limit, kept_types };
//! let fit = fit(&mut trace, &options, &mut |_| true)?;
//! let means: Vec<f64> = fit.workload.types().iter().map(|job| job.mean_size()).collect();
//! assert_eq!((fit.report.arrived, means), (200, vec![8.0, 20.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

pub use dispersion::{Dispersion, Drift, RateModulation};
pub use predicted::{MOST as MOST_REPLAYED, predict};
pub use report::{
    CandidateTypes, Fit, FitError, FitListener, FitOptions, FittedArrivals, FittedType, Prediction,
    Report,
};

use fitting::Fitting;
use jobs::Jobs;
use synth_traces::trace::Trace;
use types::Search;

const DOUBLING_TIME: f64 = 14.0 * 86_400.0;

/// Fits a workload to a trace. The `listener` gets messages and returns whether to continue.
///
/// # Errors
/// Returns an error if the trace cannot be read or has no rates, or if there is no valid workload.
pub fn fit(
    trace: &mut Trace,
    options: &FitOptions,
    listener: FitListener<'_>,
) -> Result<Fit, FitError> {
    let doubles = options.kept_types.as_ref().map(|_| DOUBLING_TIME);
    let jobs = Jobs::read(trace, options.by_limit, doubles, listener)?;
    let search = Search::new(&jobs, options.max_types);
    let (types, tried) = match &options.kept_types {
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
