//! Traces: the jobs of a cluster as logged by its scheduler.
//!
//! # Theory
//! A trace is a sequence of jobs with submission time, duration, amounts of resources, and possibly
//! a time limit. Times are whole *ticks*, the resolution of the file's clock, so that sums are
//! exact and replays reproducible. The demands of a job are its *vector*. There are few distinct
//! vectors, so a [`TraceJob`] stores an index into a [`DemandTable`].
//!
//! # Practice
//! [`Trace::open`] detects the [`TraceFormat`] of a file, and [`Trace::jobs`] returns its jobs
//! ordered by submission, then file order. Lines that are left out or modified are counted by
//! [`Reason`] in an [`Account`], with their work and first line.

mod account;
mod demands;
mod duplicates;
mod error;
mod fields;
mod format;
mod input;
mod jobs;
mod servers;
mod typed;
mod window;

pub use account::{Account, AccountRow, Reason, SentTo};
pub use demands::DemandTable;
pub use error::TraceError;
pub use format::{EXPORT, TraceFormat, nodes};
pub use input::Source;
pub use jobs::Trace;
pub use servers::{ServerShape, Servers};
pub use typed::ReadArgs;

/// How the lines of a log are read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The servers on which its jobs ran; `None` if the log has them.
    pub servers: Option<Servers>,
    /// The format; `None` to detect it.
    pub format: Option<TraceFormat>,
    /// Columns of a table by meaning; an amount may be a product of columns divided by a number.
    pub columns: Vec<(String, String)>,
    /// Time units of a table, for all columns (`time`) or for one.
    pub units: Vec<(String, String)>,
    /// Whether amounts in a table are per server; `None` to decide by column name.
    pub amounts: Option<bool>,
    /// The beginning of the log; jobs running or waiting then are its initial state.
    pub from: Option<TraceEdge>,
    /// The end of the log.
    pub to: Option<TraceEdge>,
    /// Use only jobs of this partition.
    pub partition: Option<String>,
    /// Use only jobs of this user.
    pub user: Option<String>,
    /// Use only completed jobs.
    pub completed_only: bool,
    /// Whether jobs are truncated at their limit; otherwise, the limit is raised.
    pub kill: bool,
    /// Whether jobs still running at the end count as ended then, instead of as censored.
    pub censored_end: bool,
    /// The tolerated share of faulty lines, and of work that fits on no server; the default is 1 %.
    pub faults: Option<f64>,
}

/// The beginning or end of a part of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEdge {
    /// Time after the first job \[s\].
    After(f64),
    /// Instant by the clock of the log \[s since 1970\].
    At(f64),
}

/// A job that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceJob {
    /// The line of the file, from 1.
    pub line: u32,
    /// The index of its vector in [`DemandTable`].
    pub demand: u32,
    /// The submission time \[ticks\].
    pub submit: i64,
    /// How long it held its resources \[ticks\], > 0, or the observed part if it is censored.
    pub size: u64,
    /// Time limit \[ticks\], ≥ its size; 0 if unknown.
    pub limit: u64,
    /// User: equal numbers are equal names, 0 is unknown.
    pub user: u32,
    /// The index in [`Account::classes`].
    pub class: u32,
    /// Batch: equal numbers are the same batch, 0 is none.
    pub batch: u32,
    /// Recorded wait \[ticks\].
    pub waited: Option<u64>,
    /// End, or end of observation \[ticks\]; later than start plus size if it was suspended.
    pub end: i64,
    /// The part of the job that was observed.
    pub seen: Observed,
}

/// The observed part of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Observed {
    /// From submission to end.
    #[default]
    Whole,
    /// The job was still running at the end of the trace.
    Censored,
    /// The job was running when the trace began, and starts then with its remaining size and limit.
    Initial,
    /// The job was waiting when the trace began, and is submitted then with its full size.
    Waiting,
}

impl Observed {
    /// Returns whether the job was submitted before the trace began, so that it is not an arrival.
    pub fn is_early(self) -> bool {
        matches!(self, Observed::Initial | Observed::Waiting)
    }
}

/// The resolution of a trace's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tick {
    /// One second.
    Second = 1,
    /// One millisecond.
    Millisecond = 1000,
    /// One microsecond.
    Microsecond = 1_000_000,
}

impl Tick {
    /// Returns the number of ticks per second.
    pub fn per_second(self) -> u64 {
        self as u64
    }

    /// Returns the name of the time unit.
    pub fn unit(self) -> &'static str {
        match self {
            Tick::Second => "s",
            Tick::Millisecond => "ms",
            Tick::Microsecond => "us",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
