//! Traces: what arrived at a cluster and how long it held its room, as schedulers log it.
//!
//! # Theory
//! A trace is a sequence of jobs, each with the instant of its submission, how long it held its room, the
//! amounts of resources that it held, and perhaps a limit that was promised. Times are whole *ticks*, the
//! resolution of the clock in the file: sums over a trace are exact, and a replay of it repeats. A job's
//! demands are its *vector*; of these a trace has few, so that a [`TraceJob`] carries the number of its vector
//! in a table ([`DemandTable`]).
//!
//! # Practice
//! [`Trace::open`] finds out which [`TraceFormat`] a file has, and [`Trace::jobs`] gives its jobs in the order of
//! their submission, the ones of one instant in the order of the file. No line is left out silently: what does not
//! take part, or not as it stands, is counted by [`Reason`] in an [`Account`], with its work and the line where it is
//! first seen.

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
    /// The servers that its jobs ran on; `None` if the log tells.
    pub servers: Option<Servers>,
    /// Its format; `None` to recognize it.
    pub format: Option<TraceFormat>,
    /// The columns of a table by their meaning; an amount may be a product of columns over a number.
    pub columns: Vec<(String, String)>,
    /// The units of times in a table, of all (`time`) or of one column.
    pub units: Vec<(String, String)>,
    /// Whether the amounts of a job in a table are those of each of its servers, and not of all; `None` to decide by the
    /// column's name.
    pub amounts: Option<bool>,
    /// The beginning of the log. Jobs that ran or waited then are its initial state.
    pub from: Option<TraceEdge>,
    /// The end of the log.
    pub to: Option<TraceEdge>,
    /// The partition whose jobs take part; all if absent.
    pub partition: Option<String>,
    /// The user whose jobs take part; all if absent.
    pub user: Option<String>,
    /// Whether only jobs that completed take part.
    pub completed_only: bool,
    /// Whether jobs that ran past their limit end at it; else their limit is raised.
    pub kill: bool,
    /// Whether jobs that still ran at the end are taken to have ended then; else their sizes are known in part.
    pub censored_end: bool,
    /// The share of faulty lines, and of work in jobs larger than any server, that may be left out; 1 % if absent.
    pub faults: Option<f64>,
}

/// Where a part of a trace begins or ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEdge {
    /// So long after the first job \[s\].
    After(f64),
    /// At this instant of the log's own clock \[s since 1970\].
    At(f64),
}

/// A job that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceJob {
    /// Line of the file, from 1.
    pub line: u32,
    /// Its vector, a number in [`DemandTable`].
    pub demand: u32,
    /// When it came \[ticks since the clock's zero\].
    pub submit: i64,
    /// How long it held its room \[ticks\], > 0; of a censored job how long it was seen to.
    pub size: u64,
    /// A limit that was promised when it came \[ticks\], ≥ its size; 0 where the trace tells none.
    pub limit: u64,
    /// Who sent it: equal numbers are equal names, and 0 is none.
    pub user: u32,
    /// What it was sent to, a number in [`Account::classes`].
    pub class: u32,
    /// With which others it came: equal numbers are one batch, and 0 is none.
    pub batch: u32,
    /// How long it waited for its room \[ticks\], where the trace tells.
    pub waited: Option<u64>,
    /// When it ended, or until when it was seen \[ticks\]; later than its size after its start if it was suspended.
    pub end: i64,
    /// How it is known.
    pub seen: Observed,
}

/// How much of a job the trace saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Observed {
    /// From its submission to its end.
    #[default]
    Whole,
    /// It still ran when the trace ended.
    Censored,
    /// It ran when the trace began: it is submitted and starts then, and its size and its limit are what was left of them.
    Initial,
    /// It waited when the trace began: it is submitted then, with its whole size.
    Waiting,
}

impl Observed {
    /// Returns whether the job was submitted before the trace began: it is no arrival.
    pub fn is_early(self) -> bool {
        matches!(self, Observed::Initial | Observed::Waiting)
    }
}

/// The resolution of a trace's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tick {
    /// A second.
    Second = 1,
    /// A thousandth of it.
    Millisecond = 1000,
    /// A millionth of it.
    Microsecond = 1_000_000,
}

impl Tick {
    /// Returns how many make a second.
    pub fn per_second(self) -> u64 {
        self as u64
    }

    /// Returns what a workload in ticks calls its unit of time.
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
