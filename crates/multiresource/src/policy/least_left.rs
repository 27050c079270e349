use super::capacity::{covers, reduce};
use super::rule::{NamedRule, require_known};
use super::{Event, Information, Job, Policy, System, Unsuitable};
use crate::workload::Workload;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "least-left-first",
    aliases: &["srpt"],
    description: "serves the jobs with the smallest value of remaining size × dominant share, and skips jobs that do not fit",
    preempts: true,
    information: Information::Sizes,
    settings: |_, _| {
        Err(Unsuitable(
            "it is a baseline that needs the remaining size of each job, which is not available in a policy file".into(),
        ))
    },
    build: Some(|workload, _| {
        require_known(workload, true)?;
        Ok(Box::new(LeastLeftFirst::new(workload)))
    }),
    ..NamedRule::PLAIN
};

/// Serves the jobs with the smallest remaining size times dominant share, with preemption, and
/// skips jobs that do not fit. Ties are broken by type and then by age. If there is only one type,
/// which needs one server for each job, this is SRPT-k. The source is Grosof, Scully,
/// Harchol-Balter, "SRPT for multiserver systems", Performance Evaluation 127–128, 2018, for jobs
/// that need one server each. Sorting by size times share is known as smallest area first. With
/// different needs, servers may be idle and large jobs may wait forever. A decision takes `O(K)`
/// per running job, and up to `O(n)` for one of `n` jobs that starts to wait.
#[derive(Clone, Debug)]
pub struct LeastLeftFirst {
    queues: Vec<Queue>,
    free: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    share: f64,
    /// The jobs in descending order of their remaining work.
    waiting: Vec<(f64, Job)>,
    /// The jobs in ascending order of their remaining work, which does not change over time.
    running: Vec<Job>,
    /// The number of waiting jobs, from the end, that start at a decision.
    starts: usize,
    /// The number of running jobs, from the beginning, that continue.
    stays: usize,
}

impl LeastLeftFirst {
    pub(super) fn new(workload: &Workload) -> Self {
        let queue = |share: f64| Queue {
            share,
            ..Queue::default()
        };
        LeastLeftFirst {
            queues: workload.dominant_shares().into_iter().map(queue).collect(),
            free: Vec::new(),
        }
    }

    fn choose(&mut self, system: &System) {
        self.free.clear();
        let resources = 0..system.capacity().len();
        self.free.extend(resources.map(|j| system.left(j)));
        for queue in &mut self.queues {
            (queue.starts, queue.stays) = (0, 0);
        }
        loop {
            let fits = |i: &usize| covers(&self.free, system.demand(*i));
            let fitting = (0..self.queues.len()).filter(fits);
            let next = fitting.filter_map(|i| {
                let (left, waits) = self.queues[i].next(system)?;
                Some((left * self.queues[i].share, i, waits))
            });
            let Some((_, i, waits)) = next.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                return;
            };
            match waits {
                true => self.queues[i].starts += 1,
                false => self.queues[i].stays += 1,
            }
            reduce(&mut self.free, system.demand(i));
        }
    }
}

impl Queue {
    fn wait(&mut self, left: f64, job: Job) {
        let after = |own: &(f64, Job)| (own.0, own.1.number) > (left, job.number);
        let place = self.waiting.partition_point(after);
        self.waiting.insert(place, (left, job));
    }

    fn next(&self, system: &System) -> Option<(f64, bool)> {
        let runs = self.running.get(self.stays);
        let runs = runs.map(|job| system.work_left(*job));
        let place = self.waiting.len().checked_sub(self.starts + 1);
        let waits = place.map(|n| self.waiting[n].0);
        match (runs, waits) {
            (Some(runs), Some(waits)) if waits < runs => Some((waits, true)),
            (None, Some(waits)) => Some((waits, true)),
            (runs, _) => Some((runs?, false)),
        }
    }
}

impl Policy for LeastLeftFirst {
    fn preempts(&self) -> bool {
        true
    }

    fn information(&self) -> Information {
        Information::Sizes
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => {
                if let Some(job) = system.youngest(i) {
                    self.queues[i].wait(system.work_left(job), job);
                }
            }
            Event::Completion(i) => {
                let ended = system.ended();
                self.queues[i].running.retain(|job| job.number != ended);
            }
            Event::Clock(_) => {}
        }
        self.decide(system);
    }

    fn decide(&mut self, system: &mut System) {
        self.choose(system);
        let mut moved = Vec::new();
        for (i, queue) in self.queues.iter_mut().enumerate() {
            // The jobs that start must be removed before the jobs that stop are added.
            let rest = queue.waiting.len() - queue.starts;
            moved.extend(queue.waiting.drain(rest..).map(|(_, job)| (i, job)));
            for job in queue.running.split_off(queue.stays) {
                let left = system.work_left(job);
                system.stop_job(i, job);
                queue.wait(left, job);
            }
        }
        for (i, job) in moved {
            let left = system.work_left(job);
            let running = &mut self.queues[i].running;
            let place = running.partition_point(|other| system.work_left(*other) <= left);
            running.insert(place, job);
            system.start_job(i, job);
        }
    }

    fn take_over(&mut self, system: &mut System) {
        system.stop_all();
        for (i, queue) in self.queues.iter_mut().enumerate() {
            queue.waiting.clear();
            queue.running.clear();
            for job in system.waiting_jobs(i) {
                queue.wait(system.work_left(job), job);
            }
        }
        self.decide(system);
    }
}
