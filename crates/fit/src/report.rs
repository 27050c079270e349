//! Options of a fit, and its result.

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
    /// Where the figures come from, for the workload.
    pub source: String,
    /// The most types.
    pub max_types: usize,
    /// How much higher the load may be than without merging and packing, relatively.
    pub rounding_loss: f64,
    /// How jobs arrive.
    pub arrivals: FittedArrivals,
    /// Whether types differ by the limits that jobs promise.
    pub by_limit: bool,
    /// Types that are kept (each a name, R demands and a number of servers), for a policy that has them; recent jobs weigh more then.
    pub since: Option<Vec<(String, Vec<f64>)>>,
}

/// Is notified of progress, and says whether to go on.
pub type FitListener<'a> = &'a mut dyn FnMut(&str) -> bool;

/// How jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FittedArrivals {
    /// As the dispersion of their work says
    Auto,
    /// As Poisson processes
    Poisson,
    /// At rates that change between two states, of each type by itself
    Modulated,
    /// At rates that change for all types together
    Common,
    /// In batches: jobs of one user, or of one batch where they are named, that come at one instant
    Batches,
}

/// A workload, and what it stands on.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The workload.
    pub workload: Fleet,
    /// What it stands on.
    pub report: Report,
    /// The same workload with another law of arrivals that comes into question, and that in words.
    pub other: Option<(Fleet, &'static str)>,
    /// The log, to be replayed: its first jobs where there are many. None where recent jobs weigh more.
    pub log: Option<Log>,
}

/// What a fit stands on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The format of the trace.
    pub log_format: TraceFormat,
    /// What its jobs ran on, from the options or from the trace.
    pub servers: String,
    /// What was done with its lines.
    pub lines: Account,
    /// Time from the first submission to the last \[s\].
    pub span: f64,
    /// Jobs that arrived.
    pub arrived: u64,
    /// Those of them that still ran at the end, of whose sizes a part is known.
    pub censored: u64,
    /// Distinct vectors of demands.
    pub vectors: usize,
    /// Lines whose demand was rounded up to three digits.
    pub rounded: u64,
    /// The share of each resource that jobs held on average (R).
    pub used: Vec<(String, f64)>,
    /// ρ̄, the largest of these.
    pub fluid_load: f64,
    /// ρ of the workload.
    pub load: f64,
    /// Whether it is proven.
    pub load_proven: bool,
    /// Loads by the number of types.
    pub load_by_types: Vec<TriedTypes>,
    /// The types.
    pub types: Vec<TypeFound>,
    /// How jobs arrive in the workload.
    pub arrivals: &'static str,
    /// The modulation that the dispersion of work tells of, whether it was used or not.
    pub excess: Option<Excess>,
    /// Dispersions by the length of windows.
    pub dispersion: Vec<Dispersion>,
    /// The share of jobs that came at one instant with others of their user or batch.
    pub together: f64,
    /// Loads of the three thirds of the span.
    pub thirds: [f64; 3],
    /// What is predicted under some rules, beside what the log gives.
    pub predicted: Vec<Predicted>,
    /// The load of the last week beside that of the weeks before.
    pub drift: Option<Drift>,
    /// Jobs whose demand no type has, where types were kept, and their share of the work.
    pub of_no_type: (u64, f64),
}

/// A type that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TypeFound {
    /// Its name.
    pub name: String,
    /// The longest limit of its jobs \[s\], where types differ by them and they have any.
    pub limit: Option<f64>,
    /// Its jobs.
    pub jobs: u64,
    /// Mean size \[s\].
    pub mean: f64,
    /// Squared coefficient of variation of their sizes.
    pub scv: f64,
    /// The same in the workload.
    pub scv_kept: f64,
    /// The share of their work that the longest 1 % are.
    pub longest_hundredth: f64,
    /// The share of the work of all jobs.
    pub work: f64,
    /// The law of sizes in the workload.
    pub law: &'static str,
}

/// A rule on the log and on the workload. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Predicted {
    /// The rule.
    pub rule: &'static str,
    /// Mean wait and mean response time of the log's jobs, replayed.
    pub replayed: [f64; 2],
    /// The same of the workload, simulated; none where the run has not settled.
    pub simulated: Option<[Estimate; 2]>,
}

/// Of these many times a wait is another one…
const APART: f64 = 1.3;
/// …if it is more than this share of the response time that it differs: for a choice between two models, and for a
/// warning.
pub(super) const NOTICED: f64 = 0.01;
const WARNED: f64 = 0.05;

impl Predicted {
    /// Returns the wait of the workload over that of the log.
    pub fn ratio(&self) -> Option<f64> {
        let [wait, _] = self.simulated?;
        Some(wait.mean / self.replayed[0]).filter(|ratio| ratio.is_finite())
    }

    /// Returns whether waits differ by more than 30 %, and by more than 5 % of the response time.
    pub fn differs(&self) -> bool {
        self.differs_by(WARNED)
    }

    /// Returns whether waits differ by more than 30 %, and by more than this share of the response time.
    pub(super) fn differs_by(&self, share: f64) -> bool {
        let Some([wait, _]) = self.simulated else {
            return false;
        };
        let [replayed, response] = self.replayed;
        let is_noticed = (wait.mean - replayed).abs() > share * response + wait.half_width;
        is_noticed && !(1.0 / APART..=APART).contains(&(wait.mean / replayed))
    }

    /// How far apart the waits are, as a logarithm; infinite where that is not known.
    pub(super) fn distance(&self) -> f64 {
        self.ratio().map_or(f64::INFINITY, |ratio| ratio.ln().abs())
    }
}

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The program of the types has no answer.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// What was found makes no workload.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The jobs make no workload of this kind.
    #[error("{0}")]
    Jobs(String),
    /// The listener ended it.
    #[error("interrupted before the trace was read")]
    Interrupted,
}

/// The number of types that was tried, and the load.
pub type TriedTypes = (usize, f64);

/// Nine digits of a number: more are none that a trace knows.
pub(super) fn short(value: f64) -> Decimal {
    let rounded = format!("{value:.8e}").parse().unwrap_or(value);
    Decimal::new(rounded).unwrap_or(Decimal::ZERO)
}
