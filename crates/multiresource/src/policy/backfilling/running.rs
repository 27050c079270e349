use std::collections::HashMap;

use crate::policy::capacity::covers;
use crate::policy::{Job, System};

#[derive(Clone, Copy, Debug)]
pub(in crate::policy) struct Waiting {
    pub job_type: usize,
    pub place: usize,
    pub job: Job,
    pub estimate: f64,
}

/// The expected end \[time\], the number and the type of each job on each server, sorted by end.
#[derive(Clone, Debug, Default)]
pub(in crate::policy) struct Running {
    by_server: Vec<Vec<(f64, u64, usize)>>,
}

impl Running {
    pub(crate) fn new(servers: usize) -> Self {
        Running {
            by_server: vec![Vec::new(); servers],
        }
    }

    pub(crate) fn ended(&mut self, system: &System) -> f64 {
        let (ended, mut end) = (system.ended(), f64::NAN);
        for &n in system.freed() {
            let jobs = &mut self.by_server[n];
            let place = jobs.iter().position(|(_, own, _)| *own == ended);
            let place = place.expect("the job that has ended was started here");
            (end, ..) = jobs.remove(place);
        }
        end
    }

    pub(crate) fn start(&mut self, waiting: Waiting, servers: &[usize], system: &mut System) {
        let Waiting { job_type, job, .. } = waiting;
        system.start_job_on(job_type, job, servers);
        for &n in servers {
            self.add(n, job_type, job, system.now() + waiting.estimate);
        }
    }

    pub(crate) fn on(&self, n: usize) -> &[(f64, u64, usize)] {
        &self.by_server[n]
    }

    pub(crate) fn add(&mut self, n: usize, i: usize, job: Job, end: f64) {
        let own = &mut self.by_server[n];
        let place = own.partition_point(|(other, ..)| *other <= end);
        own.insert(place, (end, job.number, i));
    }

    /// Returns the time at which a job of type `i` is expected to fit on server `n`, and sets
    /// `free` to the free units of each resource at that time, including the units for this job.
    pub(crate) fn earliest_fit(
        &self,
        i: usize,
        n: usize,
        free: &mut Vec<u64>,
        system: &System,
    ) -> f64 {
        let demand = system.demand(i);
        free.clear();
        free.extend((0..demand.len()).map(|j| system.free_on(n, j)));
        // Without a device for it, a job waits even if there are enough free units.
        let mut from = if system.fits_on(i, n) {
            system.now()
        } else {
            f64::INFINITY
        };
        for (end, _, job_type) in &self.by_server[n] {
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

    pub(crate) fn forget(&mut self) {
        self.by_server.iter_mut().for_each(Vec::clear);
    }

    /// Creates the list again. Known jobs keep their end, and others end after `left` \[time\].
    pub(crate) fn rebuild(&mut self, system: &System, left: impl Fn(Job, usize) -> f64) {
        let known = self.by_server.iter_mut().flat_map(|own| own.drain(..));
        let known: HashMap<u64, f64> = known.map(|(end, number, _)| (number, end)).collect();
        for i in 0..system.types() {
            for job in system.running_jobs(i) {
                let estimate = || system.now() + left(job, i);
                let end = known.get(&job.number).copied().unwrap_or_else(estimate);
                for &n in system.places_of(job) {
                    self.add(n, i, job, end);
                }
            }
        }
    }
}
