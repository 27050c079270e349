//! What backfilling takes jobs to last: sizes, limits, estimates, or means.

use std::collections::HashMap;

use super::shortest::Shortest;
use crate::policy::room::covers;
use crate::policy::{Event, Job, Knows, System};
use crate::workload::Workload;

/// Users' estimates of their jobs' sizes.
///
/// The "f-model" of Mu'alem and Feitelson, IEEE TPDS 12(6), 2001: with an inflation f ≥ 1 a job
/// of size S is said to take `S·(1 + (f−1)·u)`, u uniform in \[0, 1); with f = 1 sizes are known
/// exactly. u is a hash of the job's number: rules draw no random numbers, and all rules get the same
/// estimates.
///
/// Where nothing is known of a job but its type, it is said to take that type's mean size; it may then run on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimates {
    /// Sizes, times up to this f.
    Inflated(f64),
    /// The types' mean sizes.
    Means,
    /// What came with the jobs: [what is known](crate::workload::Known), limits or sizes.
    Limits,
}

impl Estimates {
    /// Returns what a rule has to know of jobs for them.
    pub fn knows(self) -> Knows {
        match self {
            Estimates::Inflated(_) => Knows::Sizes,
            Estimates::Means => Knows::Means,
            Estimates::Limits => Knows::Estimates,
        }
    }
}

/// The estimate of a job of this size.
pub(in crate::policy) fn inflated(f: f64, job: Job, size: f64) -> f64 {
    if f > 1.0 {
        size * (1.0 + (f - 1.0) * uniform(job.number))
    } else {
        size
    }
}

/// A number in \[0, 1) for each job: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn uniform(number: u64) -> f64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Jobs by their estimates: the waiting ones of each type, and when the running ones will have ended, by server.
///
/// Its owner reports what comes and ends, and starts jobs through it.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Estimated {
    pub estimates: Estimates,
    /// The types' mean sizes \[time\].
    means: Vec<f64>,
    /// Waiting jobs, by type.
    queues: Vec<Shortest>,
    /// By server: estimated end, number and type of the running jobs, by estimated end.
    running: Vec<Vec<(f64, u64, usize)>>,
}

/// A waiting job with its estimate \[time\], and its place among those of its type.
#[derive(Clone, Copy, Debug)]
pub(in crate::policy) struct Waiting {
    pub job_type: usize,
    place: usize,
    pub job: Job,
    pub estimate: f64,
}

impl Estimated {
    pub fn new(estimates: Estimates, workload: &Workload, servers: usize) -> Self {
        let means = workload.types().iter().map(|t| t.mean_size());
        Estimated {
            estimates,
            means: means.collect(),
            queues: vec![Shortest::default(); workload.types().len()],
            running: vec![Vec::new(); servers],
        }
    }

    /// Returns the estimate of what is left of a job of type i \[time\]: by its mean of a whole one.
    pub fn of(&self, job: Job, i: usize, system: &System) -> f64 {
        match self.estimates {
            Estimates::Inflated(f) => inflated(f, job, system.work_left(job)),
            Estimates::Means => self.means[i],
            // Finite: of a job that came without a limit it is known that it ends.
            Estimates::Limits => system.limit_left(job).min(f64::MAX),
        }
    }

    /// Takes in what has happened.
    pub fn look(&mut self, event: Event, system: &System) {
        match event {
            Event::Arrival(i) => {
                let job = system.youngest(i).expect("the job that has come waits");
                let estimate = self.of(job, i, system);
                self.queues[i].push(job, estimate);
            }
            Event::Completion(_) => {
                let ended = system.ended();
                for &n in system.freed() {
                    // Nearly always among the first: they are in order of estimated ends.
                    let place = self.running[n].iter().position(|(_, own, _)| *own == ended);
                    self.running[n].remove(place.expect("the job that has ended was started here"));
                }
            }
            Event::Clock(_) => {}
        }
    }

    /// The oldest waiting job of type i whose estimate is within the limit.
    #[inline]
    pub fn oldest_within(&self, i: usize, limit: f64) -> Option<Waiting> {
        let (place, job, estimate) = self.queues[i].oldest_within(limit)?;
        Some(Waiting {
            job_type: i,
            place,
            job,
            estimate,
        })
    }

    /// Starts this job on these servers.
    pub fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System) {
        let Waiting { job_type, job, .. } = waiting;
        self.queues[job_type].remove(waiting.place);
        system.start_job_on(job_type, job, servers);
        for &n in servers {
            self.add(n, job_type, job, system.now() + waiting.estimate);
        }
    }

    /// Starts the oldest waiting job of type i on these servers.
    pub fn start_oldest(&mut self, i: usize, servers: &[usize], system: &mut System) {
        let oldest = self.oldest_within(i, f64::MAX);
        self.start(oldest.expect("a job of the type waits"), servers, system);
    }

    /// A job of type i runs on server n, and is estimated to end then.
    fn add(&mut self, n: usize, i: usize, job: Job, end: f64) {
        let place = self.running[n].partition_point(|(other, ..)| *other <= end);
        self.running[n].insert(place, (end, job.number, i));
    }

    /// When there is room for one more job of type i on server n by the estimates; and what is free then, of each
    /// resource, together with its room.
    pub fn room_for(&self, i: usize, n: usize, free: &mut Vec<u64>, system: &System) -> f64 {
        let demand = system.demand(i);
        free.clear();
        free.extend((0..demand.len()).map(|j| system.free_on(n, j)));
        let mut from = if covers(free, demand) {
            system.now()
        } else {
            f64::INFINITY
        };
        for (end, _, job_type) in &self.running[n] {
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

    /// Jobs that others started are taken to have started now, where nothing is known but their types.
    pub fn forget_running(&mut self) {
        self.running.iter_mut().for_each(Vec::clear);
    }

    /// What waits and runs now; of the jobs that were started here it is known when they will have ended.
    pub fn look_anew(&mut self, system: &System) {
        let known = self.running.iter_mut().flat_map(|own| own.drain(..));
        let known: HashMap<u64, f64> = known.map(|(end, number, _)| (number, end)).collect();
        for i in 0..self.queues.len() {
            self.queues[i] = Shortest::default();
            for job in system.waiting_jobs(i) {
                let estimate = self.of(job, i, system);
                self.queues[i].push(job, estimate);
            }
            for job in system.running_jobs(i) {
                let estimate = || system.now() + self.of(job, i, system);
                let end = known.get(&job.number).copied().unwrap_or_else(estimate);
                for &n in system.places_of(job) {
                    self.add(n, i, job, end);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of a million of them, within 4 standard errors.
    #[test]
    fn hashes_of_numbers_are_uniform() {
        let count = 1_000_000;
        let all = (0..count).map(uniform);
        let mean = all.clone().sum::<f64>() / count as f64;
        let square = all.clone().map(|u| u * u).sum::<f64>() / count as f64;
        assert!(
            (mean - 0.5).abs() < 4.0 * (1.0_f64 / 12.0 / 1e6).sqrt(),
            "{mean}"
        );
        assert!((square - 1.0 / 3.0).abs() < 4.0 * (4.0_f64 / 45.0 / 1e6).sqrt());
        assert!(all.into_iter().all(|u| (0.0..1.0).contains(&u)));
    }
}
