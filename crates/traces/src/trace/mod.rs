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
mod window;

pub use account::{Account, AccountRow, Reason, SentTo};
pub use demands::DemandTable;
pub use error::TraceError;
pub use format::{EXPORT, TraceFormat, nodes};
pub use input::Source;
pub use jobs::Trace;
pub use servers::{ServerShape, Servers};

use std::path::Path;

use clap::Args;

use synth_core::number::{instant, stamp};
use synth_typed::{either, share, time};

/// How the lines of a trace are read. The trace itself is an argument `trace` beside it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "How the trace is read")]
pub struct ReadOptions {
    /// What its jobs ran on: one server, such as cpu=128,memory=512, a fleet, such as
    /// "40xcpu=96,memory=384;8xcpu=48,gpu:devices=8" (each fraction of a gpu on one device), or a file that lists nodes
    /// (cpu_milli, memory_mib, gpu) [default: what the file tells]
    #[arg(long, visible_alias = "capacity", value_name = "SHAPES", requires = "trace", value_parser = servers)]
    pub servers: Option<Servers>,

    /// Its format [default: found out, and told]
    #[arg(long, requires = "trace", value_enum)]
    pub format: Option<TraceFormat>,

    /// Of a table (csv): what stands in which column, such as time=submit_s,size=held_s,cpu=cores; an amount may be the product
    /// of columns over a number, such as gpu=num_gpu*gpu_milli/1000
    #[arg(long, value_name = "WHAT=COLUMN,…", requires = "trace", value_delimiter = ',', value_parser = pair)]
    pub columns: Vec<(String, String)>,

    /// Of a table (csv): the unit of its times, such as time=ms, or of one column, such as limit=min
    #[arg(long = "unit", value_name = "WHAT=UNIT", requires = "trace", value_delimiter = ',', value_parser = pair)]
    pub units: Vec<(String, String)>,

    /// Of a table (csv): whether the amounts of a job on several servers are those of all of them together, or of each
    /// [default: by the column's name, and printed]
    #[arg(long, value_name = "OF", requires = "trace", value_parser = either(["total", "per-node"]), action = clap::ArgAction::Set)]
    pub amounts: Option<bool>,

    /// Where the log begins: a date (2026-10-01, 2026-10-01T12:00, by the log's own clock), or a time after the first job
    /// (120d, or a number of seconds). Jobs that ran or waited then are its initial state [default: with the first job,
    /// or where the rows are complete, such as those of sacct -S]
    #[arg(long, value_name = "WHEN", requires = "trace", value_parser = edge)]
    pub from: Option<TraceEdge>,

    /// Leave out what came later, likewise
    #[arg(long, value_name = "WHEN", requires = "trace", value_parser = edge)]
    pub to: Option<TraceEdge>,

    /// Leave out the jobs of other partitions (sacct, swf); for `forecast slurm`: the live partition
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub partition: Option<String>,

    /// Leave out the jobs of other users, likewise
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub user: Option<String>,

    /// Which jobs take part: all that started, whatever became of them, or those that completed
    #[arg(long = "status", value_name = "WHICH", requires = "trace", value_parser = either(["started", "completed"]), action = clap::ArgAction::Set, default_value = "started")]
    pub completed_only: bool,

    /// What becomes of jobs that ran past their limit: it is raised to what they ran, or they end at it
    #[arg(long = "past-limit", value_name = "HOW", requires = "trace", value_parser = either(["raise", "kill"]), action = clap::ArgAction::Set, default_value = "raise")]
    pub kill: bool,

    /// What becomes of jobs that still ran at the end: their sizes are known in part, and they are not replayed, or
    /// they are taken to have ended then
    #[arg(long = "censored", value_name = "HOW", requires = "trace", value_parser = either(["part", "end"]), action = clap::ArgAction::Set, default_value = "part")]
    pub censored_end: bool,

    /// The share of faulty lines, and of work in jobs larger than any server, that may be left out, such as 5% [default:
    /// 1%]
    #[arg(long, value_name = "SHARE", requires = "trace", value_parser = share)]
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

/// A date, or a time after the first job.
fn edge(text: &str) -> Result<TraceEdge, String> {
    // A number alone counts seconds, unless it is too large for that.
    let at = match text.parse().ok().and_then(stamp) {
        Some((_, "YYYYMMDD" | "YYYYMMDDhh")) => {
            return Err(format!(
                "`{text}` may be a date or a number of seconds: write such as 2026-03-01, or {text}s"
            ));
        }
        Some((at, _)) => Some(at),
        None => instant(text.as_bytes()),
    };
    at.map_or_else(
        || time(text).map(TraceEdge::After),
        |at| Ok(TraceEdge::At(at)),
    )
    .map_err(|why| format!("{why}, nor a date such as 2026-10-01"))
}

/// Shapes of servers, as they are written or as a file lists them.
fn servers(text: &str) -> Result<Servers, String> {
    if !text.contains('=') && Path::new(text).is_file() {
        nodes(Path::new(text)).map_err(|why| why.to_string())
    } else {
        Servers::shapes(text)
    }
}

/// `what=column`.
fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(what, column)| !what.is_empty() && !column.is_empty());
    let (what, column) =
        pair.ok_or_else(|| format!("`{text}` is no pair: write such as time=submit_s"))?;
    Ok((what.trim().into(), column.trim().into()))
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
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
