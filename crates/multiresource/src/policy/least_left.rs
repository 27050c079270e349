//! Shortest remaining work first, where sizes are known and jobs may be stopped: a yardstick, which no policy file has.

use super::room::{covers, reduce};
use super::rule::{NamedRule, require_known};
use super::{Event, Job, Knows, Policy, System, Unsuitable};
use crate::workload::Workload;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "least-left-first",
    aliases: &["srpt"],
    about: "of all jobs in the system those with the least size that is left × dominant share, each that fits",
    preempts: true,
    knows: Knows::Sizes,
    settings: |_, _| {
        Err(Unsuitable(
            "it is to compare with: no policy file has it, since it goes by what is left of each job".into(),
        ))
    },
    build: Some(|workload, _| {
        require_known(workload, true)?;
        Ok(Box::new(LeastLeftFirst::new(workload)))
    }),
    ..NamedRule::PLAIN
};

/// Of all jobs in the system, in ascending order of size left times dominant share, each that fits; of equals that of the first type, and
/// there the oldest. Preempts. Of one type that takes a server each this is SRPT-k.
///
/// Source: Grosof, Scully, Harchol-Balter, "SRPT for multiserver systems", Performance Evaluation 127–128, 2018, for jobs that need one
/// server each; the order by size times share is that of smallest area first. With jobs of different needs servers may stay idle, and
/// large jobs may wait for ever.
///
/// A decision takes O(K) for each job that runs, and O(n) moves of memory for one that begins to wait among n of its type.
#[derive(Clone, Debug)]
pub struct LeastLeftFirst {
    /// By type.
    queues: Vec<Queue>,
    /// Units of each resource that are left during a decision.
    room: Vec<u64>,
}

/// The jobs of a type.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// Dominant share.
    share: f64,
    /// In descending order of what is left, with that.
    waiting: Vec<(f64, Job)>,
    /// In ascending order of what is left, which time does not change.
    running: Vec<Job>,
    /// How many of those that wait start at a decision: the last ones.
    starts: usize,
    /// How many of those that run go on: the first ones.
    stays: usize,
}

impl LeastLeftFirst {
    /// The rule for this workload.
    pub fn new(workload: &Workload) -> Self {
        let queue = |share: f64| Queue {
            share,
            ..Queue::default()
        };
        LeastLeftFirst {
            queues: workload.dominant_shares().into_iter().map(queue).collect(),
            room: Vec::new(),
        }
    }

    /// Chooses who shall run.
    fn choose(&mut self, system: &System) {
        self.room.clear();
        let resources = 0..system.capacity().len();
        self.room.extend(resources.map(|j| system.left(j)));
        for queue in &mut self.queues {
            (queue.starts, queue.stays) = (0, 0);
        }
        loop {
            let fits = |i: &usize| covers(&self.room, system.demand(*i));
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
            reduce(&mut self.room, system.demand(i));
        }
    }

    fn carry_out(&mut self, system: &mut System) {
        let mut moved = Vec::new();
        for (i, queue) in self.queues.iter_mut().enumerate() {
            // Those that start are taken out before those that stop come in.
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
}

impl Queue {
    fn wait(&mut self, left: f64, job: Job) {
        let after = |own: &(f64, Job)| (own.0, own.1.number) > (left, job.number);
        let place = self.waiting.partition_point(after);
        self.waiting.insert(place, (left, job));
    }

    /// Returns what is left of the job that is next, and whether it waits now; of equals the running one.
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

    fn knows(&self) -> Knows {
        Knows::Sizes
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
        self.choose(system);
        self.carry_out(system);
    }

    /// From the beginning: nothing runs.
    fn take_over(&mut self, system: &mut System) {
        system.stop_all();
        for (i, queue) in self.queues.iter_mut().enumerate() {
            queue.waiting.clear();
            queue.running.clear();
            for job in system.waiting_jobs(i) {
                queue.wait(system.work_left(job), job);
            }
        }
        self.choose(system);
        self.carry_out(system);
    }
}
