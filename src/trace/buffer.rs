//! Jobs put into the order of their submission, as far as a buffer reaches.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Job;

/// Jobs that wait until no earlier one is expected.
///
/// Those that come in order stand in a queue; only the others pay for being sorted.
pub(super) struct Buffer {
    ordered: VecDeque<Job>,
    late: BinaryHeap<Reverse<Late>>,
}

impl Buffer {
    /// Room for so many jobs, of which memory is taken as they come: a queue that grew by copying itself would take it
    /// twice.
    pub fn new(jobs: usize) -> Self {
        Buffer {
            ordered: VecDeque::with_capacity(jobs),
            late: BinaryHeap::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.ordered.len() + self.late.len()
    }

    pub fn push(&mut self, job: Job) {
        match self.ordered.back() {
            Some(last) if place(&job) < place(last) => self.late.push(Reverse(Late(job))),
            _ => self.ordered.push_back(job),
        }
    }

    /// The job that was submitted first; of several at one instant that of the first line.
    pub fn pop(&mut self) -> Option<Job> {
        let late_first = match (self.late.peek(), self.ordered.front()) {
            (Some(Reverse(Late(late))), Some(ordered)) => place(late) < place(ordered),
            (late, _) => late.is_some(),
        };
        match late_first {
            true => self.late.pop().map(|Reverse(Late(job))| job),
            false => self.ordered.pop_front(),
        }
    }
}

fn place(job: &Job) -> (i64, u32) {
    (job.submit, job.line)
}

/// A job, ordered by its place.
#[derive(PartialEq, Eq)]
struct Late(Job);

impl Ord for Late {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        place(&self.0).cmp(&place(&other.0))
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
