use std::collections::HashMap;

use super::estimates::Estimates;
use super::shortest::Shortest;
use super::{Job, System};

/// Jobs by their estimates: the waiting ones of each type, and when the running ones will have ended.
///
/// Whoever keeps it says what comes and ends, and starts jobs through it.
#[derive(Clone, Debug)]
pub(super) struct Estimated {
    pub estimates: Estimates,
    /// Waiting jobs, by type.
    queues: Vec<Shortest>,
    /// Running jobs: estimated end, number and type, by estimated end.
    running: Vec<(f64, u64, usize)>,
}

impl Estimated {
    pub fn new(estimates: Estimates, types: usize) -> Self {
        Estimated {
            estimates,
            queues: vec![Shortest::default(); types],
            running: Vec::new(),
        }
    }

    /// The youngest job of type i has just come: its estimate.
    pub fn arrived(&mut self, i: usize, system: &System) -> f64 {
        let job = system.youngest(i).expect("the job that has come waits");
        let estimate = self.estimates.of(job, i, system);
        self.queues[i].push(job, estimate);
        estimate
    }

    /// The job that ended last was started here.
    pub fn ended(&mut self, system: &System) {
        let number = system.ended();
        // Nearly always among the first: they are in order of estimated ends.
        let place = self.running.iter().position(|(_, n, _)| *n == number);
        self.running
            .remove(place.expect("the job that has ended was started here"));
    }

    /// The number of the oldest waiting job of type i whose estimate is within the limit.
    pub fn oldest_within(&self, i: usize, limit: f64) -> Option<u64> {
        let (_, job, _) = self.queues[i].oldest_within(limit)?;
        Some(job.number)
    }

    /// Starts that job; returns its estimate.
    pub fn start(&mut self, i: usize, limit: f64, system: &mut System) -> f64 {
        let oldest = self.queues[i].oldest_within(limit);
        let (place, job, estimate) = oldest.expect("a job within the limit waits");
        self.queues[i].remove(place);
        system.start_job(i, job);
        self.keep(i, job, system.now() + estimate);
        estimate
    }

    /// When there is room for one more job of type i by the estimates; and what is free then, of each
    /// resource, together with its room.
    pub fn room_for(&self, i: usize, free: &mut [u64], system: &System) -> f64 {
        let demand = system.demand(i);
        for (j, free) in free.iter_mut().enumerate() {
            *free = system.free(j);
        }
        let mut from = f64::INFINITY;
        for (end, _, job_type) in &self.running {
            if *end > from {
                break;
            }
            let freed = free.iter_mut().zip(system.demand(*job_type));
            freed.for_each(|(free, d)| *free += d);
            if from.is_infinite() && covers(free, demand) {
                from = *end;
            }
        }
        from
    }

    /// Begins with what waits and runs now. Jobs that others started are taken to have started now, where
    /// nothing is known but their types.
    pub fn take_over(&mut self, system: &System) {
        self.running.clear();
        self.look_anew(system);
    }

    /// What waits and runs now; of the jobs that were started here it is known when they will have ended.
    pub fn look_anew(&mut self, system: &System) {
        let known = self.running.drain(..).map(|(end, number, _)| (number, end));
        let known: HashMap<u64, f64> = known.collect();
        for i in 0..self.queues.len() {
            self.queues[i] = Shortest::default();
            for job in system.waiting_jobs(i) {
                let estimate = self.estimates.of(job, i, system);
                self.queues[i].push(job, estimate);
            }
            for job in system.running_jobs(i) {
                let estimate = || system.now() + self.estimates.of(job, i, system);
                let end = known.get(&job.number).copied().unwrap_or_else(estimate);
                self.keep(i, job, end);
            }
        }
    }

    fn keep(&mut self, i: usize, job: Job, end: f64) {
        let place = self.running.partition_point(|(other, ..)| *other <= end);
        self.running.insert(place, (end, job.number, i));
    }
}

/// Whether there is so much of each resource.
pub(super) fn covers(room: &[u64], demand: &[u64]) -> bool {
    room.iter().zip(demand).all(|(room, d)| d <= room)
}
