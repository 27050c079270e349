//! How whoever runs a policy drives its [`System`]: a simulator, or a scheduler that embeds it.

use super::system::{Entry, WAITING};
use super::{Action, Counters, Job, System, Violation};

impl System {
    /// A job of type i arrives at time `now`.
    pub fn arrive(&mut self, i: usize, now: f64) -> Job {
        self.arrive_sized(i, now, f64::NAN)
    }

    /// A job of type i and of this size \[time\] arrives at time `now`. Only rules that
    /// [need sizes](super::Policy::needs_sizes) ask for it.
    pub fn arrive_sized(&mut self, i: usize, now: f64, size: f64) -> Job {
        self.advance(now);
        let entry = Entry {
            number: self.counters.arrivals,
            arrived: now,
            work: size,
            place: WAITING,
            kind: i as u32,
        };
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.counters.arrivals += 1;
        self.enqueue(i, self.types[i].waiting.len(), slot);
        let at = now - self.origin;
        self.types[i].present.add(1.0, at);
        self.account(i);
        self.job(slot)
    }

    /// The `n`-th job of type i that is served (in no particular order) ends at time `now`.
    /// `None`, and nothing done, when there are not so many.
    pub fn complete(&mut self, i: usize, n: usize, now: f64) -> Option<Job> {
        let kind = &self.types[i];
        let slot = match kind.running.get(n) {
            Some(slot) => *slot,
            None => *kind.waiting.get(n - kind.running.len())?,
        };
        Some(self.complete_slot(slot, now).1)
    }

    /// The job of type i with this number, which runs or shares fractional service, ends at
    /// time `now`. `None`, and nothing done, when it does neither. O(jobs of type i).
    pub fn complete_job(&mut self, i: usize, number: u64, now: f64) -> Option<Job> {
        let served = self.running_jobs(i).chain(self.waiting_jobs(i));
        let found = served
            .take(self.served(i))
            .find(|job| job.number == number)?;
        Some(self.complete_slot(found.slot, now).1)
    }

    /// The job in this slot ends: it, and its type.
    pub(crate) fn complete_slot(&mut self, slot: u32, now: f64) -> (usize, Job) {
        self.advance(now);
        let Entry { kind, place, .. } = self.entries[slot as usize];
        let (job, i) = (self.job(slot), kind as usize);
        if place == WAITING {
            self.types[i].waiting.retain(|other| *other != slot);
            self.dequeued(i);
        } else {
            self.remove_running(i, place);
            self.vacate(i);
        }
        self.vacant.push(slot);
        let at = now - self.origin;
        self.types[i].present.add(-1.0, at);
        self.counters.completions += 1;
        self.ended = job.number;
        self.account(i);
        (i, job)
    }

    /// Time goes on without an event of the queues.
    pub fn advance(&mut self, now: f64) {
        let passed = now - self.now;
        if passed < 0.0 {
            return self.violate(Violation::Time(self.now, now));
        }
        if self.queue_length > 0 {
            for (wasted, free) in self.wasted.iter_mut().zip(&self.free) {
                *wasted += *free as f64 * passed;
            }
        }
        self.now = now;
    }

    /// Decisions since they were last taken.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Forgets the decisions: they have been carried out.
    pub fn clear_actions(&mut self) {
        self.actions.clear();
    }

    /// Rates [1/time] of the policy's clocks.
    pub fn clocks(&self) -> &[f64] {
        &self.clocks
    }

    /// Rate [1/time] at which jobs of type i complete now, if their sizes are exponential.
    pub fn completion_rate(&self, i: usize) -> f64 {
        self.types[i].speed * self.types[i].service_rate
    }

    /// Jobs of type i served at once: the number running, or what [`System::share`] says.
    pub fn speed(&self, i: usize) -> f64 {
        self.types[i].speed
    }

    /// Jobs of type i that are being served: those that may complete next.
    pub fn served(&self, i: usize) -> usize {
        match self.types[i].running.len() {
            0 if self.types[i].speed > 0.0 => self.types[i].waiting.len(),
            running => running,
        }
    }

    /// How often things happened.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The first decision that could not be carried out.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Checks that jobs in = jobs out + jobs inside, and that the free room is what the
    /// running and held slots leave, counted anew; and the sums of rates are summed anew.
    pub fn audit(&mut self) {
        self.clock_rate = self.clocks.iter().sum();
        self.service_rate = (0..self.types.len()).map(|i| self.completion_rate(i)).sum();
        let inside: u64 = (0..self.types.len()).map(|i| self.present(i)).sum();
        if self.counters.arrivals != self.counters.completions + inside {
            self.violate_conservation(inside);
        }
        for j in 0..self.capacity.len() {
            let slots = |i: usize| u64::from(self.running(i) + self.types[i].held);
            let used: u64 = (0..self.types.len())
                .map(|i| slots(i) * self.demand(i)[j])
                .sum();
            if used + self.free[j] != self.capacity[j] {
                self.violate(Violation::Capacity(0));
            }
        }
    }

    /// Checks that so many jobs of type i are served, for whoever knows when they end.
    pub fn expect_served(&mut self, i: usize, known: usize) {
        let served = self.served(i);
        if served != known {
            self.violate(Violation::Service(i, served, known));
        }
    }

    /// Total rate [1/time] of the clocks, and of the completions if sizes are exponential; they
    /// are running sums, exact to rounding since the last [`System::audit`].
    pub(crate) fn rates(&self) -> (f64, f64) {
        (self.clock_rate, self.service_rate)
    }

    /// When the job in this slot ends, if it runs.
    pub(crate) fn ends_at(&self, slot: u32) -> Option<f64> {
        let entry = self.entries.get(slot as usize)?;
        let running = &self.types[entry.kind as usize].running;
        // A slot without a job keeps its last entry: the place tells.
        let runs = running.get(entry.place as usize) == Some(&slot);
        runs.then_some(entry.work)
    }

    /// The type of the job in this slot.
    pub(crate) fn kind(&self, slot: u32) -> usize {
        self.entries[slot as usize].kind as usize
    }

    /// Sets the work left of a job in the system.
    pub(crate) fn set_work_left(&mut self, job: Job, left: f64) {
        let entry = &mut self.entries[job.slot as usize];
        entry.work = match entry.place {
            WAITING => left,
            _ => self.now + left,
        };
    }

    /// Whether any type has or had fractional service.
    pub(crate) fn shares(&self) -> bool {
        self.shares
    }

    /// Running jobs of all types.
    pub(crate) fn all_running(&self) -> usize {
        self.types.iter().map(|t| t.running.len()).sum()
    }

    /// Integrals over the time since this was last called: jobs present, in service and slots
    /// offered by type, then free room while a job waits by resource.
    pub(crate) fn collect(
        &mut self,
        mut of_type: impl FnMut(usize, [f64; 3]),
        mut wasted: impl FnMut(usize, f64),
    ) {
        let length = self.now - self.origin;
        for (i, kind) in self.types.iter_mut().enumerate() {
            let meters = [&mut kind.present, &mut kind.busy, &mut kind.offered];
            of_type(i, meters.map(|meter| meter.collect(length)));
        }
        for (j, area) in self.wasted.iter_mut().enumerate() {
            wasted(j, std::mem::take(area));
        }
        self.origin = self.now;
    }

    /// Jobs of type i that came and did not leave are in its queue or run: at each event.
    fn account(&mut self, i: usize) {
        let inside = self.present(i);
        if self.types[i].present.value() != inside as f64 {
            self.violate_conservation(inside);
        }
    }

    fn violate_conservation(&mut self, inside: u64) {
        let Counters {
            arrivals,
            completions,
            ..
        } = self.counters;
        self.violate(Violation::Conservation(arrivals, completions, inside));
    }
}
