use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::dispersion::{Dispersion, Drift, Excess};
use synth_core::document::DocumentError;
use synth_core::number::Decimal;
use synth_make::program::ProgramError;
use synth_multiresource::workload::Fleet;
use synth_simulation::Estimate;
use synth_traces::replay::Log;
use synth_traces::trace::{Account, TraceError, TraceFormat};

/// Options of a fit.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// The origin of the figures, stored in the workload.
    pub source: String,
    /// The maximum number of types.
    pub max_types: usize,
    /// The relative increase of the load that merging and packing may cause.
    pub rounding_loss: f64,
    /// The arrival process to fit.
    pub arrivals: FittedArrivals,
    /// Whether types are split by the limits of jobs.
    pub by_limit: bool,
    /// The types to keep, as name, R demands and number of servers. If set, recent jobs weigh more.
    pub since: Option<Vec<(String, Vec<f64>)>>,
}

/// A callback that receives progress messages and returns whether to continue.
pub type FitListener<'a> = &'a mut dyn FnMut(&str) -> bool;

/// The arrival process to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FittedArrivals {
    /// Chosen from the dispersion of work
    Auto,
    /// Poisson processes
    Poisson,
    /// Rates that switch between two states, for each type independently
    Modulated,
    /// Rates that change for all types together
    Common,
    /// Batches of jobs submitted at the same instant by one user, or in one named batch
    Batches,
}

/// A fitted workload with its report.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The workload.
    pub workload: Fleet,
    /// The evidence for it.
    pub report: Report,
    /// The same workload with an alternative arrival process, and a description of that process.
    pub other: Option<(Fleet, &'static str)>,
    /// The log to replay, which may be truncated; `None` if recent jobs weigh more.
    pub log: Option<Log>,
}

/// The evidence that supports a fitted workload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The format of the trace.
    pub log_format: TraceFormat,
    /// The servers, from the options or from the trace.
    pub servers: String,
    /// How the lines of the trace were used.
    pub lines: Account,
    /// Time from the first submission to the last \[s\].
    pub span: f64,
    /// The number of jobs that arrived.
    pub arrived: u64,
    /// The number of these jobs still running at the end, whose sizes are only partly known.
    pub censored: u64,
    /// The number of distinct demand vectors.
    pub vectors: usize,
    /// The number of lines whose demand was rounded up to three digits.
    pub rounded: u64,
    /// The mean share of each resource held by jobs (R).
    pub used: Vec<(String, f64)>,
    /// ρ̄, the largest of these shares.
    pub fluid_load: f64,
    /// ρ of the workload.
    pub load: f64,
    /// Whether `load` is proven.
    pub load_proven: bool,
    /// Loads by number of types.
    pub load_by_types: Vec<TriedTypes>,
    /// The types.
    pub types: Vec<TypeFound>,
    /// The description of how jobs arrive in the workload.
    pub arrivals: &'static str,
    /// The modulation indicated by the dispersion of work, whether used or not.
    pub excess: Option<Excess>,
    /// Dispersions by window length.
    pub dispersion: Vec<Dispersion>,
    /// The share of jobs submitted at the same instant as others of their user or batch.
    pub together: f64,
    /// Loads of the three thirds of the span.
    pub thirds: [f64; 3],
    /// The results of simulations under some rules, compared with replays of the log.
    pub predicted: Vec<Predicted>,
    /// The load of the last week compared with earlier weeks.
    pub drift: Option<Drift>,
    /// The number of jobs that fit into none of the kept types, and their share of the work.
    pub of_no_type: (u64, f64),
}

/// A job type of the fitted workload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TypeFound {
    /// Its name.
    pub name: String,
    /// The longest limit of its jobs \[s\], if types are split by limits and its jobs have any.
    pub limit: Option<f64>,
    /// The number of its jobs.
    pub jobs: u64,
    /// The mean size \[s\].
    pub mean: f64,
    /// The squared coefficient of variation of the sizes of its jobs.
    pub scv: f64,
    /// The same for the size distribution in the workload.
    pub scv_kept: f64,
    /// The share of its work in the longest 1 % of its jobs.
    pub longest_hundredth: f64,
    /// Its share of the work of all jobs.
    pub work: f64,
    /// The size distribution in the workload.
    pub law: &'static str,
}

/// A rule on the log and on the workload. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Predicted {
    /// The rule.
    pub rule: &'static str,
    /// The mean wait and mean response time of the log's jobs when replayed.
    pub replayed: [f64; 2],
    /// The same for the simulated workload; `None` if the run did not converge.
    pub simulated: Option<[Estimate; 2]>,
}

const APART: f64 = 1.3;
/// The minimum difference of waits over the response time to consider the alternative model.
pub(super) const NOTICED: f64 = 0.01;
/// The same for a warning.
const WARNED: f64 = 0.05;

impl Predicted {
    /// Returns the ratio of the wait in the simulated workload to that in the log.
    pub fn ratio(&self) -> Option<f64> {
        let [wait, _] = self.simulated?;
        Some(wait.mean / self.replayed[0]).filter(|ratio| ratio.is_finite())
    }

    /// Returns whether waits differ by more than 30 %, and by more than 5 % of the response time.
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
    /// The jobs do not yield a workload.
    #[error("{0}")]
    Jobs(String),
    /// The listener interrupted it.
    #[error("interrupted before the trace was completely read")]
    Interrupted,
}

/// A number of types that was tried, and its load.
pub type TriedTypes = (usize, f64);

/// Rounds to nine significant digits; a trace supports no more.
pub(super) fn short(value: f64) -> Decimal {
    let rounded = format!("{value:.8e}").parse().unwrap_or(value);
    Decimal::new(rounded).unwrap_or(Decimal::ZERO)
}
