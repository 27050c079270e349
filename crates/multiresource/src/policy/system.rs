//! The [`System`] that a rule acts on: what it may do at an event (start and stop jobs, set clocks), each change checked. What
//! it sees of it is in `view`, how a simulator or a scheduler drives it in `drive`.

use super::Policy;
use super::hosts::Hosts;
use super::jobs::{Action, Counters, Entry, Job, Ticket, Type, Violation};
use super::pools::Pools;
use super::queued::Queued;
use super::room::Room;
use crate::schedule::Packing;
use crate::workload::{Fleet, Workload};
use synth_simulation::Meter;

/// One server with its queues, or those of a fleet behind the same queues: what a policy sees, and where it
/// acts. In a fleet [`System::start`] takes the server that the [`Placement`](super::Placement) says.
///
/// Every change is checked, in release builds too; the first decision that no server could
/// carry out is kept in [`System::violation`] and has no effect.
pub struct System {
    pub(super) types: Vec<Type>,
    pub(super) entries: Vec<Entry>,
    /// The longest that the job in each slot may run \[time\]; shorter than `entries` where that is known of
    /// none beyond.
    pub(super) limits: Vec<f64>,
    /// Who sent the job in each slot, a hash of a name; shorter than `entries` where that is known of none beyond.
    pub(super) users: Vec<u32>,
    /// Slots without a job.
    pub(super) vacant: Vec<u32>,
    pub(super) queued: Queued,
    pub(super) pools: Pools,
    /// Of the server, where there is one.
    pub(super) room: Room,
    /// Units of each resource that others use, of the one server; none where nobody ever did.
    pub(super) others: Option<Vec<u64>>,
    /// The servers, where there are several.
    pub(super) hosts: Option<Hosts>,
    /// Those on which a job is about to start.
    team: Vec<usize>,
    pub(super) packing: Packing,
    pub(super) clocks: Vec<f64>,
    /// Σ of the clocks' rates, but for rounding.
    pub(super) clock_rate: f64,
    preemptible: bool,
    /// When the rule wants to decide even if nothing happens.
    wake: f64,
    pub(super) now: f64,
    /// The meters' origin.
    pub(super) origin: f64,
    pub(super) actions: Vec<Action>,
    /// Whether decisions are noted in `actions`.
    pub noting: bool,
    pub(super) counters: Counters,
    /// The job that ended last, in whose slot it still is, and how long it ran \[time\].
    pub(super) ended: (Job, f64),
    /// Jobs that left before they ended.
    pub(super) withdrawn: u64,
    /// Whether the policy is under guard, and for how long it was \[time\].
    pub(super) guarded: Meter,
    pub(super) guarded_time: f64,
    pub(super) violation: Option<Violation>,
}

impl System {
    /// An empty server for this workload, with as many clocks as the policy uses.
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
            room: Room::new(&packing),
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
            noting: true,
            counters: Counters::default(),
            ended: (Job::default(), 0.0),
            withdrawn: 0,
            guarded: Meter::default(),
            guarded_time: 0.0,
            violation: None,
        }
    }

    /// The empty servers of a fleet that this policy decides over.
    pub fn for_policy(fleet: &Fleet, policy: &dyn Policy) -> Self {
        let (clocks, preempts) = (policy.clocks(), policy.preempts());
        match fleet.one_server() {
            Some(workload) => System::new(workload, clocks, preempts),
            None => System::of_fleet(fleet, clocks, preempts),
        }
    }

    /// The empty servers of a fleet, with one queue a type.
    pub fn of_fleet(fleet: &Fleet, clocks: usize, preemptible: bool) -> Self {
        System {
            hosts: Some(Hosts::new(fleet)),
            ..System::new(fleet.envelope(), clocks, preemptible)
        }
    }

    /// Starts the oldest waiting job of type i.
    #[inline]
    pub fn start(&mut self, i: usize) {
        if self.hosts.is_some() {
            return self.start_oldest(i, None);
        }
        if !self.room.take(i) {
            return self.violate(Violation::Capacity(i));
        }
        match self.types[i].waiting.pop_front() {
            Some(ticket) => self.run(i, ticket.slot()),
            None => {
                self.room.give(i);
                self.violate(Violation::NoJob(i));
            }
        }
    }

    /// Starts the oldest waiting job of type i on these servers of a fleet, as many as it takes.
    pub fn start_on(&mut self, i: usize, servers: &[usize]) {
        self.start_oldest(i, Some(servers));
    }

    fn start_oldest(&mut self, i: usize, servers: Option<&[usize]>) {
        match self.oldest(i) {
            Some(job) => self.start_job_where(i, job, servers),
            None => self.violate(Violation::NoJob(i)),
        }
    }

    /// Starts this waiting job of type i.
    pub fn start_job(&mut self, i: usize, job: Job) {
        self.start_job_where(i, job, None);
    }

    /// Starts this waiting job of type i on these servers, as many as it takes; of one server they say nothing.
    pub fn start_job_on(&mut self, i: usize, job: Job, servers: &[usize]) {
        self.start_job_where(i, job, Some(servers));
    }

    #[inline(always)]
    fn start_job_where(&mut self, i: usize, job: Job, servers: Option<&[usize]>) {
        let Some(place) = self.where_it_waits(i, job) else {
            return self.violate(Violation::NoJob(i));
        };
        if !self.take_room(i, job.slot, servers) {
            return self.violate(Violation::Capacity(i));
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
            self.give_room(i, job.slot);
        }
    }

    /// Preempts the youngest running job of type i; its room stays held, until
    /// [`System::release_setup`].
    pub fn stop_into_setup(&mut self, i: usize) {
        let Some(job) = self.youngest_running(i).filter(|_| self.hosts.is_none()) else {
            return self.violate(Violation::NoJob(i));
        };
        if self.requeue(i, job) {
            self.types[i].held += 1;
            self.counters.setups += 1;
        }
    }

    /// Preempts all jobs.
    pub fn stop_all(&mut self) {
        for i in 0..self.types() {
            while self.running(i) > 0 {
                self.stop(i);
            }
        }
    }

    /// Holds the room of a type-i slot that has no job, until [`System::release_setup`].
    pub fn hold(&mut self, i: usize) {
        // Slots are held on one server only.
        if self.hosts.is_some() || !self.room.take(i) {
            return self.violate(Violation::Capacity(i));
        }
        self.types[i].held += 1;
    }

    /// Counts a slot without a job that went into setup, for the statistics.
    pub fn count_setup(&mut self) {
        self.counters.setups += 1;
    }

    /// Ends a setup or another hold of type i: its room is free.
    pub fn release_setup(&mut self, i: usize) {
        if self.types[i].held == 0 {
            return self.violate(Violation::NoJob(i));
        }
        self.types[i].held -= 1;
        self.give_room_of_one(i);
    }

    /// Sets the rate [1/time] of one of the policy's exponential clocks; 0 stops it.
    pub fn set_clock(&mut self, clock: usize, rate: f64) {
        self.clock_rate += rate - self.clocks[clock];
        self.clocks[clock] = rate;
    }

    /// Lets the rule decide at this time, if it has not before; infinity takes that back. Only for rules that
    /// [decide on the state](super::Policy::decides_on_state), and know sizes or limits.
    pub fn wake_at(&mut self, time: f64) {
        self.wake = time;
    }

    /// Returns when that is.
    #[inline]
    pub fn wake(&self) -> f64 {
        self.wake
    }

    /// Stops all clocks.
    pub(super) fn stop_clocks(&mut self) {
        (0..self.clocks.len()).for_each(|clock| self.set_clock(clock, 0.0));
    }

    /// Records how many slots the policy offers to type i, for the statistics.
    pub fn offer(&mut self, i: usize, slots: u32) {
        let at = self.now - self.origin;
        self.types[i].offered.set(f64::from(slots), at);
    }

    /// Records whether the guard of the policy has taken over, for the statistics.
    pub fn guard(&mut self, on: bool) {
        let at = self.now - self.origin;
        self.guarded.set(f64::from(u8::from(on)), at);
        self.counters.guards += u64::from(on);
    }

    /// Says that the rule failed: the run ends, and this is why.
    pub fn fail(&mut self, why: String) {
        self.violate(Violation::Failed(why));
    }

    /// Counts that the policy left a working schedule, for the statistics.
    pub fn count_switch(&mut self) {
        self.counters.switches += 1;
    }

    // Changes of its parts.

    /// Takes room for the job of type i in this slot, on these servers of a fleet or where the placement says; whether
    /// there is room.
    #[inline(always)]
    fn take_room(&mut self, i: usize, slot: u32, servers: Option<&[usize]>) -> bool {
        let Some(hosts) = &mut self.hosts else {
            return self.room.take(i);
        };
        let found = match servers {
            Some(servers) => hosts.takes(i, servers),
            None => hosts.team(i, |_| true, &mut self.team),
        };
        if found {
            hosts.take(i, servers.unwrap_or(&self.team), slot);
        }
        found
    }

    /// The room of the job of type i in this slot is free.
    #[inline(always)]
    pub(super) fn give_room(&mut self, i: usize, slot: u32) {
        match &mut self.hosts {
            None => self.give_room_of_one(i),
            Some(hosts) => hosts.give(i, slot),
        }
    }

    /// The same on the one server, of which others may use a part.
    #[inline(always)]
    fn give_room_of_one(&mut self, i: usize) {
        match self.others {
            None => self.room.give(i),
            Some(_) => self.recount_room(),
        }
    }

    /// Returns the place of this job in the queue of type i, if it waits there.
    pub(super) fn where_it_waits(&self, i: usize, job: Job) -> Option<usize> {
        let place = self.place_in_queue(i, job.number);
        let found = self.types[i].waiting.get(place);
        (found == Some(&Ticket::new(job.number, job.slot))).then_some(place)
    }

    /// The place of a job of this number in the queue of type i.
    pub(super) fn place_in_queue(&self, i: usize, number: u64) -> usize {
        let waiting = &self.types[i].waiting;
        // Most often it is the oldest.
        if waiting
            .front()
            .is_some_and(|first| first.number() >= number)
        {
            return 0;
        }
        waiting.partition_point(|ticket| ticket.number() < number)
    }

    /// A job has left the queue of type i, or come into it.
    #[inline]
    pub(super) fn queue_changed(&mut self, i: usize) {
        let head = self.types[i].waiting.front();
        let number = head.map(|ticket| ticket.number());
        self.queued.set_oldest(i, number);
    }

    /// The job in this slot has left the queue, and runs in the room that was taken for it.
    #[inline(always)]
    fn run(&mut self, i: usize, slot: u32) {
        self.queue_changed(i);
        self.queued.length -= 1;
        let at = self.now - self.origin;
        self.types[i].running += 1;
        self.types[i].busy.rise(at);
        let entry = &mut self.entries[slot as usize];
        entry.place = self.pools.join(i, slot);
        entry.work += self.now;
        entry.started = self.now;
        if self.noting {
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
        if self.noting {
            self.actions.push(Action::Stop(i, job));
        }
        true
    }

    /// The job of type i in this place runs no more.
    #[inline(always)]
    pub(super) fn stop_running(&mut self, i: usize, place: u32) {
        if let Some(moved) = self.pools.leave(i, place) {
            self.entries[moved as usize].place = place;
        }
        let at = self.now - self.origin;
        self.types[i].running -= 1;
        self.types[i].busy.fall(at);
    }

    pub(super) fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }
}
