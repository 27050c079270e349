//! The interface of a [`System`] for simulators and for schedulers that use a policy.

use super::jobs::{Action, Completed, Counters, Entry, Job, MOST_JOBS, Ticket, Violation, WAITING};
use super::system::System;

impl System {
    /// Adds a job of type `i` that arrives at time `now`.
    pub fn arrive(&mut self, i: usize, now: f64) -> Job {
        let job = self.arrive_sized(i, now, f64::NAN);
        if !self.limits.is_empty() {
            self.set_limit(job, f64::INFINITY);
        }
        job
    }

    /// Adds a job of type `i` that arrives at time `now` and runs for at most `limit` \[time\], as
    /// rules that [use limits](super::Policy::information) require.
    pub fn arrive_limited(&mut self, i: usize, now: f64, limit: f64) -> Job {
        let job = self.arrive_sized(i, now, f64::NAN);
        self.set_limit(job, limit);
        job
    }

    /// Sets the run-time limit of a job that has just arrived \[time\].
    pub fn set_limit(&mut self, job: Job, limit: f64) {
        let slot = job.slot as usize;
        if self.limits.len() <= slot {
            self.limits.resize(slot + 1, f64::INFINITY);
        }
        self.limits[slot] = limit;
    }

    /// Sets the hash of the user name of a job that has just arrived, or 0 if it is unknown.
    pub fn set_user(&mut self, job: Job, user: u32) {
        let slot = job.slot as usize;
        if self.users.len() <= slot {
            self.users.resize(slot + 1, 0);
        }
        self.users[slot] = user;
    }

    /// Sets the time at which a job that has just arrived started to wait \[time\].
    pub fn set_arrived(&mut self, job: Job, arrived: f64) -> Job {
        self.entries[job.slot as usize].arrived = arrived;
        Job { arrived, ..job }
    }

    /// Adds a job of type `i` and of this size \[time\] that arrives at time `now`. Only rules that
    /// [use sizes](super::Policy::information) require the size.
    #[inline(always)]
    pub fn arrive_sized(&mut self, i: usize, now: f64, size: f64) -> Job {
        self.advance(now);
        let number = self.counters.arrivals;
        let slot = self.settle(Entry::waiting(i, number, now, size));
        let at = now - self.origin;
        let own = &mut self.types[i];
        own.waiting.push_back(Ticket::new(number, slot));
        own.present.jump(1.0, at);
        if own.waiting.len() == 1 {
            self.queued.set_oldest(i, Some(number));
        }
        self.queued.length += 1;
        self.counters.arrivals += 1;
        self.account();
        Job {
            number,
            arrived: now,
            slot,
        }
    }

    /// Ends the n-th running job of type `i`, in no particular order; `None` if there is none.
    pub fn complete(&mut self, i: usize, n: usize, now: f64) -> Option<Job> {
        let slot = self.running_jobs(i).nth(n)?.slot;
        Some(self.complete_slot(slot, now).job)
    }

    /// Ends the job of type `i` with this number, in `O(running)`; `None` if it is not running.
    pub fn complete_job(&mut self, i: usize, number: u64, now: f64) -> Option<Job> {
        let slot = self.running_jobs(i).find(|job| job.number == number)?.slot;
        Some(self.complete_slot(slot, now).job)
    }

    /// Sets the initial time, if no job has arrived yet.
    pub fn start_at(&mut self, now: f64) {
        if self.counters.arrivals == 0 {
            (self.now, self.origin) = (now, now);
        }
    }

    /// Sets whether jobs that already ran are started again, on devices that are not known.
    pub fn resume_jobs(&mut self, resumes: bool) {
        if let Some(hosts) = &mut self.hosts {
            hosts.resumes = resumes;
        }
    }

    /// Ends the job in this slot.
    #[inline(always)]
    pub fn complete_slot(&mut self, slot: u32, now: f64) -> Completed {
        self.advance(now);
        let entry = self.entries[slot as usize];
        let (job, i) = (self.job(slot), entry.job_type as usize);
        self.stop_running(i, entry.place);
        self.give_capacity(i, slot);
        self.entries[slot as usize].place = WAITING;
        self.vacant.push(slot);
        let at = now - self.origin;
        self.types[i].present.jump(-1.0, at);
        self.counters.completions += 1;
        self.ended = (job, now - entry.started);
        self.account();
        Completed {
            job_type: i,
            job,
            started: entry.started,
        }
    }

    /// Advances the time without an event.
    pub fn advance(&mut self, now: f64) {
        if now < self.now {
            self.violate(Violation::Time(self.now, now));
        } else {
            self.now = now;
        }
    }

    /// Returns the decisions since the last call of [`System::clear_actions`].
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Removes all decisions, which must have been carried out before.
    pub fn clear_actions(&mut self) {
        self.actions.clear();
    }

    /// Returns the rates [1/time] of the clocks of the policy.
    pub fn clocks(&self) -> &[f64] {
        &self.clocks
    }

    /// Returns the event counts.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the first infeasible decision, if there was one.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Checks the number of jobs and the free capacity, and computes the sums of the rates again.
    pub fn audit(&mut self) {
        self.clock_rate = self.clocks.iter().sum();
        self.pools.recount();
        let inside: u64 = (0..self.types.len()).map(|i| self.present(i)).sum();
        self.account();
        if inside != self.jobs() {
            self.violate_conservation(inside);
        }
        let running: Vec<u32> = (0..self.types.len()).map(|i| self.running(i)).collect();
        if let Some(hosts) = &mut self.hosts {
            if !hosts.is_sound(&running) {
                self.violate(Violation::Capacity(0));
            }
            return;
        }
        for j in 0..self.capacity().len() {
            let used = self.used(j);
            let is_sound = self.free(j) == self.left(j).saturating_sub(used);
            if !is_sound || used > self.capacity()[j] {
                self.violate(Violation::Capacity(0));
            }
        }
    }

    pub(crate) fn expect_running(&mut self, i: usize, known: u32) {
        let running = self.types[i].running;
        if running != known {
            self.violate(Violation::Service(i, running, known));
        }
    }

    /// Returns the total rate of the clocks \[1/time\] and an upper bound of the total service rate
    /// for exponential sizes, with the rounding errors since the last [`System::audit`].
    #[inline]
    pub(crate) fn rates(&self) -> [f64; 2] {
        [self.clock_rate, self.pools.rate]
    }

    /// Returns the slot of the job that ends, for a uniform point below the bound of
    /// [`System::rates`]. `None` if the point is rejected.
    #[inline]
    pub(crate) fn sample_completion(&self, point: f64) -> Option<u32> {
        let (slot, left) = self.pools.draw(point)?;
        let job_type = self.type_of(slot);
        (left < self.types[job_type].service_rate).then_some(slot)
    }

    pub(crate) fn ends_at(&self, slot: u32) -> Option<f64> {
        let entry = self.entries.get(slot as usize)?;
        (entry.place != WAITING).then_some(entry.work)
    }

    /// Returns the type of the job in this slot.
    pub fn type_of(&self, slot: u32) -> usize {
        self.entries[slot as usize].job_type as usize
    }

    /// Returns the number of running jobs of all types.
    pub fn all_running(&self) -> u64 {
        self.pools.count
    }

    /// Returns the number of jobs in the system.
    pub fn jobs(&self) -> u64 {
        self.queued.length + self.pools.count
    }

    /// Calls `of_type` for each type with the integrals, since the last call, of the numbers of
    /// jobs in the system, jobs in service and offered slots.
    pub fn collect(&mut self, mut of_type: impl FnMut(usize, [f64; 3])) {
        let length = self.now - self.origin;
        for i in 0..self.types.len() {
            let (present, running) = (self.present(i) as f64, f64::from(self.running(i)));
            let own = &mut self.types[i];
            let present = own.present.collect(present, length);
            let busy = own.busy.collect(running, length);
            of_type(i, [present, busy, own.offered.collect(length)]);
        }
        self.guarded_time += self.guarded.collect(length);
        self.origin = self.now;
    }

    pub(crate) fn guarded_time(&self) -> f64 {
        self.guarded_time
    }

    #[inline(always)]
    pub(super) fn settle(&mut self, entry: Entry) -> u32 {
        match self.vacant.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => self.enlarge(entry),
        }
    }

    #[cold]
    fn enlarge(&mut self, entry: Entry) -> u32 {
        if self.entries.len() == MOST_JOBS {
            self.violate(Violation::TooManyJobs(MOST_JOBS));
            return 0;
        }
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    #[inline]
    pub(super) fn account(&mut self) {
        let inside = self.jobs();
        if self.counters.arrivals != self.counters.completions + self.withdrawn + inside {
            self.violate_conservation(inside);
        }
    }

    fn violate_conservation(&mut self, inside: u64) {
        let (came, left) = (self.counters.arrivals, self.counters.completions);
        self.violate(Violation::Conservation(came, left, inside));
    }
}
