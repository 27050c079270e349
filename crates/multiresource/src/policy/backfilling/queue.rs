//! What EASY backfilling needs to know of its queue; and queues in which jobs of a type are in order of arrival.

use super::choices::{Backfilling, Classes};
use super::estimates::Estimated;
use super::estimator::LearnedRuntimes;
use super::running::{Running, Waiting};
use crate::policy::{Event, Job, Knows, System};
use crate::workload::Workload;

/// Waiting jobs in an order, each with an estimate of its size; and when the running ones will have ended.
///
/// The first job of each type stands for all of it: they need the same room.
pub(super) trait Queue: Clone + Send + 'static {
    /// A job's rank in the order: those of the least come first, and of equals the oldest.
    type Rank: PartialOrd + Copy;

    /// Whether all that happens at one instant is decided on together on a fleet, too: among jobs that come together the
    /// first in the order is to be found.
    const DECIDES_ONCE: bool = false;

    /// Returns what it looks at of a job beside its type.
    fn knows(&self) -> Knows;

    /// Takes in what has happened.
    fn look(&mut self, event: Event, system: &System);

    /// Puts the jobs in the order of this instant, where it moves with time.
    fn settle(&mut self, _system: &System) {}

    /// Whether a job of type i that has just come changes nothing for the head of the queue.
    fn keeps_head(&mut self, i: usize, head: (usize, u64), system: &System) -> bool;

    /// Whether the first job of type i has a reservation where none are had by others: it has waited too long.
    fn is_overdue(&self, _i: usize) -> bool {
        false
    }

    /// Returns the type of the first job.
    fn first(&self, system: &System) -> Option<usize>;

    /// Returns the type of the first job of those that fit.
    fn first_fitting(&self, system: &System) -> Option<usize>;

    /// Returns the rank and the number of the first job of type i; [`u64::MAX`] where none waits.
    fn first_key(&self, i: usize, system: &System) -> (Self::Rank, u64);

    /// Returns the number of the first job of type i.
    fn number(&self, i: usize, system: &System) -> Option<u64> {
        Some(self.first_key(i, system).1).filter(|number| *number != u64::MAX)
    }

    /// Returns the first job of type i whose estimate is within the limit.
    fn first_within(&self, i: usize, limit: f64) -> Option<Waiting>;

    /// Returns the rank and the number of a job.
    fn key(&self, waiting: &Waiting) -> (Self::Rank, u64);

    /// Starts this job on these servers.
    fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System);

    /// Returns when the running jobs will have ended.
    fn running(&mut self) -> &mut Running;

    /// Sees what waits and runs now.
    fn look_anew(&mut self, system: &System);

    /// Returns how many waiting jobs are before this one of type i.
    fn ahead(&self, _i: usize, _job: Job) -> Option<usize> {
        None
    }

    /// Returns what was learned of jobs that have ended, where its estimates hang on that.
    fn learned(&self) -> Option<LearnedRuntimes> {
        None
    }
}

/// A queue in order of arrival, or of classes of types.
#[derive(Clone, Debug)]
pub(super) struct ByAge {
    order: Classes,
    jobs: Estimated,
}

impl ByAge {
    pub(super) fn new(choices: &Backfilling, workload: &Workload, servers: usize) -> Self {
        ByAge {
            order: Classes::new(choices.order, workload),
            jobs: Estimated::new(choices.estimates, workload, servers),
        }
    }
}

impl Queue for ByAge {
    /// The place of its class, and its number.
    type Rank = usize;

    fn knows(&self) -> Knows {
        self.jobs.lengths.estimates.knows()
    }

    #[inline]
    fn look(&mut self, event: Event, system: &System) {
        self.jobs.look(event, system);
    }

    #[inline]
    fn keeps_head(&mut self, i: usize, head: (usize, u64), _system: &System) -> bool {
        self.order.rank(i) >= self.order.rank(head.0)
    }

    #[inline]
    fn first(&self, system: &System) -> Option<usize> {
        self.order.first(system)
    }

    #[inline]
    fn first_fitting(&self, system: &System) -> Option<usize> {
        self.order.first_fitting(system)
    }

    #[inline]
    fn first_key(&self, i: usize, system: &System) -> (usize, u64) {
        let oldest = system.nth_number(i, 0).unwrap_or(u64::MAX);
        (self.order.rank(i), oldest)
    }

    #[inline]
    fn first_within(&self, i: usize, limit: f64) -> Option<Waiting> {
        self.jobs.oldest_within(i, limit)
    }

    #[inline]
    fn key(&self, waiting: &Waiting) -> (usize, u64) {
        (self.order.rank(waiting.job_type), waiting.job.number)
    }

    #[inline]
    fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System) {
        self.jobs.start(waiting, servers, system);
    }

    fn running(&mut self) -> &mut Running {
        &mut self.jobs.running
    }

    fn look_anew(&mut self, system: &System) {
        self.jobs.look_anew(system);
    }
}
