use super::choices::{Backfilling, PriorityClasses};
use super::estimates::EstimatedJobs;
use super::estimator::LearnedRuntimes;
use super::running::{Running, Waiting};
use crate::policy::{Event, Information, Job, System};
use crate::workload::Workload;

/// A queue of waiting jobs that have an order and an estimate. All jobs of a type need the same
/// capacity, so it is enough to check the first job of each type.
pub(super) trait Queue: Clone + Send + 'static {
    /// The rank of a job. A lower rank comes first, and then the older job.
    type Rank: PartialOrd + Copy;

    /// If `true`, a fleet also makes a single decision for events that happen at the same time, so
    /// that the first of the jobs that arrive together can be found.
    const DECIDES_ONCE: bool = false;

    fn knows(&self) -> Information;

    fn look(&mut self, event: Event, system: &System);

    fn restore_order(&mut self, _system: &System) {}

    /// Returns `true` if the head of the queue does not change when a new job of type `i` arrives.
    fn keeps_head(&mut self, i: usize, head: (usize, u64), system: &System) -> bool;

    /// Returns `true` if the first job of type `i` has waited too long. It gets a reservation even
    /// if other jobs do not.
    fn is_overdue(&self, _i: usize) -> bool {
        false
    }

    fn first(&self, system: &System) -> Option<usize>;

    fn first_fitting(&self, system: &System) -> Option<usize>;

    /// Returns the rank and number of the first job of type `i`, or [`u64::MAX`] as the number if
    /// there is no such job.
    fn first_key(&self, i: usize, system: &System) -> (Self::Rank, u64);

    fn number(&self, i: usize, system: &System) -> Option<u64> {
        Some(self.first_key(i, system).1).filter(|number| *number != u64::MAX)
    }

    fn first_within(&self, i: usize, limit: f64) -> Option<Waiting>;

    fn key(&self, waiting: &Waiting) -> (Self::Rank, u64);

    fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System);

    fn running(&mut self) -> &mut Running;

    fn look_anew(&mut self, system: &System);

    fn ahead(&self, _i: usize, _job: Job) -> Option<usize> {
        None
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        None
    }
}

#[derive(Clone, Debug)]
pub(super) struct ArrivalQueue {
    order: PriorityClasses,
    jobs: EstimatedJobs,
}

impl ArrivalQueue {
    pub(super) fn new(choices: &Backfilling, workload: &Workload, servers: usize) -> Self {
        ArrivalQueue {
            order: PriorityClasses::new(choices.order, workload),
            jobs: EstimatedJobs::new(choices.estimates, workload, servers),
        }
    }
}

impl Queue for ArrivalQueue {
    type Rank = usize;

    fn knows(&self) -> Information {
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
