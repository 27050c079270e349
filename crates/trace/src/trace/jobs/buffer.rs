//! Jobs in the order of their submission.

use std::collections::{BTreeMap, VecDeque};

use crate::trace::Job;

/// Jobs that wait until no earlier one is expected.
///
/// Those that come in order stand in a queue; only the others pay for being sorted.
pub(super) struct Buffer {
    ordered: VecDeque<Job>,
    late: BTreeMap<(i64, u32), Job>,
}

impl Buffer {
    /// Room for so many jobs, of which memory is taken as they come: a queue that grew by copying itself would take it
    /// twice.
    pub fn new(jobs: usize) -> Self {
        Buffer {
            ordered: VecDeque::with_capacity(jobs),
            late: BTreeMap::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.ordered.len() + self.late.len()
    }

    pub fn push(&mut self, job: Job) {
        match self.ordered.back() {
            Some(last) if place(&job) < place(last) => drop(self.late.insert(place(&job), job)),
            _ => self.ordered.push_back(job),
        }
    }

    /// Removes the job of this place; returns whether it was there. In the queue its size of 0 marks it.
    pub fn remove(&mut self, at: (i64, u32)) -> bool {
        if self.late.remove(&at).is_some() {
            return true;
        }
        let found = self.ordered.binary_search_by_key(&at, place).ok();
        let job = found.and_then(|n| self.ordered.get_mut(n));
        let job = job.filter(|job| job.size > 0);
        job.map(|job| job.size = 0).is_some()
    }

    /// Takes out the job that was submitted first; of several at one instant that of the first line.
    pub fn pop(&mut self) -> Option<Job> {
        loop {
            let job = self.pop_any()?;
            if job.size > 0 {
                return Some(job);
            }
        }
    }

    fn pop_any(&mut self) -> Option<Job> {
        let late = self.late.first_key_value().map(|(place, _)| *place);
        match (late, self.ordered.front()) {
            (Some(late), Some(ordered)) if late > place(ordered) => self.ordered.pop_front(),
            (Some(_), _) => self.late.pop_first().map(|(_, job)| job),
            (None, _) => self.ordered.pop_front(),
        }
    }
}

fn place(job: &Job) -> (i64, u32) {
    (job.submit, job.line)
}
