use super::{Job, System};

/// Which of the oldest jobs in the system have been taken into a window, in order of arrival.
///
/// Jobs of a type enter in order, and every running job is in the window; so a count by type suffices,
/// and the next job is the oldest among the first of each type outside. No queue is scanned: O(K) a
/// job.
#[derive(Clone, Debug)]
pub(super) struct Oldest {
    /// By type.
    inside: Vec<u32>,
}

impl Oldest {
    pub fn new(types: usize) -> Self {
        Oldest {
            inside: vec![0; types],
        }
    }

    /// Takes the oldest job that is not inside: its type, and itself.
    pub fn take(&mut self, system: &System) -> Option<(usize, Job)> {
        let place = |i: usize| (self.inside[i] - system.running(i)) as usize;
        let heads =
            (0..self.inside.len()).filter_map(|i| Some((system.nth_number(i, place(i))?, i)));
        let (_, i) = heads.min()?;
        let job = system.nth_waiting(i, place(i))?;
        self.inside[i] += 1;
        Some((i, job))
    }

    /// A job of type i that was inside has left the system.
    pub fn leave(&mut self, i: usize) {
        self.inside[i] -= 1;
    }
}
