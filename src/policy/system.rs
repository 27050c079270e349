use std::collections::VecDeque;

use fixedbitset::FixedBitSet;

use super::Meter;
use crate::schedule::Packing;
use crate::workload::Workload;

/// A job as rules know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Arrival number over all types: lower is older.
    pub number: u64,
    /// Arrival time, in the workload's time unit.
    pub arrived: f64,
    /// Where the system keeps it.
    pub(crate) slot: u32,
}

/// What a policy decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// This job of this type starts (or resumes).
    Start(usize, Job),
    /// This job of this type is preempted and waits again, in its place in the queue.
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

/// How often things happened.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize,
)]
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

/// A job in the system.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub number: u64,
    pub arrived: f64,
    /// Work left \[time\] while it waits, the time when it ends while it runs; NaN where sizes
    /// are not known.
    pub work: f64,
    /// Place among the running jobs of its type, or [`WAITING`].
    pub place: u32,
    pub kind: u32,
}

/// The place of a job that does not run.
pub(super) const WAITING: u32 = u32::MAX;

/// The jobs of one type, by their slots.
pub(super) struct Type {
    pub service_rate: f64,
    /// In order of arrival.
    pub waiting: VecDeque<u32>,
    /// In no order.
    pub running: Vec<u32>,
    /// Slots that hold room and serve nobody: setups under way.
    pub held: u32,
    /// Jobs served at once: the number running, or what [`System::share`] says.
    pub speed: f64,
    pub present: Meter,
    pub busy: Meter,
    pub offered: Meter,
}

/// One server with its queues: what a policy sees, and where it acts.
///
/// Every change is checked, in release builds too; the first decision that no server could
/// carry out is kept in [`System::violation`] and nothing is done for it.
pub struct System {
    pub(super) types: Vec<Type>,
    pub(super) entries: Vec<Entry>,
    /// Slots without a job.
    pub(super) vacant: Vec<u32>,
    /// Types with waiting jobs.
    queued: FixedBitSet,
    /// Demands (K × R), row by row.
    demand: Vec<u64>,
    pub(super) capacity: Vec<u64>,
    pub(super) free: Vec<u64>,
    pub(super) clocks: Vec<f64>,
    /// Σ of the clocks' rates, but for rounding.
    pub(super) clock_rate: f64,
    /// Σ speed·μ over the types, but for rounding.
    pub(super) service_rate: f64,
    /// Whether a type ever had fractional service.
    pub(super) shares: bool,
    preemptible: bool,
    pub(super) now: f64,
    /// The meters' origin.
    pub(super) origin: f64,
    /// ∫ free room while a job waits, by resource.
    pub(super) wasted: Vec<f64>,
    pub(super) queue_length: u64,
    pub(super) actions: Vec<Action>,
    pub(super) counters: Counters,
    pub(super) ended: u64,
    pub(super) violation: Option<Violation>,
}

impl System {
    /// An empty server for this workload, with as many clocks as the policy uses.
    pub fn new(workload: &Workload, clocks: usize, preemptible: bool) -> Self {
        let packing = Packing::new(workload);
        let types = packing.types();
        let kind = |t: &crate::workload::JobType| Type {
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
            types: workload.types().iter().map(kind).collect(),
            entries: Vec::new(),
            vacant: Vec::new(),
            queued: FixedBitSet::with_capacity(types),
            demand: (0..types).flat_map(|i| packing.demand(i).to_vec()).collect(),
            capacity: packing.capacity().to_vec(),
            free: packing.capacity().to_vec(),
            clocks: vec![0.0; clocks],
            clock_rate: 0.0,
            service_rate: 0.0,
            shares: false,
            preemptible,
            now: 0.0,
            origin: 0.0,
            wasted: vec![0.0; packing.capacity().len()],
            queue_length: 0,
            actions: Vec::new(),
            counters: Counters::default(),
            ended: 0,
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

    /// Jobs of type i in the system.
    pub fn present(&self, i: usize) -> u64 {
        let kind = &self.types[i];
        (kind.waiting.len() + kind.running.len()) as u64
    }

    /// The types with waiting jobs, in type order.
    pub fn queued(&self) -> impl Iterator<Item = usize> + '_ {
        self.queued.ones()
    }

    /// The oldest waiting job of type i.
    pub fn oldest(&self, i: usize) -> Option<Job> {
        self.types[i].waiting.front().map(|slot| self.job(*slot))
    }

    /// The waiting jobs of type i, in order of arrival.
    pub fn waiting_jobs(&self, i: usize) -> impl ExactSizeIterator<Item = Job> + '_ {
        self.types[i].waiting.iter().map(|slot| self.job(*slot))
    }

    /// The running jobs of type i, in no order.
    pub fn running_jobs(&self, i: usize) -> impl ExactSizeIterator<Item = Job> + '_ {
        self.types[i].running.iter().map(|slot| self.job(*slot))
    }

    /// The youngest running job of type i.
    pub fn youngest_running(&self, i: usize) -> Option<Job> {
        self.running_jobs(i).max_by_key(|job| job.number)
    }

    /// Work \[time\] that a job in the system has left; NaN where sizes are not known: only for
    /// rules that say that they [need them](super::Policy::needs_sizes).
    pub fn work_left(&self, job: Job) -> f64 {
        let entry = &self.entries[job.slot as usize];
        match entry.place {
            WAITING => entry.work,
            _ => (entry.work - self.now).max(0.0),
        }
    }

    /// The number of the job that ended last.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// Capacity of each resource, in whole units.
    pub fn capacity(&self) -> &[u64] {
        &self.capacity
    }

    /// Free units of each resource.
    pub fn free(&self) -> &[u64] {
        &self.free
    }

    /// Demand of type i in the same units.
    pub fn demand(&self, i: usize) -> &[u64] {
        let resources = self.free.len();
        &self.demand[i * resources..(i + 1) * resources]
    }

    /// Whether one more job of type i fits into the free room.
    pub fn fits(&self, i: usize) -> bool {
        let pairs = self.demand(i).iter().zip(&self.free);
        pairs.fold(true, |fits, (d, f)| fits & (d <= f))
    }

    // How a policy acts.

    /// Starts the oldest waiting job of type i.
    pub fn start(&mut self, i: usize) {
        if !self.fits(i) {
            return self.violate(Violation::Capacity(i));
        }
        match self.types[i].waiting.pop_front() {
            Some(slot) => self.run(i, slot),
            None => self.violate(Violation::NoJob(i)),
        }
    }

    /// Starts this waiting job of type i.
    pub fn start_job(&mut self, i: usize, job: Job) {
        if !self.fits(i) {
            return self.violate(Violation::Capacity(i));
        }
        let place = self.place_in_queue(i, job.number);
        if self.types[i].waiting.get(place) != Some(&job.slot) {
            return self.violate(Violation::NoJob(i));
        }
        self.types[i].waiting.remove(place);
        self.run(i, job.slot);
    }

    /// Preempts the youngest running job of type i; it waits again, in its place in the queue.
    pub fn stop(&mut self, i: usize) {
        match self.youngest_running(i) {
            Some(job) => self.stop_job(i, job),
            None => self.violate(Violation::NoJob(i)),
        }
    }

    /// Preempts this running job of type i; it waits again, in its place in the queue.
    pub fn stop_job(&mut self, i: usize, job: Job) {
        if self.requeue(i, job) {
            self.vacate(i);
        }
    }

    /// Preempts the youngest running job of type i; its room stays held, until
    /// [`System::release_setup`].
    pub fn stop_into_setup(&mut self, i: usize) {
        let Some(job) = self.youngest_running(i) else {
            return self.violate(Violation::NoJob(i));
        };
        if self.requeue(i, job) {
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
        self.clock_rate += rate - self.clocks[clock];
        self.clocks[clock] = rate;
    }

    /// Fractional service: all jobs of type i, waiting ones too, share `speed` equally (speed
    /// 1 serves one job at full rate). For policies that start no jobs of that type.
    pub fn share(&mut self, i: usize, speed: f64) {
        self.shares = true;
        self.set_speed(i, speed);
        let overfull = |j: usize| {
            let used = |(k, t): (usize, &Type)| t.speed * self.demand(k)[j] as f64;
            let used: f64 = self.types.iter().enumerate().map(used).sum();
            used > self.capacity[j] as f64 * (1.0 + 1e-9)
        };
        if speed.is_nan() || speed < 0.0 || (0..self.capacity.len()).any(overfull) {
            self.violate(Violation::Capacity(i));
        }
    }

    /// Tells how many slots the policy offers to type i, for the statistics.
    pub fn offer(&mut self, i: usize, slots: u32) {
        let at = self.now - self.origin;
        self.types[i].offered.set(f64::from(slots), at);
    }

    /// Tells that the policy left a working schedule, for the statistics.
    pub fn count_switch(&mut self) {
        self.counters.switches += 1;
    }

    // How the parts of it change.

    pub(super) fn job(&self, slot: u32) -> Job {
        let Entry { number, arrived, .. } = self.entries[slot as usize];
        Job { number, arrived, slot }
    }

    /// Where a job of this number stands in the queue of type i, or belongs.
    fn place_in_queue(&self, i: usize, number: u64) -> usize {
        let waiting = &self.types[i].waiting;
        waiting.partition_point(|slot| self.entries[*slot as usize].number < number)
    }

    pub(super) fn enqueue(&mut self, i: usize, place: usize, slot: u32) {
        self.types[i].waiting.insert(place, slot);
        self.queued.insert(i);
        self.queue_length += 1;
    }

    /// A job has left the queue of type i.
    pub(super) fn dequeued(&mut self, i: usize) {
        self.queue_length -= 1;
        if self.types[i].waiting.is_empty() {
            self.queued.remove(i);
        }
    }

    /// The job in this slot has left the queue, and runs.
    fn run(&mut self, i: usize, slot: u32) {
        self.dequeued(i);
        self.occupy(i);
        let running = &mut self.types[i].running;
        let entry = &mut self.entries[slot as usize];
        entry.place = running.len() as u32;
        entry.work += self.now;
        running.push(slot);
        let (number, arrived) = (entry.number, entry.arrived);
        self.set_speed(i, self.types[i].running.len() as f64);
        let job = Job { number, arrived, slot };
        self.actions.push(Action::Start(i, job));
    }

    fn requeue(&mut self, i: usize, job: Job) -> bool {
        let Entry { number, place, .. } = self.entries[job.slot as usize];
        if number != job.number || self.types[i].running.get(place as usize) != Some(&job.slot) {
            self.violate(Violation::NoJob(i));
            return false;
        }
        if !self.preemptible {
            self.violate(Violation::Preemption(i));
            return false;
        }
        self.remove_running(i, place);
        let entry = &mut self.entries[job.slot as usize];
        // Rounding must not leave a job with less than no work.
        entry.work = match entry.work - self.now {
            left if left < 0.0 => 0.0,
            left => left,
        };
        entry.place = WAITING;
        let place = self.place_in_queue(i, job.number);
        self.enqueue(i, place, job.slot);
        self.counters.preemptions += 1;
        self.actions.push(Action::Stop(i, job));
        true
    }

    /// The last running job of type i takes the place of this one.
    pub(super) fn remove_running(&mut self, i: usize, place: u32) {
        let running = &mut self.types[i].running;
        running.swap_remove(place as usize);
        if let Some(moved) = running.get(place as usize) {
            self.entries[*moved as usize].place = place;
        }
        self.set_speed(i, self.types[i].running.len() as f64);
    }

    fn set_speed(&mut self, i: usize, speed: f64) {
        let at = self.now - self.origin;
        let kind = &mut self.types[i];
        let more = speed - kind.speed;
        kind.speed = speed;
        kind.busy.add(more, at);
        self.service_rate += more * kind.service_rate;
    }

    fn occupy(&mut self, i: usize) {
        let resources = self.free.len();
        let demand = &self.demand[i * resources..(i + 1) * resources];
        for (free, d) in self.free.iter_mut().zip(demand) {
            *free -= d;
        }
    }

    pub(super) fn vacate(&mut self, i: usize) {
        let resources = self.free.len();
        let demand = &self.demand[i * resources..(i + 1) * resources];
        for (free, d) in self.free.iter_mut().zip(demand) {
            *free += d;
        }
    }

    pub(super) fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }
}
