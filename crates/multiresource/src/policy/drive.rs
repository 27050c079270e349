//! How a simulator, or a scheduler that embeds a policy, drives its [`System`].

use super::jobs::{Action, Completed, Counters, Entry, Job, MOST_JOBS, Ticket, Violation, WAITING};
use super::system::System;

impl System {
    /// A job of type i arrives at time `now`.
    pub fn arrive(&mut self, i: usize, now: f64) -> Job {
        let job = self.arrive_sized(i, now, f64::NAN);
        if !self.limits.is_empty() {
            self.set_limit(job, f64::INFINITY);
        }
        job
    }

    /// A job of type i arrives at time `now` that is known to run no longer than `limit` \[time\]. Rules that
    /// [know limits](super::Policy::knows) ask for it.
    pub fn arrive_limited(&mut self, i: usize, now: f64, limit: f64) -> Job {
        let job = self.arrive_sized(i, now, f64::NAN);
        self.set_limit(job, limit);
        job
    }

    /// The job that has just come runs no longer than this \[time\].
    pub fn set_limit(&mut self, job: Job, limit: f64) {
        let slot = job.slot as usize;
        if self.limits.len() <= slot {
            self.limits.resize(slot + 1, f64::INFINITY);
        }
        self.limits[slot] = limit;
    }

    /// The job that has just come is of this user: a hash of a name, 0 where that is not known.
    pub fn set_user(&mut self, job: Job, user: u32) {
        let slot = job.slot as usize;
        if self.users.len() <= slot {
            self.users.resize(slot + 1, 0);
        }
        self.users[slot] = user;
    }

    /// The job that has just come has been waiting since then \[time\].
    pub fn set_arrived(&mut self, job: Job, arrived: f64) -> Job {
        self.entries[job.slot as usize].arrived = arrived;
        Job { arrived, ..job }
    }

    /// A job of type i and of this size \[time\] arrives at time `now`. Only rules that
    /// [know sizes](super::Policy::knows) ask for it.
    #[inline(always)]
    pub fn arrive_sized(&mut self, i: usize, now: f64, size: f64) -> Job {
        self.advance(now);
        let number = self.counters.arrivals;
        let slot = self.settle(Entry::waiting(i, number, now, size));
        let at = now - self.origin;
        let own = &mut self.types[i];
        own.waiting.push_back(Ticket::new(number, slot));
        own.present.rise(at);
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

    /// The `n`-th running job of type i (in no particular order) ends at time `now`.
    /// `None`, without effect, when there are not so many.
    pub fn complete(&mut self, i: usize, n: usize, now: f64) -> Option<Job> {
        let slot = self.running_jobs(i).nth(n)?.slot;
        Some(self.complete_slot(slot, now).job)
    }

    /// The running job of type i with this number ends at time `now`. `None`, without effect, when it does not run.
    /// O(running jobs of type i).
    pub fn complete_job(&mut self, i: usize, number: u64, now: f64) -> Option<Job> {
        let slot = self.running_jobs(i).find(|job| job.number == number)?.slot;
        Some(self.complete_slot(slot, now).job)
    }

    /// Time begins where nothing has come yet.
    pub fn start_at(&mut self, now: f64) {
        if self.counters.arrivals == 0 {
            (self.now, self.origin) = (now, now);
        }
    }

    /// Whether jobs that ran before start again: on which devices they were is not known, and they may be spread over several.
    pub fn resume_jobs(&mut self, resumes: bool) {
        if let Some(hosts) = &mut self.hosts {
            hosts.resumes = resumes;
        }
    }

    /// The job in this slot ends.
    #[inline(always)]
    pub fn complete_slot(&mut self, slot: u32, now: f64) -> Completed {
        self.advance(now);
        let entry = self.entries[slot as usize];
        let (job, i) = (self.job(slot), entry.job_type as usize);
        self.stop_running(i, entry.place);
        self.give_room(i, slot);
        self.entries[slot as usize].place = WAITING;
        self.vacant.push(slot);
        let at = now - self.origin;
        self.types[i].present.fall(at);
        self.counters.completions += 1;
        self.ended = (job, now - entry.started);
        self.account();
        Completed {
            job_type: i,
            job,
            started: entry.started,
        }
    }

    /// Time goes on without an event of the queues.
    pub fn advance(&mut self, now: f64) {
        if now < self.now {
            self.violate(Violation::Time(self.now, now));
        } else {
            self.now = now;
        }
    }

    /// Decisions since they were last taken.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Clears the decisions, once they are carried out.
    pub fn clear_actions(&mut self) {
        self.actions.clear();
    }

    /// Rates [1/time] of the policy's clocks.
    pub fn clocks(&self) -> &[f64] {
        &self.clocks
    }

    /// How often each kind of event happened.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The first decision that could not be carried out.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Checks that jobs in = jobs out + jobs inside, and recounts the free room that running and held
    /// slots leave; sums the rates again.
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

    /// Checks that this many jobs of type i run, for a caller that knows when they end.
    pub fn expect_running(&mut self, i: usize, known: u32) {
        let running = self.types[i].running;
        if running != known {
            self.violate(Violation::Service(i, running, known));
        }
    }

    /// Total rates \[1/time\] of the clocks, and a bound on those of running jobs, if sizes are exponential: running sums, exact to rounding since
    /// the last [`System::audit`].
    #[inline]
    pub fn rates(&self) -> [f64; 2] {
        [self.clock_rate, self.pools.rate]
    }

    /// The slot of the running job that ends, for a point drawn uniformly below the bound of
    /// [`System::rates`]; `None` where the point is rejected.
    #[inline]
    pub fn drawn(&self, point: f64) -> Option<u32> {
        let (slot, left) = self.pools.draw(point)?;
        let job_type = self.type_of(slot);
        (left < self.types[job_type].service_rate).then_some(slot)
    }

    /// When the job in this slot ends, if it runs.
    pub fn ends_at(&self, slot: u32) -> Option<f64> {
        let entry = self.entries.get(slot as usize)?;
        (entry.place != WAITING).then_some(entry.work)
    }

    /// The type of the job in this slot.
    pub fn type_of(&self, slot: u32) -> usize {
        self.entries[slot as usize].job_type as usize
    }

    /// Running jobs of all types.
    pub fn all_running(&self) -> u64 {
        self.pools.count
    }

    /// Jobs in the system.
    pub fn jobs(&self) -> u64 {
        self.queued.length + self.pools.count
    }

    /// Integrals over the time since this was last called: jobs present, in service and slots
    /// offered, by type.
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

    /// How long the guard of the policy was in charge \[time\], up to the last
    /// [`collect`](System::collect).
    pub fn guarded_time(&self) -> f64 {
        self.guarded_time
    }

    /// A job comes into the system: its slot.
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

    /// Room for one more job in the system.
    #[cold]
    fn enlarge(&mut self, entry: Entry) -> u32 {
        if self.entries.len() == MOST_JOBS {
            // A queue that grows without bound.
            self.violate(Violation::Crowd(MOST_JOBS));
            return 0;
        }
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Jobs that came and did not leave wait or run: at each event.
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
