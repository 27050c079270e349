use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::dispersion::{Dispersion, Drift, RateModulation};
use synth_core::document::DocumentError;
use synth_core::number::Decimal;
use synth_make::program::ProgramError;
use synth_multiresource::workload::Fleet;
use synth_simulation::Estimate;
use synth_traces::replay::Log;
use synth_traces::trace::{Account, TraceError, TraceFormat};

/// The options of a fit.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The origin of the figures, stored in the workload.
    pub source: String,
    /// The maximum number of types.
    pub max_types: usize,
    /// The relative increase of the load that is allowed for merging and packing.
    pub rounding_loss: f64,
    /// The arrival process that should be used.
    pub arrivals: FittedArrivals,
    /// Whether types are split by the time limits of their jobs.
    pub by_limit: bool,
    /// The types to keep: name, `R` demands, and servers. Recent jobs then have more weight.
    pub kept_types: Option<Vec<(String, Vec<f64>)>>,
}

/// A callback that receives progress messages and returns whether to continue.
pub type FitListener<'a> = &'a mut dyn FnMut(&str) -> bool;

/// The arrival process that should be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FittedArrivals {
    /// Chosen from the dispersion of work
    Auto,
    /// Poisson processes
    Poisson,
    /// Rates that change between two states, independently for each type
    Modulated,
    /// Rates that change for all types at the same time
    Common,
    /// Batches of jobs that are submitted at the same time by a user, or in a batch with a name
    Batches,
}

/// The workload that was found, and the report about it.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The workload.
    pub workload: Fleet,
    /// The evidence for the workload.
    pub report: Report,
    /// The same workload with a different arrival process, and a description of this process.
    pub other: Option<(Fleet, &'static str)>,
    /// The first jobs of the log, to be replayed. `None` if recent jobs have more weight.
    pub log: Option<Log>,
}

/// The evidence for a workload that was fitted to a trace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The format of the trace.
    pub log_format: TraceFormat,
    /// The servers, which are given by an option or by the trace.
    pub servers: String,
    /// How the lines of the trace were used.
    pub lines: Account,
    /// Time from the beginning of the log, or its first submission, to the last submission \[s\].
    pub span: f64,
    /// The number of jobs that arrived.
    pub arrived: u64,
    /// The number of these jobs that were still running at the end of the trace, so that only a
    /// part of their size is known.
    pub censored: u64,
    /// The number of distinct demand vectors.
    pub vectors: usize,
    /// The number of lines whose demand was rounded up to three digits.
    pub rounded: u64,
    /// The mean share of each resource that is used by the jobs (R).
    pub used: Vec<(String, f64)>,
    /// The value of `ρ̄`, which is the largest of these shares.
    pub fluid_load: f64,
    /// ρ of the workload.
    pub load: f64,
    /// Whether `load` is proven.
    pub load_proven: bool,
    /// Loads by number of types.
    pub load_by_types: Vec<CandidateTypes>,
    /// The types.
    pub types: Vec<FittedType>,
    /// A description of how jobs arrive in the workload.
    pub arrivals: &'static str,
    /// The modulation that is indicated by the dispersion of work, even if it is not used.
    pub excess: Option<RateModulation>,
    /// The dispersions for each length of the windows.
    pub dispersion: Vec<Dispersion>,
    /// The share of the jobs that are submitted at the same instant as others of their user or
    /// batch.
    pub together: f64,
    /// Loads of the three thirds of the span.
    pub thirds: [f64; 3],
    /// The results of the simulation for some of the rules, compared with replays of the log.
    pub predicted: Vec<Prediction>,
    /// The load of the last week, compared to the weeks before.
    pub drift: Option<Drift>,
    /// The number of jobs that do not fit into any of the kept types, and their share of the work.
    pub of_no_type: (u64, f64),
}

/// A job type of the fitted workload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FittedType {
    /// Its name.
    pub name: String,
    /// The longest limit of the jobs \[s\] if types are split by limits and the jobs have any.
    pub limit: Option<f64>,
    /// The number of its jobs.
    pub jobs: u64,
    /// The mean size of its jobs \[s\].
    pub mean: f64,
    /// The squared coefficient of variation of the sizes of its jobs.
    pub scv: f64,
    /// The same for the size distribution in the workload.
    pub scv_kept: f64,
    /// The share of its work that is in the longest 1 % of its jobs.
    pub longest_hundredth: f64,
    /// Its share of the work of all jobs.
    pub work: f64,
    /// The size distribution in the workload.
    pub law: &'static str,
}

/// The results of a rule for the log and for the workload. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Prediction {
    /// The rule.
    pub rule: &'static str,
    /// The mean wait and the mean response time in the middle 96 % of the log, which is replayed.
    pub replayed: [f64; 2],
    /// The same values for the simulation of the workload. `None` if the run did not converge.
    pub simulated: Option<[Estimate; 2]>,
}

/// The ratio of two waits above which they differ, if one of the following limits is exceeded too.
const APART: f64 = 1.3;
/// The difference of waits, relative to the response time, for another arrival process.
pub(super) const NOTICED: f64 = 0.01;
/// The same for a warning.
const WARNED: f64 = 0.05;

impl Prediction {
    /// Returns the wait in the simulation divided by the wait in the log.
    pub fn ratio(&self) -> Option<f64> {
        let [wait, _] = self.simulated?;
        Some(wait.mean / self.replayed[0]).filter(|ratio| ratio.is_finite())
    }

    /// Returns whether the waits differ by more than 30 %, and by more than 5 % of the response
    /// time plus the half-width of the confidence interval.
    pub fn differs(&self) -> bool {
        self.differs_by(WARNED)
    }

    pub(super) fn differs_by(&self, share: f64) -> bool {
        let Some([wait, _]) = self.simulated else {
            return false;
        };
        let [replayed, response] = self.replayed;
        let is_noticed = (wait.mean - replayed).abs() > share * response + wait.half_width;
        is_noticed && !(1.0 / APART..=APART).contains(&(wait.mean / replayed))
    }

    /// Returns the absolute value of the logarithm of the ratio, or infinity if it is not known.
    pub(super) fn distance(&self) -> f64 {
        self.ratio().map_or(f64::INFINITY, |ratio| ratio.ln().abs())
    }
}

/// A reason why a workload could not be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The optimization program for the types has no solution.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The fitted workload is invalid.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It is not possible to create a workload from these jobs.
    #[error("{0}")]
    Jobs(String),
    /// The fit was interrupted by the listener.
    #[error("the fit was interrupted")]
    Interrupted,
}

/// A number of types that was tried, and its load.
pub type CandidateTypes = (usize, f64);

/// Rounds a value to nine significant digits, because a trace is not more precise.
pub(super) fn short(value: f64) -> Decimal {
    let rounded = format!("{value:.8e}").parse().unwrap_or(value);
    Decimal::new(rounded).unwrap_or(Decimal::ZERO)
}
