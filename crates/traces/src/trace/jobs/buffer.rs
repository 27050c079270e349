//! Jobs in the order of their submission.

use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, OccupiedEntry};

use crate::trace::TraceJob;

/// Jobs that wait until no earlier one is expected.
///
/// Jobs that come in order are in a queue, which takes less time and memory; only the others are sorted.
pub(super) struct Buffer {
    ordered: VecDeque<TraceJob>,
    late: BTreeMap<(i64, u32), TraceJob>,
}

impl Buffer {
    /// Reserves space for so many jobs: a queue that grew by copying itself would take twice the memory.
    pub fn new(jobs: usize) -> Self {
        Buffer {
            ordered: VecDeque::with_capacity(jobs),
            late: BTreeMap::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.ordered.len() + self.late.len()
    }

    pub fn push(&mut self, job: TraceJob) {
        match self.ordered.back() {
            Some(last) if place(&job) < place(last) => drop(self.late.insert(place(&job), job)),
            _ => self.ordered.push_back(job),
        }
    }

    /// Removes the job of this place; returns whether it was there. In the queue its size of 0 marks it.
    pub fn remove(&mut self, at: (i64, u32)) -> bool {
        let found = self.ordered.binary_search_by_key(&at, place).ok();
        let job = found.and_then(|n| self.ordered.get_mut(n));
        let job = job.filter(|job| job.size > 0);
        job.map(|job| job.size = 0).is_some() || self.late.remove(&at).is_some()
    }

    /// Removes the job that was submitted first; of several at one instant that of the first line.
    pub fn pop(&mut self) -> Option<TraceJob> {
        loop {
            let first = self.ordered.front().map(place);
            let late = self.late.first_entry();
            let late = late.filter(|late| first.is_none_or(|first| *late.key() < first));
            let job = late.map(OccupiedEntry::remove);
            let job = job.or_else(|| self.ordered.pop_front())?;
            if job.size > 0 {
                return Some(job);
            }
        }
    }
}

fn place(job: &TraceJob) -> (i64, u32) {
    (job.submit, job.line)
}
