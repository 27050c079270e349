use std::collections::VecDeque;

use super::{Job, System};

/// The jobs of a class in the order of arrival. The first `count` jobs are running.
#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    pub jobs: VecDeque<(usize, Job)>,
    pub count: usize,
}

impl Served {
    pub(super) fn stop(&mut self, target: usize, system: &mut System) {
        while self.count > target {
            self.count -= 1;
            let (i, job) = self.jobs[self.count];
            system.stop_job(i, job);
        }
    }

    pub(super) fn start(&mut self, target: usize, system: &mut System) {
        while self.count < target
            && let Some(&(i, job)) = self.jobs.get(self.count)
            && system.fits(i)
        {
            system.start_job(i, job);
            self.count += 1;
        }
    }

    /// Removes the running job of this number, which has left the system. `O(running)`.
    pub(super) fn leave(&mut self, number: u64) {
        let mut running = self.jobs.iter().take(self.count);
        if let Some(place) = running.position(|(_, job)| job.number == number) {
            self.jobs.remove(place);
            self.count -= 1;
        }
    }

    pub(super) fn clear(&mut self) {
        self.jobs.clear();
        self.count = 0;
    }
}
