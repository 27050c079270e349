//! This module merges rows of the same job, such as RUNNING and then COMPLETED, into its last
//! state. A job with the same id and submission that was requeued has a new start and counts again.

use std::collections::HashMap;

use super::Account;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// The first line of the job, which determines its order.
    pub line: u32,
    pub start: Option<i64>,
    /// The row with the larger rank is used, or the later one of equal ranks.
    pub rank: i64,
    pub place: Option<usize>,
    pub reasons: u32,
    pub work: f64,
}

pub(super) type Known = HashMap<u64, Counted>;

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

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Counted {
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
