//! What real clusters do beside arrivals and ends of jobs: waiting jobs are cancelled, running ones are found or wait
//! again, and others use room.
//!
//! None of these is an [`Event`](super::Event): after them the rule [goes on](super::Policy::changed) from what it sees.

use super::jobs::{Entry, MOST_JOBS, Ticket, WAITING};
use super::{Job, System};

impl System {
    /// A waiting job leaves: it was cancelled, somebody holds it, or it is now of another type. `false`, without
    /// effect, where it does not wait. O(waiting jobs of its type).
    pub fn withdraw(&mut self, i: usize, job: Job, now: f64) -> bool {
        self.advance(now);
        let Some(place) = self.where_it_waits(i, job) else {
            return false;
        };
        self.types[i].waiting.remove(place);
        self.queue_changed(i);
        self.queued.length -= 1;
        self.vacant.push(job.slot);
        self.types[i].present.fall(now - self.origin);
        self.withdrawn += 1;
        self.account();
        true
    }

    /// A job of type i that was withdrawn waits again, in its place in the queue. `limit` as in
    /// [`System::arrive_limited`], infinity where none is known.
    pub fn restore(&mut self, i: usize, job: Job, limit: f64, now: f64) -> Job {
        self.advance(now);
        let entry = Entry::waiting(i, job.number, job.arrived, f64::NAN);
        let slot = self.settle(entry);
        let job = Job { slot, ..job };
        self.set_limit(job, limit);
        self.enqueue(i, job);
        self.queued.length += 1;
        self.types[i].present.rise(now - self.origin);
        self.withdrawn -= 1;
        self.account();
        job
    }

    /// A job of type i is found that has run for `ran` \[time\]; in a fleet on these servers. It takes the next number.
    /// Its limit is of the whole job, infinity where it is not known.
    /// `None`, without effect, where there is no room for it: then what it uses is [`occupied`](System::occupy).
    /// It is no decision: [`System::actions`] do not have it.
    pub fn adopt(
        &mut self,
        i: usize,
        [ran, limit]: [f64; 2],
        servers: &[usize],
        now: f64,
    ) -> Option<Job> {
        self.advance(now);
        let has_room = match &self.hosts {
            None => self.room.fits(i),
            Some(hosts) => hosts.takes(i, servers),
        };
        if !has_room || self.entries.len() - self.vacant.len() >= MOST_JOBS {
            return None;
        }
        let job = self.arrive_limited(i, now, limit);
        let noted = self.actions.len();
        self.start_job_on(i, job, servers);
        self.actions.truncate(noted);
        self.entries[job.slot as usize].started = now - ran;
        Some(job)
    }

    /// A running job of type i waits again, in its place in the queue: not by a decision, and so also where jobs are
    /// not preempted. `false`, without effect, where it does not run.
    pub fn put_back(&mut self, i: usize, job: Job, now: f64) -> bool {
        self.advance(now);
        if !self.runs(job) {
            return false;
        }
        self.wait_again(i, job);
        self.give_room(i, job.slot);
        true
    }

    /// So many units of each resource (R) are used by others, or are out of order; in a fleet on server n. They may be
    /// more than are free: jobs go on, and what takes a resource of which nothing is free does not start.
    pub fn occupy(&mut self, n: usize, units: &[u64], now: f64) {
        self.advance(now);
        let resources = self.capacity().len();
        match &mut self.hosts {
            None => {
                self.others = Some(units.to_vec());
                self.recount_room();
            }
            Some(hosts) => hosts.occupy(n, &units[..resources]),
        }
    }

    /// Units of resource j that others leave of the one server that there is.
    pub fn left(&self, j: usize) -> u64 {
        let others = self.others.as_ref().map_or(0, |others| others[j]);
        self.capacity()[j].saturating_sub(others)
    }

    /// Whether one job of type i would fit if no other ran.
    pub fn could_run(&self, i: usize) -> bool {
        match &self.hosts {
            None => {
                let mut demand = self.demand(i).iter().enumerate();
                demand.all(|(j, d)| *d <= self.left(j))
            }
            Some(hosts) => hosts.could_run(i),
        }
    }

    /// What is free, from what jobs, setups and others use: no less than nothing.
    #[cold]
    pub(super) fn recount_room(&mut self) {
        for j in 0..self.capacity().len() {
            let free = self.left(j).saturating_sub(self.used(j));
            self.room.set_free(j, free);
        }
    }

    /// Units of resource j that jobs and setups use, of the one server that there is.
    pub(super) fn used(&self, j: usize) -> u64 {
        let slots = |i: usize| u64::from(self.types[i].running + self.types[i].held);
        let types = 0..self.types.len();
        types.map(|i| slots(i) * self.demand(i)[j]).sum()
    }

    /// A job of type i comes into its place in the queue.
    pub(super) fn enqueue(&mut self, i: usize, job: Job) {
        let place = self.place_in_queue(i, job.number);
        let ticket = Ticket::new(job.number, job.slot);
        self.types[i].waiting.insert(place, ticket);
        self.queue_changed(i);
    }

    /// Whether this job runs.
    #[inline]
    pub fn runs(&self, job: Job) -> bool {
        let entry = &self.entries[job.slot as usize];
        entry.number == job.number && entry.place != WAITING
    }

    /// This running job waits again, in its place in the queue; its room is still taken.
    #[inline]
    pub(super) fn wait_again(&mut self, i: usize, job: Job) {
        self.stop_running(i, self.entries[job.slot as usize].place);
        let entry = &mut self.entries[job.slot as usize];
        entry.work -= self.now;
        // Rounding must not leave a negative amount of work; that of unknown sizes stays NaN.
        if entry.work < 0.0 {
            entry.work = 0.0;
        }
        entry.place = WAITING;
        self.enqueue(i, job);
        self.queued.length += 1;
    }
}
