//! Jobs of one class, of which the oldest run: what rules with preemption keep of each class.

use std::collections::VecDeque;

use super::{Job, System};

/// The jobs of a class with their types; the first so many of them run.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    /// In order of arrival.
    pub jobs: VecDeque<(usize, Job)>,
    /// How many run.
    pub count: usize,
}

impl Served {
    /// Returns how many do not run.
    pub fn waiting(&self) -> usize {
        self.jobs.len() - self.count
    }

    /// Stops the youngest that run, until no more than so many do.
    pub fn stop(&mut self, target: usize, system: &mut System) {
        while self.count > target {
            self.count -= 1;
            let (i, job) = self.jobs[self.count];
            system.stop_job(i, job);
        }
    }

    /// Starts the oldest that wait, until so many run. What is chosen fits, but where others use the server.
    pub fn start(&mut self, target: usize, system: &mut System) {
        while self.count < target
            && let Some(&(i, job)) = self.jobs.get(self.count)
            && system.fits(i)
        {
            system.start_job(i, job);
            self.count += 1;
        }
    }

    /// The job of this number, which ran, has left the system.
    pub fn leave(&mut self, number: u64) {
        let mut running = self.jobs.iter().take(self.count);
        if let Some(place) = running.position(|(_, job)| job.number == number) {
            self.jobs.remove(place);
            self.count -= 1;
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.jobs.clear();
        self.count = 0;
    }
}
