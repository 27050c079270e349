//! Rows that report the same job, such as one as RUNNING and a later one as COMPLETED: the last state counts.
//!
//! Two rows report the same job if they have the same id and the same submission, and do not have two different starts:
//! a job that was requeued starts again, and counts again. Only the last one to two million ids are kept, since rows further
//! apart are too far out of order.

use std::collections::HashMap;

use super::format::Raw;
use super::{Account, Trace};

/// The row of a job that counts so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// The line and the submission under which the job was read first, which order it among the others.
    pub line: u32,
    pub submit: i64,
    start: Option<i64>,
    /// Of two rows of a job the one with the larger rank counts, and of equal ones the later.
    pub rank: i64,
    /// Whether it is among the jobs that take part.
    pub is_job: bool,
    /// The reasons noted for it, as bits, and the work noted with them.
    reasons: u32,
    work: f64,
}

/// The rows that count so far, by id and submission.
#[derive(Default)]
pub(super) struct Known {
    recent: HashMap<u64, Counted>,
    earlier: HashMap<u64, Counted>,
}

impl Known {
    /// Returns the key of the job that a row reports, and the row that counts for it so far.
    pub fn find(&self, (id, start): (u64, Option<i64>)) -> (u64, Option<Counted>) {
        let get = |key: u64| self.recent.get(&key).or_else(|| self.earlier.get(&key));
        let is_other = |own: &Counted| own.start.zip(start).is_some_and(|(a, b)| a != b);
        match get(id) {
            Some(own) if is_other(own) => {
                let again = id ^ start.unwrap_or(0).unsigned_abs().wrapping_mul(ODD);
                (again, get(again).copied())
            }
            known => (id, known.copied()),
        }
    }

    /// Keeps the row of this key as the one that counts.
    pub fn keep(&mut self, key: u64, counted: Counted) {
        if self.recent.len() >= Trace::MOST_OUT_OF_ORDER {
            self.earlier = std::mem::take(&mut self.recent);
        }
        self.recent.insert(key, counted);
    }

    /// Notes what was decided for the row of this key.
    pub fn decided(&mut self, key: u64, is_job: bool, account: &Account, work: f64) {
        if let Some(own) = self.recent.get_mut(&key) {
            (own.is_job, own.reasons, own.work) = (is_job, account.noted, work);
        }
    }
}

/// An odd number without a pattern, 2⁶⁴ over the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Counted {
    pub fn new(raw: &Raw) -> Self {
        Counted {
            line: raw.line,
            submit: raw.submit,
            start: raw.start,
            rank: raw.rank(),
            is_job: false,
            reasons: 0,
            work: 0.0,
        }
    }

    /// Removes the notes of this row from the account.
    pub fn retract(&self, account: &mut Account) {
        account.lines -= 1;
        for row in &mut account.rows {
            if self.reasons & row.reason.bit() != 0 {
                row.lines -= 1;
                row.work = (row.work - self.work).max(0.0);
            }
        }
        account.rows.retain(|row| row.lines > 0);
    }
}
