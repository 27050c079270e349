use std::sync::Arc;

use super::choices::Backfilling;
use super::estimates::{Estimates, SizeEstimates};
use super::estimator::{Estimator, JobFacts, LearnedRuntimes};
use super::priority::Priority;
use super::queue::Queue;
use super::running::{Running, Waiting};
use crate::policy::{Event, Information, Job, System};
use crate::workload::Workload;

/// The source of the estimates that order the queue.
#[derive(Clone, Debug)]
pub enum EstimateSource {
    /// The estimates are learned from the jobs that have completed.
    Estimator(Box<Learning>),
    /// A table of estimates \[time\]. The number of a job is its index in the table.
    Table(Arc<[f64]>),
}

/// An estimator that learns from completed jobs, by number if they end together.
#[derive(Clone, Debug)]
pub struct Learning {
    estimator: Estimator,
    noted: Vec<(u64, JobFacts, f64)>,
    at: f64,
}

impl From<Estimator> for EstimateSource {
    fn from(estimator: Estimator) -> Self {
        EstimateSource::Estimator(Box::new(Learning {
            estimator,
            noted: Vec::new(),
            at: 0.0,
        }))
    }
}

impl Learning {
    fn note(&mut self, number: u64, facts: JobFacts, ran: f64, now: f64) {
        if now > self.at {
            self.learn_noted();
            self.at = now;
        }
        self.noted.push((number, facts, ran));
    }

    fn learn_noted(&mut self) {
        self.noted.sort_by_key(|(number, ..)| *number);
        for (_, facts, ran) in self.noted.drain(..) {
            self.estimator.learn(&facts, ran, self.at);
        }
    }

    fn learned(&self) -> LearnedRuntimes {
        let mut all = self.clone();
        all.learn_noted();
        all.estimator.learned()
    }
}

impl EstimateSource {
    fn of(&self, job: Job, facts: &JobFacts) -> f64 {
        match self {
            EstimateSource::Estimator(learning) => learning.estimator.estimate(facts),
            EstimateSource::Table(table) => table[job.number as usize],
        }
    }
}

/// A queue that is ordered by a [`Priority`]. Overdue jobs are at the front, in order of arrival.
/// The jobs of each type are kept sorted. The first of all jobs is found in `O(K)`, and the first
/// job within a limit in `O(K + jobs passed over)`. If the order depends on the time, each decision
/// passes through all jobs and moves the few that have changed places: 30 µs for 10^4 jobs.
#[derive(Clone, Debug)]
pub(super) struct JobOrderQueue {
    priority: Priority,
    longest_wait: f64,
    lengths: SizeEstimates,
    guess: EstimateSource,
    /// The units of the only resource, or else the dominant share of each type.
    shares: Vec<f64>,
    dominant: Vec<f64>,
    lists: Vec<Vec<Entry>>,
    running: Running,
    due: f64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: f64,
    scale: f64,
    estimate: f64,
    job: Job,
}

const OVERDUE: f64 = f64::NEG_INFINITY;

impl JobOrderQueue {
    pub(super) fn new(
        choices: &Backfilling,
        priority: Priority,
        guess: EstimateSource,
        workload: &Workload,
        servers: usize,
    ) -> Self {
        let dominant = workload.dominant_shares();
        let types = workload.types().iter();
        let units = types.map(|job| f64::from(job.nodes()) * job.units()[0] as f64);
        let shares = match workload.resources() {
            // With integers, two areas that are equal have exactly the same value.
            [_] => units.collect(),
            _ => dominant.clone(),
        };
        JobOrderQueue {
            priority,
            longest_wait: choices.longest_wait.unwrap_or(f64::INFINITY),
            lengths: SizeEstimates::new(choices.estimates, workload),
            guess,
            shares,
            lists: vec![Vec::new(); dominant.len()],
            dominant,
            running: Running::new(servers),
            due: f64::INFINITY,
        }
    }

    fn facts(&self, i: usize, job: Job, system: &System) -> JobFacts {
        JobFacts {
            user: system.user(job),
            limit: system.limit_of(job),
            share: self.dominant[i],
            submitted: job.arrived,
        }
    }

    fn enter(&mut self, i: usize, job: Job, system: &System) {
        let mut estimate = self.lengths.of(job, i, system);
        let mut ordered = estimate;
        if self.lengths.estimates == Estimates::Limits {
            ordered = self.guess.of(job, &self.facts(i, job, system));
            // For a job without a limit, the estimate is the best information that is available.
            if estimate == f64::MAX {
                estimate = ordered.min(f64::MAX);
            }
        }
        let scale = self.priority.scale(ordered, self.shares[i]);
        let entry = Entry {
            key: self.key(scale, job, system),
            scale,
            estimate,
            job,
        };
        let list = &mut self.lists[i];
        let place = list.partition_point(|other| other.is_before(&entry));
        list.insert(place, entry);
        if entry.key != OVERDUE {
            self.due = self.due.min(job.arrived + self.longest_wait);
        }
    }

    #[inline]
    fn key(&self, scale: f64, job: Job, system: &System) -> f64 {
        let waited = system.now() - job.arrived;
        if waited > self.longest_wait {
            OVERDUE
        } else {
            self.priority.key(scale, waited)
        }
    }

    pub(super) fn in_order(&self) -> Vec<Waiting> {
        let mut all = Vec::new();
        for (i, list) in self.lists.iter().enumerate() {
            let places = list.iter().enumerate();
            all.extend(places.map(|(place, entry)| (entry.key, entry.waiting(i, place))));
        }
        all.sort_unstable_by(|(a, one), (b, other)| {
            a.total_cmp(b).then(one.job.number.cmp(&other.job.number))
        });
        all.into_iter().map(|(_, waiting)| waiting).collect()
    }

    fn first_of(&self, is_eligible: impl Fn(usize) -> bool) -> Option<usize> {
        let lists = self.lists.iter().enumerate();
        let heads = lists.filter_map(|(i, list)| Some((i, list.first()?)));
        let eligible = heads.filter(|(i, _)| is_eligible(*i));
        let first = eligible.reduce(|a, b| if b.1.is_before(a.1) { b } else { a });
        first.map(|(i, _)| i)
    }
}

impl Entry {
    #[inline]
    fn is_before(&self, other: &Entry) -> bool {
        self.rank() < other.rank()
    }

    #[inline]
    fn rank(&self) -> (f64, u64) {
        (self.key, self.job.number)
    }

    fn waiting(&self, job_type: usize, place: usize) -> Waiting {
        Waiting {
            job_type,
            place,
            job: self.job,
            estimate: self.estimate,
        }
    }
}

impl Queue for JobOrderQueue {
    type Rank = f64;

    const DECIDES_ONCE: bool = true;

    fn knows(&self) -> Information {
        self.lengths.estimates.knows()
    }

    fn look(&mut self, event: Event, system: &System) {
        match event {
            Event::Arrival(i) => {
                if let EstimateSource::Estimator(estimator) = &mut self.guess {
                    estimator.learn_noted();
                }
                let job = system.youngest(i).expect("the job that has come waits");
                self.enter(i, job, system);
            }
            Event::Completion(i) => {
                self.running.ended(system);
                let (job, ran) = system.ended;
                let facts = self.facts(i, job, system);
                if let EstimateSource::Estimator(estimator) = &mut self.guess {
                    estimator.note(job.number, facts, ran, system.now());
                }
            }
            Event::Clock(_) => {}
        }
    }

    fn restore_order(&mut self, system: &System) {
        if !self.priority.changes_with_time() && system.now() <= self.due {
            return;
        }
        let mut lists = std::mem::take(&mut self.lists);
        self.due = f64::INFINITY;
        for list in lists.iter_mut() {
            for n in 0..list.len() {
                let mut entry = list[n];
                entry.key = self.key(entry.scale, entry.job, system);
                if entry.key != OVERDUE {
                    self.due = self.due.min(entry.job.arrived + self.longest_wait);
                }
                let mut place = n;
                while place > 0 && entry.is_before(&list[place - 1]) {
                    list[place] = list[place - 1];
                    place -= 1;
                }
                list[place] = entry;
            }
        }
        self.lists = lists;
    }

    fn keeps_head(&mut self, _i: usize, head: (usize, u64), system: &System) -> bool {
        self.restore_order(system);
        let first = self.first(system);
        first == Some(head.0) && self.number(head.0, system) == Some(head.1)
    }

    fn is_overdue(&self, i: usize) -> bool {
        let head = self.lists[i].first();
        head.is_some_and(|head| head.key == OVERDUE)
    }

    fn first(&self, _system: &System) -> Option<usize> {
        self.first_of(|_| true)
    }

    fn first_fitting(&self, system: &System) -> Option<usize> {
        self.first_of(|i| system.fits(i))
    }

    fn first_key(&self, i: usize, _system: &System) -> (f64, u64) {
        let head = self.lists[i].first();
        head.map_or((f64::INFINITY, u64::MAX), Entry::rank)
    }

    fn first_within(&self, i: usize, limit: f64) -> Option<Waiting> {
        let list = &self.lists[i];
        let place = list.iter().position(|entry| entry.estimate <= limit)?;
        Some(list[place].waiting(i, place))
    }

    fn key(&self, waiting: &Waiting) -> (f64, u64) {
        self.lists[waiting.job_type][waiting.place].rank()
    }

    fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System) {
        self.lists[waiting.job_type].remove(waiting.place);
        self.running.start(waiting, servers, system);
    }

    fn running(&mut self) -> &mut Running {
        &mut self.running
    }

    fn ahead(&self, i: usize, job: Job) -> Option<usize> {
        let own = |entry: &&Entry| entry.job.number == job.number;
        let own = self.lists[i].iter().find(own)?;
        let before = |list: &Vec<Entry>| list.partition_point(|other| other.is_before(own));
        Some(self.lists.iter().map(before).sum())
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        match &self.guess {
            EstimateSource::Estimator(learning) => Some(learning.learned()),
            EstimateSource::Table(_) => None,
        }
    }

    fn rebuild(&mut self, system: &System) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.due = f64::INFINITY;
        for i in 0..self.lists.len() {
            for job in system.waiting_jobs(i) {
                self.enter(i, job, system);
            }
        }
        let mut running = std::mem::take(&mut self.running);
        running.rebuild(system, |job, i| {
            let left = self.lengths.of(job, i, system);
            if left != f64::MAX {
                return left;
            }
            let whole = self.guess.of(job, &self.facts(i, job, system));
            (whole - system.ran(job)).max(0.0)
        });
        self.running = running;
    }
}
