//! This module reads traces: the jobs of a cluster that were recorded by its scheduler.
//!
//! Each job has a submission time, a duration, amounts of resources, and possibly a time limit. All
//! times are whole *ticks*, the resolution of the clock of the file, so that sums are exact and a
//! replay can be reproduced. There are only a few different vectors of demands, so a [`TraceJob`]
//! contains an index into a [`DemandTable`].
//!
//! [`Trace::open`] detects the [`TraceFormat`] of a file, and [`Trace::jobs`] returns its jobs,
//! sorted by submission and then by their order in the file. Lines that are left out or modified
//! are counted in an [`Account`] by their [`Reason`], with their work and the first line.

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

pub use account::{Account, AccountRow, Destination, Reason};
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
    /// The servers that were used to run the jobs, or `None` if they are given in the log.
    pub servers: Option<Servers>,
    /// The format; `None` to detect it.
    pub format: Option<TraceFormat>,
    /// The columns of a table by meaning, where an amount can be a product divided by a number.
    pub columns: Vec<(String, String)>,
    /// The time units of a table, for all columns (`time`) or for one of them.
    pub units: Vec<(String, String)>,
    /// Whether amounts in a table are per server; `None` to decide by the names of the columns.
    pub amounts: Option<bool>,
    /// The beginning of the log. Jobs that are running or waiting then are its initial state.
    pub from: Option<TraceEdge>,
    /// The end of the log.
    pub to: Option<TraceEdge>,
    /// Only the jobs of these partitions are used, or all jobs if there are none.
    pub partitions: Vec<String>,
    /// Only the jobs of these users are used, or all jobs if there are none.
    pub users: Vec<String>,
    /// Whether only completed jobs are used.
    pub completed_only: bool,
    /// Whether jobs are truncated at their limit; otherwise, the limit is raised.
    pub kill: bool,
    /// Whether a job that is still running at the end counts as ended. Otherwise, it is censored.
    pub censored_end: bool,
    /// The share of faulty lines that is allowed, and of work that fits on no server (default 1 %).
    pub faults: Option<f64>,
}

/// The beginning or end of a part of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEdge {
    /// The time after the first job \[s\].
    After(f64),
    /// The time before now \[s\], for jobs that are read from a scheduler.
    Ago(f64),
    /// The time of the clock that is used in the log \[s since 1970\].
    At(f64),
}

/// Clocks above this value \[s\] show dates. Others begin with the log, which is shorter than that.
const FIRST_DATE: f64 = 1e8;

/// A job that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceJob {
    /// The line of the file, from 1.
    pub line: u32,
    /// The index of its vector in [`DemandTable`].
    pub demand: u32,
    /// The time at which the job was submitted \[ticks since the zero of the log's clock\].
    pub submit: i64,
    /// The time for which it held its resources \[ticks\], > 0. If censored, this is only a part.
    pub size: u64,
    /// The time limit of the job \[ticks\], which is at least its size, or 0 if it is unknown.
    pub limit: u64,
    /// The number of the user. Equal numbers are equal names, and 0 is an unknown user.
    pub user: u32,
    /// The index in [`Account::classes`].
    pub class: u32,
    /// The number of the batch. Equal numbers are the same batch, and 0 is no batch.
    pub batch: u32,
    /// The recorded wait \[ticks\], if it is known.
    pub waited: Option<u64>,
    /// The end of the job or its observation \[ticks\], including the time of suspension.
    pub end: i64,
    /// The part of the job that was observed.
    pub seen: Observed,
}

/// The observed part of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Observed {
    /// The job was observed from its submission to its end.
    #[default]
    Whole,
    /// The job was still running at the end of the trace.
    Censored,
    /// The job was still waiting at the end of the trace. Its limit is used as its size, and its wait
    /// is known up to that time.
    Pending,
    /// The job was running when the trace began. It starts then with the remaining size and limit.
    Initial,
    /// The job was waiting when the trace began. It is submitted at this time with its full size.
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
