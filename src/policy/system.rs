use std::collections::VecDeque;

use crate::schedule::Packing;
use crate::workload::Workload;

/// A job as policies know it: no size, which no policy here may see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Arrival number over all types: lower is older.
    pub number: u64,
    /// Arrival time, in the workload's time unit.
    pub arrived: f64,
}

/// What a policy decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// This job of this type starts (or resumes).
    Start(usize, Job),
    /// This job of this type is preempted and waits again, at the head of its queue.
    Stop(usize, Job),
}

/// A decision that no server can carry out. The run is over: its numbers mean nothing.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Violation {
    /// A job was started that does not fit.
    #[error("a job of type {0} was started where it does not fit")]
    Capacity(usize),
    /// A job was stopped where preemption is not allowed.
    #[error("a job of type {0} was preempted where preemption is none")]
    Preemption(usize),
    /// A job was started or stopped that is not there.
    #[error("a job of type {0} was started or stopped, and there is none")]
    NoJob(usize),
    /// Time went back.
    #[error("time went back from {0} to {1}")]
    Time(f64, f64),
    /// Jobs in are not jobs out plus jobs inside.
    #[error("{0} jobs came in, {1} went out, {2} are inside")]
    Conservation(u64, u64, u64),
    /// The jobs served are not those whose ends are known.
    #[error("{1} jobs of type {0} are served, and the ends of {2} are known")]
    Service(usize, usize, usize),
}

/// A quantity of time, its integral kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    value: f64,
    area: f64,
    since: f64,
}

impl Meter {
    /// The value now.
    pub fn value(&self) -> f64 {
        self.value
    }

    pub(crate) fn set(&mut self, value: f64, now: f64) {
        self.area += self.value * (now - self.since);
        (self.value, self.since) = (value, now);
    }

    /// The integral since this was last called.
    pub fn collect(&mut self, now: f64) -> f64 {
        self.set(self.value, now);
        std::mem::take(&mut self.area)
    }
}

/// How often things happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Jobs that came.
    pub arrivals: u64,
    /// Jobs that left.
    pub completions: u64,
    /// Jobs stopped.
    pub preemptions: u64,
    /// Slots put into setup.
    pub setups: u64,
    /// Departures from a working schedule, as the policy reports them.
    pub switches: u64,
}

struct Type {
    demand: Vec<u64>,
    service_rate: f64,
    waiting: VecDeque<Job>,
    running: Vec<Job>,
    /// Slots that hold room and serve nobody: setups under way.
    held: u32,
    /// Jobs served at once: the number running, or what [`System::share`] says.
    speed: f64,
    present: Meter,
    busy: Meter,
    offered: Meter,
}

/// One server with its queues: what a policy sees, and where it acts.
///
/// Every change is checked, in release builds too; the first decision that no server could
/// carry out is kept in [`System::violation`] and nothing is done for it.
pub struct System {
    types: Vec<Type>,
    capacity: Vec<u64>,
    free: Vec<u64>,
    clocks: Vec<f64>,
    preemptible: bool,
    now: f64,
    actions: Vec<Action>,
    counters: Counters,
    violation: Option<Violation>,
}

impl System {
    /// An empty server for this workload, with as many clocks as the policy uses.
    pub fn new(workload: &Workload, clocks: usize, preemptible: bool) -> Self {
        let packing = Packing::new(workload);
        let kind = |(i, t): (usize, &crate::workload::JobType)| Type {
            demand: packing.demand(i).to_vec(),
            service_rate: t.service_rate(),
            waiting: VecDeque::new(),
            running: Vec::new(),
            held: 0,
            speed: 0.0,
            present: Meter::default(),
            busy: Meter::default(),
            offered: Meter::default(),
        };
        System {
            types: workload.types().iter().enumerate().map(kind).collect(),
            capacity: packing.capacity().to_vec(),
            free: packing.capacity().to_vec(),
            clocks: vec![0.0; clocks],
            preemptible,
            now: 0.0,
            actions: Vec::new(),
            counters: Counters::default(),
            violation: None,
        }
    }

    // What a policy sees.

    /// The time.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Number of job types K.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// Waiting jobs of type i.
    pub fn waiting(&self, i: usize) -> u32 {
        self.types[i].waiting.len() as u32
    }

    /// Running jobs of type i.
    pub fn running(&self, i: usize) -> u32 {
        self.types[i].running.len() as u32
    }

    /// The oldest waiting job of type i.
    pub fn oldest(&self, i: usize) -> Option<Job> {
        self.types[i].waiting.front().copied()
    }

    /// The youngest running job of type i.
    pub fn youngest_running(&self, i: usize) -> Option<Job> {
        self.types[i]
            .running
            .iter()
            .copied()
            .max_by_key(|job| job.number)
    }

    /// Free units of each resource.
    pub fn free(&self) -> &[u64] {
        &self.free
    }

    /// Demand of type i in the same units.
    pub fn demand(&self, i: usize) -> &[u64] {
        &self.types[i].demand
    }

    /// Whether one more job of type i fits into the free room.
    pub fn fits(&self, i: usize) -> bool {
        self.types[i]
            .demand
            .iter()
            .zip(&self.free)
            .all(|(d, f)| d <= f)
    }

    // How a policy acts.

    /// Starts the oldest waiting job of type i.
    pub fn start(&mut self, i: usize) {
        if !self.fits(i) {
            return self.violate(Violation::Capacity(i));
        }
        let Some(job) = self.types[i].waiting.pop_front() else {
            return self.violate(Violation::NoJob(i));
        };
        self.occupy(i);
        self.types[i].running.push(job);
        self.set_speed(i);
        self.actions.push(Action::Start(i, job));
    }

    /// Preempts the youngest running job of type i; it goes to the head of its queue.
    pub fn stop(&mut self, i: usize) {
        if self.requeue_youngest(i) {
            self.vacate(i);
        }
    }

    /// Preempts the youngest running job of type i; its room stays held, until
    /// [`System::release_setup`].
    pub fn stop_into_setup(&mut self, i: usize) {
        if self.requeue_youngest(i) {
            self.types[i].held += 1;
            self.counters.setups += 1;
        }
    }

    /// Holds the room of a type-i slot that has no job, until [`System::release_setup`].
    pub fn hold(&mut self, i: usize) {
        if !self.fits(i) {
            return self.violate(Violation::Capacity(i));
        }
        self.occupy(i);
        self.types[i].held += 1;
        self.counters.setups += 1;
    }

    /// Ends a setup of type i: its room is free.
    pub fn release_setup(&mut self, i: usize) {
        if self.types[i].held == 0 {
            return self.violate(Violation::NoJob(i));
        }
        self.types[i].held -= 1;
        self.vacate(i);
    }

    /// Sets the rate [1/time] of one of the policy's exponential clocks; 0 stops it.
    pub fn set_clock(&mut self, clock: usize, rate: f64) {
        self.clocks[clock] = rate;
    }

    /// Fractional service: all jobs of type i, waiting ones too, share `speed` equally (speed
    /// 1 serves one job at full rate). For policies that start no jobs of that type.
    pub fn share(&mut self, i: usize, speed: f64) {
        self.types[i].speed = speed;
        self.types[i].busy.set(speed, self.now);
        let overfull = |j: usize| {
            let used: f64 = self
                .types
                .iter()
                .map(|t| t.speed * t.demand[j] as f64)
                .sum();
            used > self.capacity[j] as f64 * (1.0 + 1e-9)
        };
        if speed.is_nan() || speed < 0.0 || (0..self.capacity.len()).any(overfull) {
            self.violate(Violation::Capacity(i));
        }
    }

    /// Tells how many slots the policy offers to type i, for the statistics.
    pub fn offer(&mut self, i: usize, slots: u32) {
        self.types[i].offered.set(f64::from(slots), self.now);
    }

    /// Tells that the policy left a working schedule, for the statistics.
    pub fn count_switch(&mut self) {
        self.counters.switches += 1;
    }

    // How whoever runs a policy drives it.

    /// A job of type i arrives at time `now`.
    pub fn arrive(&mut self, i: usize, now: f64) -> Job {
        self.advance(now);
        let job = Job {
            number: self.counters.arrivals,
            arrived: now,
        };
        self.counters.arrivals += 1;
        let kind = &mut self.types[i];
        kind.waiting.push_back(job);
        kind.present.set(kind.present.value + 1.0, now);
        self.account(i);
        job
    }

    /// The `n`-th job of type i that is served (in no particular order) ends at time `now`.
    /// `None`, and nothing done, when there are not so many.
    pub fn complete(&mut self, i: usize, n: usize, now: f64) -> Option<Job> {
        self.advance(now);
        let kind = &mut self.types[i];
        let job = if n < kind.running.len() {
            let job = kind.running.swap_remove(n);
            self.vacate(i);
            self.set_speed(i);
            job
        } else {
            kind.waiting.swap_remove_back(n - kind.running.len())?
        };
        let kind = &mut self.types[i];
        kind.present.set(kind.present.value - 1.0, now);
        self.counters.completions += 1;
        self.account(i);
        Some(job)
    }

    /// The job of type i with this number, which runs or shares fractional service, ends at
    /// time `now`. `None`, and nothing done, when it does neither.
    pub fn complete_job(&mut self, i: usize, number: u64, now: f64) -> Option<Job> {
        let kind = &self.types[i];
        let n = kind
            .running
            .iter()
            .chain(&kind.waiting)
            .take(self.served(i))
            .position(|job| job.number == number)?;
        self.complete(i, n, now)
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

    /// Jobs of type i in the system.
    pub fn present(&self, i: usize) -> u64 {
        self.types[i].present.value as u64
    }

    /// The meters of type i: jobs present, jobs in service, slots offered.
    pub fn meters(&mut self, i: usize) -> [&mut Meter; 3] {
        let kind = &mut self.types[i];
        [&mut kind.present, &mut kind.busy, &mut kind.offered]
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
    /// running and held slots leave, counted anew.
    pub fn audit(&mut self) {
        let inside: u64 = self
            .types
            .iter()
            .map(|t| (t.waiting.len() + t.running.len()) as u64)
            .sum();
        let Counters {
            arrivals,
            completions,
            ..
        } = self.counters;
        if arrivals != completions + inside {
            self.violate(Violation::Conservation(arrivals, completions, inside));
        }
        for j in 0..self.capacity.len() {
            let slots = |t: &Type| t.running.len() as u64 + u64::from(t.held);
            let used: u64 = self.types.iter().map(|t| slots(t) * t.demand[j]).sum();
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

    /// Jobs of type i that came and did not leave are in its queue or run: at each event.
    fn account(&mut self, i: usize) {
        let inside = self.types[i].waiting.len() + self.types[i].running.len();
        if self.present(i) != inside as u64 {
            let Counters {
                arrivals,
                completions,
                ..
            } = self.counters;
            self.violate(Violation::Conservation(
                arrivals,
                completions,
                inside as u64,
            ));
        }
    }

    fn requeue_youngest(&mut self, i: usize) -> bool {
        let running = &self.types[i].running;
        let Some(youngest) = (0..running.len()).max_by_key(|n| running[*n].number) else {
            self.violate(Violation::NoJob(i));
            return false;
        };
        if !self.preemptible {
            self.violate(Violation::Preemption(i));
            return false;
        }
        let job = self.types[i].running.swap_remove(youngest);
        self.types[i].waiting.push_front(job);
        self.set_speed(i);
        self.counters.preemptions += 1;
        self.actions.push(Action::Stop(i, job));
        true
    }

    fn set_speed(&mut self, i: usize) {
        let kind = &mut self.types[i];
        kind.speed = kind.running.len() as f64;
        kind.busy.set(kind.speed, self.now);
    }

    fn occupy(&mut self, i: usize) {
        for (free, d) in self.free.iter_mut().zip(&self.types[i].demand) {
            *free -= d;
        }
    }

    fn vacate(&mut self, i: usize) {
        for (free, d) in self.free.iter_mut().zip(&self.types[i].demand) {
            *free += d;
        }
    }

    fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }
}
