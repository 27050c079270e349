//! A log of jobs as a cluster wrote it: read line by line, and nothing left out without being told.
//!
//! # Theory
//! A trace is a sequence of jobs, each with the instant of its submission, how long it held its room, the
//! amounts of resources that it held, and perhaps a limit that was promised. Times are whole *ticks*, the
//! resolution of the clock in the file: sums over a trace are exact, and a replay of it repeats. A job's
//! demands are its *vector*; of these a trace has few, so that a [`Job`] carries the number of its vector
//! in a table ([`Demands`]).
//!
//! # Practice
//! Jobs come in the order of their submission, the ones of one instant in the order of the file. What does
//! not take part is counted by [`Reason`] in an [`Account`], with its work and the line where it is first
//! seen. What reads the formats of files is still to come.

mod account;
mod demands;

pub use account::{Account, Reason, Row};
pub use demands::{Demands, Servers, Shape};

/// A job that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Line of the file, from 1.
    pub line: u64,
    /// When it came \[ticks since the clock's zero\].
    pub submit: i64,
    /// How long it held its room \[ticks\], > 0; of a censored job how long it was seen to.
    pub size: u64,
    /// A limit that was promised when it came \[ticks\], ≥ its size; none where the trace tells none.
    pub limit: Option<u64>,
    /// Its vector, a number in [`Demands`].
    pub demand: u32,
    /// Who sent it: equal numbers are equal names, and 0 is none.
    pub user: u64,
    /// With which others it came: equal numbers are one batch, and 0 is none.
    pub batch: u64,
    /// How it is known.
    pub seen: Seen,
}

/// How much of a job the trace saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// From its submission to its end.
    Whole,
    /// It still ran when the trace ended.
    Censored,
    /// It was there before the trace began: it is submitted with the first, and its size is what was left of it.
    Initial,
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
    /// How many make a second.
    #[must_use]
    pub fn per_second(self) -> u64 {
        match self {
            Tick::Second => 1,
            Tick::Millisecond => 1000,
            Tick::Microsecond => 1_000_000,
        }
    }
}
