//! Traces: what arrived at a cluster and how long it held its room, as schedulers log it.
//!
//! # Theory
//! A trace is a sequence of jobs, each with the instant of its submission, how long it held its room, the
//! amounts of resources that it held, and perhaps a limit that was promised. Times are whole *ticks*, the
//! resolution of the clock in the file: sums over a trace are exact, and a replay of it repeats. A job's
//! demands are its *vector*; of these a trace has few, so that a [`Job`] carries the number of its vector
//! in a table ([`Demands`]).
//!
//! # Practice
//! [`Trace::open`] finds out which [`Format`] a file has, and [`Trace::next_job`] gives its jobs in the order of
//! their submission, the ones of one instant in the order of the file. No line is left out silently: what does not
//! take part, or not as it stands, is counted by [`Reason`] in an [`Account`], with its work and the line where it is
//! first seen. Memory does not grow with the trace: a buffer of [`Trace::MOST_OUT_OF_ORDER`] jobs puts them in order.

mod account;
mod demands;
mod error;
mod fields;
mod format;
mod input;
mod jobs;
mod servers;

pub use account::{Account, Reason, Row};
pub use demands::Demands;
pub use error::TraceError;
pub use format::Format;
pub use jobs::{Source, Trace};
pub use servers::{Servers, Shape};

/// What is done with lines that can be read in more than one way.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; it is looked for where none is named.
    pub format: Option<Format>,
    /// What the jobs ran on; some formats tell it themselves.
    pub servers: Option<Servers>,
    /// Of a table with a header: what is taken (`time`, `size`, `cpu` …) and from which column.
    pub columns: Vec<(String, String)>,
    /// Units of what is taken, such as (`time`, `ms`).
    pub units: Vec<(String, String)>,
    /// Jobs submitted earlier than this after the first are left out \[s\].
    pub from: Option<f64>,
    /// Jobs submitted later than this after the first are left out \[s\].
    pub to: Option<f64>,
    /// Whether jobs that still ran at the end count as if they had ended then.
    pub censored_end: bool,
    /// The share of lines that may be faulty, in [0, 1].
    pub faults: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: None,
            servers: None,
            columns: Vec::new(),
            units: Vec::new(),
            from: None,
            to: None,
            censored_end: false,
            faults: 0.01,
        }
    }
}

/// A job that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// When it came \[ticks since the clock's zero\].
    pub submit: i64,
    /// Line of the file, from 1; jobs are ordered by `submit` and this.
    pub line: u32,
    /// Its vector, a number in [`Demands`].
    pub demand: u32,
    /// How long it held its room \[ticks\], > 0; of a censored job how long it was seen to.
    pub size: u64,
    /// A limit that was promised when it came \[ticks\], ≥ its size; 0 where the trace tells none.
    pub limit: u64,
    /// Who sent it: equal numbers are equal names, and 0 is none.
    pub user: u32,
    /// With which others it came: equal numbers are one batch, and 0 is none.
    pub batch: u32,
    /// Whether it still ran when the trace ended.
    pub is_censored: bool,
}

/// The resolution of a trace's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tick {
    /// A second.
    Second,
    /// A thousandth of it.
    Millisecond,
    /// A millionth of it.
    Microsecond,
}

impl Tick {
    /// Returns how many make a second.
    #[must_use]
    pub fn per_second(self) -> u64 {
        match self {
            Tick::Second => 1,
            Tick::Millisecond => 1000,
            Tick::Microsecond => 1_000_000,
        }
    }

    /// Returns what a workload in ticks calls its unit of time.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Tick::Second => "s",
            Tick::Millisecond => "ms",
            Tick::Microsecond => "us",
        }
    }
}

#[cfg(test)]
mod tests;
