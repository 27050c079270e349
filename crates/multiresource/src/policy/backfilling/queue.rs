use super::choices::{Backfilling, PriorityClasses};
use super::estimates::SizeEstimates;
use super::estimator::LearnedRuntimes;
use super::running::{Running, Waiting};
use super::shortest::MinEstimateTree;
use crate::policy::{Event, Information, Job, System};
use crate::workload::Workload;

/// A queue of waiting jobs with an order and an estimate, which is told of all events and starts
/// all jobs. All jobs of a type need the same capacity, so it is enough to check the first ones.
pub(in crate::policy) trait Queue: Clone + Send + 'static {
    /// The rank of a job. A lower rank comes first, and then the older job.
    type Rank: PartialOrd + Copy;

    /// If `true`, a fleet also decides once for simultaneous events, to find their first job.
    const DECIDES_ONCE: bool = false;

    fn knows(&self) -> Information;

    fn look(&mut self, event: Event, system: &System);

    fn restore_order(&mut self, _system: &System) {}

    /// Returns `true` if the head of the queue does not change when a new job of type `i` arrives.
    fn keeps_head(&mut self, i: usize, head: (usize, u64), system: &System) -> bool;

    /// Returns `true` if the first job of type `i` gets a reservation because of its waiting time.
    fn is_overdue(&self, _i: usize) -> bool {
        false
    }

    fn first(&self, system: &System) -> Option<usize>;

    fn first_fitting(&self, system: &System) -> Option<usize>;

    /// Returns the rank and number of the first job of type `i`; [`u64::MAX`] if there is none.
    fn first_key(&self, i: usize, system: &System) -> (Self::Rank, u64);

    fn number(&self, i: usize, system: &System) -> Option<u64> {
        Some(self.first_key(i, system).1).filter(|number| *number != u64::MAX)
    }

    fn first_within(&self, i: usize, limit: f64) -> Option<Waiting>;

    fn key(&self, waiting: &Waiting) -> (Self::Rank, u64);

    fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System);

    fn start_first(&mut self, i: usize, servers: &[usize], system: &mut System) {
        let first = self.first_within(i, f64::MAX);
        self.start(first.expect("a job of the type waits"), servers, system);
    }

    fn running(&mut self) -> &mut Running;

    fn rebuild(&mut self, system: &System);

    fn ahead(&self, _i: usize, _job: Job) -> Option<usize> {
        None
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        None
    }
}

#[derive(Clone, Debug)]
pub(in crate::policy) struct TypeOrderQueue {
    order: PriorityClasses,
    lengths: SizeEstimates,
    jobs: Vec<MinEstimateTree>,
    running: Running,
}

impl TypeOrderQueue {
    pub(crate) fn new(choices: &Backfilling, workload: &Workload, servers: usize) -> Self {
        TypeOrderQueue {
            order: PriorityClasses::new(choices.order, workload),
            lengths: SizeEstimates::new(choices.estimates, workload),
            jobs: vec![MinEstimateTree::default(); workload.types().len()],
            running: Running::new(servers),
        }
    }
}

impl Queue for TypeOrderQueue {
    type Rank = usize;

    fn knows(&self) -> Information {
        self.lengths.estimates.knows()
    }

    #[inline]
    fn look(&mut self, event: Event, system: &System) {
        match event {
            Event::Arrival(i) => {
                let job = system.youngest(i).expect("the job that has come waits");
                self.jobs[i].push(job, self.lengths.of(job, i, system));
            }
            Event::Completion(_) => {
                self.running.ended(system);
            }
            Event::Clock(_) => {}
        }
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
        let (place, job, estimate) = self.jobs[i].oldest_within(limit)?;
        Some(Waiting {
            job_type: i,
            place,
            job,
            estimate,
        })
    }

    #[inline]
    fn key(&self, waiting: &Waiting) -> (usize, u64) {
        (self.order.rank(waiting.job_type), waiting.job.number)
    }

    #[inline]
    fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System) {
        self.jobs[waiting.job_type].remove(waiting.place);
        self.running.start(waiting, servers, system);
    }

    fn running(&mut self) -> &mut Running {
        &mut self.running
    }

    fn rebuild(&mut self, system: &System) {
        let lengths = &self.lengths;
        self.running
            .rebuild(system, |job, i| lengths.of(job, i, system));
        for (i, jobs) in self.jobs.iter_mut().enumerate() {
            *jobs = MinEstimateTree::default();
            for job in system.waiting_jobs(i) {
                jobs.push(job, lengths.of(job, i, system));
            }
        }
    }
}
