//! In which order jobs stand in the array that hosts are served from.

use std::cmp::Ordering;

/// What decides where a job stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The logical end time of its batch \[time\]; of a job without a batch when it was created plus its
    /// bound.
    pub end: f64,
    /// How often it was sent before.
    pub retries: u32,
    /// Its number.
    pub id: u64,
}

/// The earliest end first, of those the one that was tried most often, of those the oldest.
#[must_use]
pub fn feed(a: &Place, b: &Place) -> Ordering {
    let ends = a.end.total_cmp(&b.end);
    let tries = b.retries.cmp(&a.retries);
    ends.then(tries).then(a.id.cmp(&b.id))
}
