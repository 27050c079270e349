//! What the reader of a format gives.

use super::account::Account;
use super::{Tick, TraceError};

/// A line that stands for a job, before it is decided what is done with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub line: u32,
    /// \[ticks\]
    pub submit: i64,
    pub held: Held,
    /// \[ticks\], where one is told.
    pub limit: Option<i64>,
    pub user: u32,
    pub batch: u32,
    pub fate: Fate,
}

/// How long a job held its room.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// So many ticks; it never ran where that is negative.
    Ticks(i64),
    /// At least so many: it still ran at the end.
    Censored(i64),
    /// So many after the start, before which it was there.
    Initial(i64),
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It completed, as far as is known.
    Completed,
    /// It failed, was killed, cancelled, evicted or timed out.
    Broken,
    /// The line counts a part of it.
    Part,
    /// None of the servers that are looked at holds it; its demand of them is not known.
    Unplaced,
}

/// A format, read line by line. Memory does not grow with the lines.
pub(super) trait Reader {
    /// The resolution of its times.
    fn tick(&self) -> Tick;

    /// The next line that stands for a job; `demand` (R) is set to what it demands of the resources looked at.
    /// Faulty lines, and those that are no jobs, are noted and passed over. `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further.
    fn next(
        &mut self,
        demand: &mut [f64],
        account: &mut Account,
    ) -> Result<Option<Raw>, TraceError>;
}
