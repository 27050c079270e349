//! The [`System`] that is used by a rule. See `view` to read it, and `drive` for the caller.

use super::Policy;
use super::capacity::ServerCapacity;
use super::hosts::Hosts;
use super::jobs::{Action, Counters, Entry, Job, Ticket, Type, Violation};
use super::pools::Pools;
use super::queued::Queued;
use crate::schedule::Packing;
use crate::workload::{Fleet, Workload};
use synth_simulation::Meter;

/// The queues and one server, or all servers of a fleet behind the same queues, where
/// [`System::start`] selects servers by the [`Placement`](super::Placement). Every change is
/// checked, in release builds too. The first infeasible decision only sets [`System::violation`].
pub struct System {
    pub(super) types: Vec<Type>,
    pub(super) entries: Vec<Entry>,
    /// The limit of the run time for each slot \[time\]. If there is no entry, it is infinite.
    pub(super) limits: Vec<f64>,
    /// The hash of the user name for each slot. If there is no entry, it is 0.
    pub(super) users: Vec<u32>,
    pub(super) vacant: Vec<u32>,
    pub(super) queued: Queued,
    pub(super) pools: Pools,
    pub(super) server: ServerCapacity,
    pub(super) others: Option<Vec<u64>>,
    pub(super) hosts: Option<Hosts>,
    team: Vec<usize>,
    pub(super) packing: Packing,
    pub(super) clocks: Vec<f64>,
    pub(super) clock_rate: f64,
    preemptible: bool,
    wake: f64,
    pub(super) now: f64,
    pub(super) origin: f64,
    pub(super) actions: Vec<Action>,
    /// If `true`, decisions are added to `actions`.
    pub records_actions: bool,
    pub(super) counters: Counters,
    /// The last job that ended, which keeps its slot until the next arrival, and its run time.
    pub(super) ended: (Job, f64),
    pub(super) withdrawn: u64,
    pub(super) guarded: Meter,
    pub(super) guarded_time: f64,
    pub(super) violation: Option<Violation>,
}

impl System {
    /// Creates an empty server for this workload. The policy has the given number of clocks.
    pub fn new(workload: &Workload, clocks: usize, preemptible: bool) -> Self {
        let packing = Packing::new(workload);
        let rates: Vec<f64> = workload.types().iter().map(|t| t.service_rate()).collect();
        let empty = |rate: &f64| Type {
            service_rate: *rate,
            ..Type::default()
        };
        System {
            types: rates.iter().map(empty).collect(),
            entries: Vec::new(),
            limits: Vec::new(),
            users: Vec::new(),
            vacant: Vec::new(),
            queued: Queued::new(rates.len()),
            pools: Pools::new(&rates),
            server: ServerCapacity::new(&packing),
            others: None,
            hosts: None,
            team: Vec::new(),
            packing,
            clocks: vec![0.0; clocks],
            clock_rate: 0.0,
            preemptible,
            wake: f64::INFINITY,
            now: 0.0,
            origin: 0.0,
            actions: Vec::new(),
            records_actions: true,
            counters: Counters::default(),
            ended: (Job::default(), 0.0),
            withdrawn: 0,
            guarded: Meter::default(),
            guarded_time: 0.0,
            violation: None,
        }
    }

    /// Creates the empty servers of a fleet for this policy.
    pub fn for_policy(fleet: &Fleet, policy: &dyn Policy) -> Self {
        let (clocks, preempts) = (policy.clocks(), policy.preempts());
        match fleet.one_server() {
            Some(workload) => System::new(workload, clocks, preempts),
            None => System::of_fleet(fleet, clocks, preempts),
        }
    }

    /// Creates the empty servers of a fleet, with one queue per type.
    pub fn of_fleet(fleet: &Fleet, clocks: usize, preemptible: bool) -> Self {
        System {
            hosts: Some(Hosts::new(fleet)),
            ..System::new(fleet.envelope(), clocks, preemptible)
        }
    }

    /// Starts the oldest waiting job of type `i`.
    #[inline]
    pub fn start(&mut self, i: usize) {
        if self.hosts.is_some() {
            return self.start_oldest(i, None);
        }
        if !self.server.take(i) {
            return self.violate(Violation::Capacity(i));
        }
        match self.types[i].waiting.pop_front() {
            Some(ticket) => self.run(i, ticket.slot()),
            None => {
                self.server.give(i);
                self.violate(Violation::NoJob(i));
            }
        }
    }

    /// Starts the oldest waiting job of type `i` on these servers of a fleet, as many as it needs.
    pub fn start_on(&mut self, i: usize, servers: &[usize]) {
        self.start_oldest(i, Some(servers));
    }

    fn start_oldest(&mut self, i: usize, servers: Option<&[usize]>) {
        match self.oldest(i) {
            Some(job) => self.start_job_where(i, job, servers),
            None => self.violate(Violation::NoJob(i)),
        }
    }

    /// Starts the given waiting job of type `i`.
    pub fn start_job(&mut self, i: usize, job: Job) {
        self.start_job_where(i, job, None);
    }

    /// Starts the given waiting job on these servers, which are ignored if there is only one.
    pub fn start_job_on(&mut self, i: usize, job: Job, servers: &[usize]) {
        self.start_job_where(i, job, Some(servers));
    }

    #[inline(always)]
    fn start_job_where(&mut self, i: usize, job: Job, servers: Option<&[usize]>) {
        let Some(place) = self.where_it_waits(i, job) else {
            return self.violate(Violation::NoJob(i));
        };
        if !self.take_capacity(i, job.slot, servers) {
            return self.violate(Violation::Capacity(i));
        }
        self.types[i].waiting.remove(place);
        self.run(i, job.slot);
    }

    /// Preempts the youngest running job of type `i` and returns it to its place in the queue.
    pub fn stop(&mut self, i: usize) {
        match self.youngest_running(i) {
            Some(job) => self.stop_job(i, job),
            None => self.violate(Violation::NoJob(i)),
        }
    }

    /// Preempts this running job of type `i` and returns it to its place in the queue.
    pub fn stop_job(&mut self, i: usize, job: Job) {
        if self.requeue(i, job) {
            self.give_capacity(i, job.slot);
        }
    }

    /// Preempts the youngest running job of type `i` and holds its capacity until
    /// [`System::release_setup`]. Fleets do not support this.
    pub fn stop_into_setup(&mut self, i: usize) {
        let Some(job) = self.youngest_running(i).filter(|_| self.hosts.is_none()) else {
            return self.violate(Violation::NoJob(i));
        };
        if self.requeue(i, job) {
            self.types[i].held += 1;
            self.counters.setups += 1;
        }
    }

    pub(super) fn stop_all(&mut self) {
        for i in 0..self.types() {
            while self.running(i) > 0 {
                self.stop(i);
            }
        }
    }

    /// Holds the capacity of a slot on one server without a job until [`System::release_setup`].
    pub fn hold(&mut self, i: usize) {
        if self.hosts.is_some() || !self.server.take(i) {
            return self.violate(Violation::Capacity(i));
        }
        self.types[i].held += 1;
    }

    /// Ends a setup or any other hold of type `i` and frees the capacity that was used by it.
    pub fn release_setup(&mut self, i: usize) {
        if self.types[i].held == 0 {
            return self.violate(Violation::NoJob(i));
        }
        self.types[i].held -= 1;
        self.give_on_one_server(i);
    }

    /// Sets the rate [1/time] of an exponential clock of the policy. A rate of 0 stops it.
    pub fn set_clock(&mut self, clock: usize, rate: f64) {
        self.clock_rate += rate - self.clocks[clock];
        self.clocks[clock] = rate;
    }

    /// Sets the time, which may be infinite, at which the rule is called without an event. Only for
    /// rules that [decide on the state](super::Policy::decides_on_state) and use sizes or limits.
    pub fn wake_at(&mut self, time: f64) {
        self.wake = time;
    }

    /// Returns the time set by [`System::wake_at`].
    #[inline]
    pub fn wake(&self) -> f64 {
        self.wake
    }

    pub(super) fn stop_clocks(&mut self) {
        (0..self.clocks.len()).for_each(|clock| self.set_clock(clock, 0.0));
    }

    /// Records the number of slots that the policy offers to type `i`, for the statistics.
    pub fn offer(&mut self, i: usize, slots: u32) {
        let at = self.now - self.origin;
        self.types[i].offered.set(f64::from(slots), at);
    }

    pub(super) fn guard(&mut self, on: bool) {
        let at = self.now - self.origin;
        self.guarded.set(f64::from(u8::from(on)), at);
        self.counters.guards += u64::from(on);
    }

    /// Records that the rule failed and why, which ends the run.
    pub fn fail(&mut self, why: String) {
        self.violate(Violation::Failed(why));
    }

    pub(super) fn count_switch(&mut self) {
        self.counters.switches += 1;
    }

    #[inline(always)]
    fn take_capacity(&mut self, i: usize, slot: u32, servers: Option<&[usize]>) -> bool {
        let Some(hosts) = &mut self.hosts else {
            return self.server.take(i);
        };
        let found = match servers {
            Some(servers) => hosts.takes(i, servers),
            None => hosts.find_servers(i, |_| true, &mut self.team),
        };
        if found {
            hosts.take(i, servers.unwrap_or(&self.team), slot);
        }
        found
    }

    #[inline(always)]
    pub(super) fn give_capacity(&mut self, i: usize, slot: u32) {
        match &mut self.hosts {
            None => self.give_on_one_server(i),
            Some(hosts) => hosts.give(i, slot),
        }
    }

    #[inline(always)]
    fn give_on_one_server(&mut self, i: usize) {
        match self.others {
            None => self.server.give(i),
            Some(_) => self.recount_free(),
        }
    }

    pub(super) fn where_it_waits(&self, i: usize, job: Job) -> Option<usize> {
        let place = self.place_in_queue(i, job.number);
        let found = self.types[i].waiting.get(place);
        (found == Some(&Ticket::new(job.number, job.slot))).then_some(place)
    }

    /// Returns the position that a job of this number has, or would have, in the queue of type `i`.
    pub(super) fn place_in_queue(&self, i: usize, number: u64) -> usize {
        let waiting = &self.types[i].waiting;
        match waiting.front() {
            Some(first) if first.number() >= number => 0,
            _ => waiting.partition_point(|ticket| ticket.number() < number),
        }
    }

    #[inline]
    pub(super) fn queue_changed(&mut self, i: usize) {
        let head = self.types[i].waiting.front();
        let number = head.map(|ticket| ticket.number());
        self.queued.set_oldest(i, number);
    }

    #[inline(always)]
    fn run(&mut self, i: usize, slot: u32) {
        self.queue_changed(i);
        self.queued.length -= 1;
        let at = self.now - self.origin;
        self.types[i].running += 1;
        self.types[i].busy.jump(1.0, at);
        let entry = &mut self.entries[slot as usize];
        entry.place = self.pools.join(i, slot);
        entry.work += self.now;
        entry.started = self.now;
        if self.records_actions {
            self.actions.push(Action::Start(i, self.job(slot)));
        }
    }

    fn requeue(&mut self, i: usize, job: Job) -> bool {
        if !self.runs(job) {
            self.violate(Violation::NoJob(i));
            return false;
        }
        if !self.preemptible {
            self.violate(Violation::Preemption(i));
            return false;
        }
        self.wait_again(i, job);
        self.counters.preemptions += 1;
        if self.records_actions {
            self.actions.push(Action::Stop(i, job));
        }
        true
    }

    #[inline(always)]
    pub(super) fn stop_running(&mut self, i: usize, place: u32) {
        if let Some(moved) = self.pools.leave(i, place) {
            self.entries[moved as usize].place = place;
        }
        let at = self.now - self.origin;
        self.types[i].running -= 1;
        self.types[i].busy.jump(-1.0, at);
    }

    pub(super) fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }
}
