//! Changes of a real cluster that are not an [`Event`](super::Event), such as a canceled job, after
//! which [`Policy::changed`](super::Policy::changed) must be called.

use super::jobs::{Entry, MOST_JOBS, Ticket, WAITING};
use super::{Job, System};

impl System {
    /// Removes a waiting job of type `i`, in `O(waiting)`. Returns `false` if it is not waiting.
    pub fn withdraw(&mut self, i: usize, job: Job, now: f64) -> bool {
        self.advance(now);
        let Some(place) = self.where_it_waits(i, job) else {
            return false;
        };
        self.types[i].waiting.remove(place);
        self.queue_changed(i);
        self.queued.length -= 1;
        self.vacant.push(job.slot);
        self.types[i].present.jump(-1.0, now - self.origin);
        self.withdrawn += 1;
        self.account();
        true
    }

    /// Puts a removed job of type `i` back in its place. `limit` is infinite if it is unknown.
    pub fn restore(&mut self, i: usize, job: Job, limit: f64, now: f64) -> Job {
        self.advance(now);
        let entry = Entry::waiting(i, job.number, job.arrived, f64::NAN);
        let slot = self.settle(entry);
        let job = Job { slot, ..job };
        self.set_limit(job, limit);
        self.enqueue(i, job);
        self.queued.length += 1;
        self.types[i].present.jump(1.0, now - self.origin);
        self.withdrawn -= 1;
        self.account();
        job
    }

    /// Adds a job of type `i` that has run for `ran` \[time\], in a fleet on these servers, with
    /// the next number and without an [action](System::actions). `limit` is for the whole job,
    /// infinite if unknown. `None`, without effect, if it does not fit: use [`System::occupy`].
    pub fn adopt(
        &mut self,
        i: usize,
        [ran, limit]: [f64; 2],
        servers: &[usize],
        now: f64,
    ) -> Option<Job> {
        self.advance(now);
        let fits = match &self.hosts {
            None => self.server.fits(i),
            Some(hosts) => hosts.takes(i, servers),
        };
        if !fits || self.entries.len() - self.vacant.len() >= MOST_JOBS {
            return None;
        }
        let job = self.arrive_limited(i, now, limit);
        let noted = self.actions.len();
        self.start_job_on(i, job, servers);
        self.actions.truncate(noted);
        self.entries[job.slot as usize].started = now - ran;
        Some(job)
    }

    /// Returns a running job of type `i` to its place in the queue, even if the rule may not
    /// preempt. `false`, without effect, if it does not run.
    pub fn put_back(&mut self, i: usize, job: Job, now: f64) -> bool {
        self.advance(now);
        if !self.runs(job) {
            return false;
        }
        self.wait_again(i, job);
        self.give_capacity(i, job.slot);
        true
    }

    /// Sets the units of each resource (length R) on server `n` of a fleet that others use. They
    /// may exceed the free units: running jobs continue, and jobs that need such a resource wait.
    pub fn occupy(&mut self, n: usize, units: &[u64], now: f64) {
        self.advance(now);
        let resources = self.capacity().len();
        match &mut self.hosts {
            None => {
                self.others = Some(units.to_vec());
                self.recount_free();
            }
            Some(hosts) => hosts.occupy(n, &units[..resources]),
        }
    }

    /// Returns the units of resource `j` on the only server that are not used by others.
    pub fn left(&self, j: usize) -> u64 {
        let others = self.others.as_ref().map_or(0, |others| others[j]);
        self.capacity()[j].saturating_sub(others)
    }

    /// Returns `true` if a job of type `i` fits when no other job is running.
    pub fn could_run(&self, i: usize) -> bool {
        match &self.hosts {
            None => {
                let mut demand = self.demand(i).iter().enumerate();
                demand.all(|(j, d)| *d <= self.left(j))
            }
            Some(hosts) => hosts.could_run(i),
        }
    }

    #[cold]
    pub(super) fn recount_free(&mut self) {
        for j in 0..self.capacity().len() {
            let free = self.left(j).saturating_sub(self.used(j));
            self.server.set_free(j, free);
        }
    }

    pub(super) fn used(&self, j: usize) -> u64 {
        let slots = |i: usize| u64::from(self.types[i].running + self.types[i].held);
        let types = 0..self.types.len();
        types.map(|i| slots(i) * self.demand(i)[j]).sum()
    }

    pub(super) fn enqueue(&mut self, i: usize, job: Job) {
        let place = self.place_in_queue(i, job.number);
        let ticket = Ticket::new(job.number, job.slot);
        self.types[i].waiting.insert(place, ticket);
        self.queue_changed(i);
    }

    /// Returns `true` if this job is running.
    #[inline]
    pub fn runs(&self, job: Job) -> bool {
        let entry = &self.entries[job.slot as usize];
        entry.number == job.number && entry.place != WAITING
    }

    #[inline]
    pub(super) fn wait_again(&mut self, i: usize, job: Job) {
        self.stop_running(i, self.entries[job.slot as usize].place);
        let entry = &mut self.entries[job.slot as usize];
        entry.work -= self.now;
        // Rounding must not make it negative. `max` would replace the NaN of an unknown size.
        if entry.work < 0.0 {
            entry.work = 0.0;
        }
        entry.place = WAITING;
        self.enqueue(i, job);
        self.queued.length += 1;
    }
}
