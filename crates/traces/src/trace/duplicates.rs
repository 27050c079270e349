//! Rows that report the same job, such as one as RUNNING and a later one as COMPLETED: the last state counts.
//!
//! Two rows report the same job if they have the same id and the same submission, and do not have two different starts:
//! a job that was requeued starts again, and counts again.

use std::collections::HashMap;

use super::Account;
use super::format::Raw;

/// The row of a job that counts so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// The line in which the job was read first, which orders it among the others.
    pub line: u32,
    start: Option<i64>,
    /// Of two rows of a job the one with the larger rank counts, and of equal ones the later.
    pub rank: i64,
    /// Its place among the jobs that take part, if it does.
    pub place: Option<usize>,
    /// The reasons noted for it, as bits, and the work noted with them.
    pub reasons: u32,
    pub work: f64,
}

/// The rows that count so far, by id and submission.
pub(super) type Known = HashMap<u64, Counted>;

/// Returns the key of the job that a row reports, and the row that counts for it so far.
pub(super) fn find(known: &Known, (id, start): (u64, Option<i64>)) -> (u64, Option<Counted>) {
    let is_other = |own: &Counted| own.start.zip(start).is_some_and(|(a, b)| a != b);
    match known.get(&id) {
        Some(own) if is_other(own) => {
            let again = id ^ start.unwrap_or(0).unsigned_abs().wrapping_mul(ODD);
            (again, known.get(&again).copied())
        }
        own => (id, own.copied()),
    }
}

/// An odd number without a pattern, 2⁶⁴ over the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Counted {
    pub(super) fn new(raw: &Raw) -> Self {
        Counted {
            line: raw.line,
            start: raw.start,
            rank: raw.rank(),
            place: None,
            reasons: 0,
            work: 0.0,
        }
    }

    /// Removes the notes of this row from the account.
    pub(super) fn retract(&self, account: &mut Account) {
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
