//! More of what a policy sees of its [`System`].

use super::{Job, System};

impl System {
    /// The waiting job of type i that `n` others of its type are older than. O(1).
    pub fn nth_waiting(&self, i: usize, n: usize) -> Option<Job> {
        let ticket = self.types[i].waiting.get(n)?;
        Some(self.job(ticket.slot()))
    }

    /// The number of the same job.
    pub(super) fn nth_number(&self, i: usize, n: usize) -> Option<u64> {
        self.types[i].waiting.get(n).map(|ticket| ticket.number())
    }

    /// The waiting job of type i that arrived last. O(1).
    pub fn youngest(&self, i: usize) -> Option<Job> {
        let ticket = self.types[i].waiting.back()?;
        Some(self.job(ticket.slot()))
    }
}
