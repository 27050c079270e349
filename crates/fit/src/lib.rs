//! This crate creates a workload from the log of a cluster: it finds the job types, fits a size
//! distribution to each of them, and fits the arrivals of each type or of all types together.
//!
//! - The function [`fit`] reads a [`Trace`] into memory, which takes about 80 bytes for each job,
//!   and returns a [`Fit`]. The [`FitOptions`] limit the number of types.
//! - A [`Fit`] contains the workload and a [`Report`] with the evidence for it.
//! - The function [`predict`] simulates some rules on the workload, and compares the results with
//!   replays of the log.
//!
//! The jobs with demand vector v arrive with rate `N_v/T`, where `N_v` is their number and T is the
//! time to the last submission from the first, or from the start of a log with earlier jobs. If
//! `S_v` is the sum of their sizes, `P_r` the capacity of resource r, and no capacity is lost by
//! packing, the load is `ρ̄ = max_r Σ_v S_v v_r/(T P_r)`. Demands are merged into the smallest
//! number of types whose load is near ρ̄ (`merge`, `types`). Size distributions are empirical if
//! there are enough jobs (`sizes`). The rates are constant, unless the *work* varies more than with
//! constant rates (`dispersion`); then they switch between two states (H. Heffes, D. M. Lucantoni,
//! IEEE Journal on Selected Areas in Communications 4(6), 1986), or up to four in [`Fit::other`].
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
pub use fitting::MAX_REPLAYED_JOBS;
pub use predicted::predict;
pub use report::{
    CandidateTypes, Fit, FitError, FitListener, FitOptions, FittedArrivals, FittedType, Prediction,
    Report,
};

use fitting::Fitting;
use jobs::Jobs;
use synth_traces::trace::Trace;
use types::Search;

const WEIGHT_DOUBLING_SECONDS: f64 = 14.0 * 86_400.0;

/// Fits a workload to a trace. The `listener` gets messages and returns whether to continue.
///
/// # Errors
/// This fails for an unreadable trace, a single arrival time, no valid workload, or an interrupt.
pub fn fit(
    trace: &mut Trace,
    options: &FitOptions,
    listener: FitListener<'_>,
) -> Result<Fit, FitError> {
    let doubles = options.kept_types.as_ref().map(|_| WEIGHT_DOUBLING_SECONDS);
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
            listener(&format!("solving the optimization for {count} types"))
        })?,
    };
    Fitting::new(&jobs, types, options).conclude(tried)
}
