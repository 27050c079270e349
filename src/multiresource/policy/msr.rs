use super::first_fit::start_all_that_fit;
use super::{Event, FamilyRule, KnobRange, Policy, System};
use crate::multiresource::artifact::{
    Admission, Backfill, Drain, EmptySlots, MsrPolicy, Preemption,
};
use crate::multiresource::workload::{JobType, Workload};

/// The clock that ends a working schedule; clock `1 + i` ends a slot of type i that no job
/// ends: a phantom of a drain, or a setup.
const SWITCH: usize = 0;

/// A Markovian Service Rate policy, online (the MSR paper, §5.1 and §8.2): works on one
/// schedule until the switch clock rings, then takes the route to the next of the loop.
///
/// O(1) a decision on a working schedule without backfilling, O(K) otherwise.
#[derive(Clone, Debug)]
pub struct Msr {
    policy: MsrPolicy,
    service_rates: Vec<f64>,
    /// By type: the dominant share of the server.
    shares: Vec<f64>,
    setup_rate: f64,
    /// Position in the loop: of the working schedule, or of the one that the route goes to.
    position: usize,
    working: bool,
    /// Slots of each type that serve.
    slots: Vec<u32>,
    /// Slots of each type in setup.
    setups: Vec<u32>,
    /// Room that is neither in use nor reserved, while slots are admitted.
    room: Vec<u64>,
}

impl Msr {
    /// The online rule of a policy that has been checked against its workload.
    pub fn new(policy: &MsrPolicy, workload: &Workload) -> Self {
        Msr {
            policy: policy.clone(),
            service_rates: workload.types().iter().map(|t| t.service_rate()).collect(),
            shares: workload.dominant_shares(),
            setup_rate: match policy.preemption {
                Preemption::Setup => policy.setup_rate.expect("setups have a rate"),
                Preemption::None | Preemption::Full => 0.0,
            },
            position: 0,
            working: true,
            slots: policy.schedule(0).to_vec(),
            setups: vec![0; workload.types().len()],
            room: vec![0; workload.resources().len()],
        }
    }

    /// The schedule that the rule works on, or goes to, and whether it has reached it.
    pub fn schedule(&self) -> (&[u32], bool) {
        (self.policy.schedule(self.position), self.working)
    }

    fn target(&self, i: usize) -> u32 {
        self.policy.schedule(self.position)[i]
    }

    /// Slots of type i that hold room: for its own jobs, for backfilled ones, or in setup.
    fn holding(&self, i: usize, system: &System) -> u32 {
        self.slots[i].max(system.running(i)) + self.setups[i]
    }

    /// Whether type i holds more than the schedule ahead gives it, or slots in setup that another rule left.
    fn exceeds(&self, i: usize, system: &System) -> bool {
        self.setups[i] > 0 || self.holding(i, system) > self.target(i)
    }

    /// The first type, in type order, that is on its way out.
    fn first_moving(&self, system: &System) -> Option<usize> {
        (0..self.slots.len()).find(|&i| self.exceeds(i, system))
    }

    fn is_moving(&self, i: usize, system: &System) -> bool {
        match self.policy.route.drain {
            Drain::Concurrent => self.exceeds(i, system),
            Drain::Sequential => self.first_moving(system) == Some(i),
        }
    }

    fn depart(&mut self, system: &mut System) {
        self.position = (self.position + 1) % self.policy.order.len();
        self.working = false;
        system.set_clock(SWITCH, 0.0);
        system.count_switch();
        self.preempt(system);
        self.follow_route(system);
    }

    /// With full preemption the schedule ahead is there at once.
    fn preempt(&mut self, system: &mut System) {
        if self.policy.preemption != Preemption::Full {
            return;
        }
        for i in 0..self.slots.len() {
            self.slots[i] = self.target(i);
            while system.running(i) > self.slots[i] {
                system.stop(i);
            }
        }
    }

    /// What happens at once on a route: setups begin, empty slots go, room is filled; and
    /// where no type is left to move, the next schedule works.
    fn follow_route(&mut self, system: &mut System) {
        while let Some(i) = self.next_to_lower(system) {
            self.lower(i, system);
        }
        if self.first_moving(system).is_none() {
            self.arrive(system);
        } else if self.policy.route.admission == Admission::Eager {
            self.admit(system);
        }
        for i in 0..self.slots.len() {
            system.offer(i, self.slots[i]);
        }
        self.fill(system);
        self.set_clocks(system);
    }

    /// A moving type whose slots can be lowered without waiting.
    fn next_to_lower(&self, system: &System) -> Option<usize> {
        let at_once = |i: usize| match self.policy.preemption {
            Preemption::Full => false,
            Preemption::Setup => self.slots[i].max(system.running(i)) > self.target(i),
            Preemption::None => {
                self.policy.empty_slots == EmptySlots::Release
                    && self.slots[i] > self.target(i).max(system.running(i))
            }
        };
        (0..self.slots.len()).find(|&i| at_once(i) && self.is_moving(i, system))
    }

    fn lower(&mut self, i: usize, system: &mut System) {
        if self.policy.preemption == Preemption::None {
            self.slots[i] = self.target(i).max(system.running(i));
            return;
        }
        while system.running(i) > self.target(i) {
            system.stop_into_setup(i);
            self.setups[i] += 1;
            self.slots[i] = self.slots[i].saturating_sub(1);
        }
        while self.slots[i] > self.target(i) {
            self.slots[i] -= 1;
            // An empty slot's room may be lent to a backfilled job: then that job sets up.
            if self.policy.empty_slots == EmptySlots::Phantom && system.fits(i) {
                system.hold(i);
                system.count_setup();
                self.setups[i] += 1;
            }
        }
        // Of the jobs stopped some were backfilled and had no slot: those that run on keep one.
        self.slots[i] = self.slots[i].max(self.target(i).min(system.running(i)));
    }

    fn arrive(&mut self, system: &mut System) {
        self.working = true;
        for i in 0..self.slots.len() {
            self.slots[i] = self.target(i);
        }
        system.set_clock(SWITCH, self.policy.leaving_rate(self.position));
    }

    /// Eager admission: raises the counts of types with too few slots, in type order, each
    /// by as many as fit beside all slots that hold room.
    fn admit(&mut self, system: &System) {
        for (j, room) in self.room.iter_mut().enumerate() {
            *room = system.free(j);
        }
        for i in 0..self.slots.len() {
            // Slots without a job hold room that the system counts as free; where backfilled
            // jobs use it, no room is left to admit into.
            let empty = u64::from(self.slots[i].saturating_sub(system.running(i)));
            for (room, d) in self.room.iter_mut().zip(system.demand(i)) {
                *room = room.saturating_sub(empty * d);
            }
        }
        for i in 0..self.slots.len() {
            while self.slots[i] < self.target(i) && self.take_room(i, system) {
                self.slots[i] += 1;
            }
        }
    }

    /// Takes the room of one more slot of type i, if it is there; a slot for a job that
    /// already runs, backfilled, needs none.
    fn take_room(&mut self, i: usize, system: &System) -> bool {
        if system.running(i) > self.slots[i] {
            return true;
        }
        let fits = self
            .room
            .iter()
            .zip(system.demand(i))
            .all(|(room, d)| d <= room);
        if fits {
            self.room
                .iter_mut()
                .zip(system.demand(i))
                .for_each(|(room, d)| *room -= d);
        }
        fits
    }

    /// Starts what the slots call for, then offers what is left.
    fn fill(&mut self, system: &mut System) {
        for i in 0..self.slots.len() {
            self.fill_type(i, system);
        }
        if self.policy.backfill == Backfill::FirstFit && (self.working || self.may_lend(system)) {
            start_all_that_fit(system);
        }
    }

    /// Whether room that comes free on a route may be lent: not while a job waits that the
    /// schedule ahead has a place for; and not where jobs would be preempted at once, into a
    /// setup of their own.
    fn may_lend(&self, system: &System) -> bool {
        let awaited = |i| system.running(i) < self.target(i) && system.waiting(i) > 0;
        self.policy.preemption != Preemption::Setup && !(0..self.slots.len()).any(awaited)
    }

    /// Starts waiting jobs of type i in its free slots, while no backfilled job is in the way
    /// that cannot be preempted.
    fn fill_type(&mut self, i: usize, system: &mut System) {
        while system.running(i) < self.slots[i] && system.waiting(i) > 0 {
            let full = self.policy.preemption == Preemption::Full;
            if !(system.fits(i) || full && self.evict(i, system)) {
                return;
            }
            system.start(i);
        }
    }

    /// Preempts backfilled jobs, the youngest first, until a job of type i fits.
    fn evict(&self, i: usize, system: &mut System) -> bool {
        while !system.fits(i) {
            let surplus = (0..self.slots.len()).filter(|&h| system.running(h) > self.slots[h]);
            let youngest =
                surplus.max_by_key(|&h| system.youngest_running(h).map(|job| job.number));
            let Some(h) = youngest else { return false };
            system.stop(h);
        }
        true
    }

    /// The clocks of slots on their way out: those that no job's completion ends.
    fn set_clocks(&self, system: &mut System) {
        let first = self.first_moving(system);
        for i in 0..self.slots.len() {
            let moving = match self.policy.route.drain {
                Drain::Concurrent => self.exceeds(i, system),
                Drain::Sequential => first == Some(i),
            };
            let rate = if moving {
                self.clock_rate(i, system)
            } else {
                0.0
            };
            system.set_clock(1 + i, rate);
        }
    }

    /// The rate at which a type on its way out loses slots without a job.
    fn clock_rate(&self, i: usize, system: &System) -> f64 {
        match self.policy.preemption {
            Preemption::Setup => f64::from(self.setups[i]) * self.setup_rate,
            _ => f64::from(self.slots[i].saturating_sub(system.running(i))) * self.service_rates[i],
        }
    }

    /// What runs holds its slots, and the route goes to the schedule in this position.
    fn go_to(&mut self, position: usize, system: &mut System) {
        for (i, slots) in self.slots.iter_mut().enumerate() {
            *slots = system.running(i);
        }
        for (i, setups) in self.setups.iter_mut().enumerate() {
            *setups = system.held(i);
        }
        self.position = position;
        self.working = false;
        self.preempt(system);
        self.follow_route(system);
    }

    /// An event on a route.
    fn route_event(&mut self, event: Event, system: &mut System) {
        let changed = match event {
            Event::Arrival(_) => false,
            Event::Completion(i) => {
                let before = self.slots[i].max(system.running(i) + 1);
                self.lose_slot(i, system);
                before > self.slots[i].max(system.running(i))
            }
            Event::Clock(clock) if self.policy.preemption == Preemption::Setup => {
                self.setups[clock - 1] -= 1;
                system.release_setup(clock - 1);
                true
            }
            Event::Clock(clock) => {
                self.slots[clock - 1] -= 1;
                true
            }
        };
        match event {
            Event::Arrival(i) | Event::Completion(i) if !changed => self.refill(i, system),
            _ => self.follow_route(system),
        }
    }

    /// A job of type i has ended; where the type drains, its slot goes with it.
    fn lose_slot(&mut self, i: usize, system: &System) {
        if self.policy.preemption != Preemption::None {
            return;
        }
        // Moving before this completion, and no surplus job.
        let before = self.slots[i].max(system.running(i) + 1) > self.target(i);
        let moving = match self.policy.route.drain {
            Drain::Concurrent => before,
            Drain::Sequential => before && self.first_moving(system).is_none_or(|first| first >= i),
        };
        if moving && system.running(i) < self.slots[i] {
            self.slots[i] -= 1;
        }
    }

    /// The room that is held has not changed: waiting jobs of type i may start in its slots; jobs of
    /// other types only where backfilled jobs were in the way.
    fn refill(&mut self, i: usize, system: &mut System) {
        match self.policy.backfill {
            Backfill::None => self.fill_type(i, system),
            Backfill::FirstFit => self.fill(system),
        }
        if system.clocks()[1 + i] > 0.0 || self.is_moving(i, system) {
            system.set_clock(1 + i, self.clock_rate(i, system));
        }
    }
}

/// A step of the switching rate.
const RATE: f64 = 1.5;

impl FamilyRule for MsrPolicy {
    type Rule = Msr;

    fn rule(&self, workload: &Workload) -> Msr {
        Msr::new(self, workload)
    }

    fn words(&self, workload: &Workload) -> String {
        let way = match self.preemption {
            Preemption::None => {
                "jobs run to their end, and those that the next schedule has no place for are waited for"
            }
            Preemption::Setup => "jobs are preempted, and their room is held for a setup time",
            Preemption::Full => "jobs are preempted at no cost",
        };
        let left = match self.backfill {
            Backfill::None => "",
            Backfill::FirstFit => "; room that is left is offered to other waiting jobs",
        };
        match self.order.len() {
            1 => format!("MSR: one schedule serves all types, and is never left{left}."),
            count => format!(
                "MSR: it works on {count} schedules in turn. A clock ends each after an exponential time, on average after {:.4} {} of work; {way}{left}.",
                1.0 / self.switching_rate,
                workload.time_unit()
            ),
        }
    }

    /// By the loads ρ_i < 1, with exponential sizes, independent of each other.
    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.types().iter().all(JobType::is_memoryless)
    }

    fn axes(&self, _: &KnobRange<'_>) -> usize {
        1
    }

    fn stepped(&self, _: usize, up: bool, range: &KnobRange<'_>) -> Option<Self> {
        let factor = if up { RATE } else { 1.0 / RATE };
        let switching_rate = self.switching_rate * factor;
        (self.order.len() > 1 && switching_rate < 0.98 * range.largest_rate).then(|| MsrPolicy {
            switching_rate,
            ..self.clone()
        })
    }
}

impl Policy for Msr {
    fn clocks(&self) -> usize {
        1 + self.slots.len()
    }

    fn preempts(&self) -> bool {
        self.policy.preemption != Preemption::None
    }

    fn begin(&mut self, system: &mut System) {
        self.arrive(system);
        for i in 0..self.slots.len() {
            system.offer(i, self.slots[i]);
        }
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            // A ring that comes too late, after its clock was stopped.
            Event::Clock(clock) if system.clocks().get(clock).is_none_or(|rate| *rate == 0.0) => {}
            Event::Clock(SWITCH) => self.depart(system),
            _ if !self.working => self.route_event(event, system),
            Event::Arrival(i) | Event::Completion(i) if self.policy.backfill == Backfill::None => {
                self.fill_type(i, system);
            }
            _ => self.fill(system),
        }
    }

    /// To the first schedule.
    fn take_over(&mut self, system: &mut System) {
        self.go_to(0, system);
    }

    fn changed(&mut self, system: &mut System) {
        match self.working {
            true => self.fill(system),
            false => self.follow_route(system),
        }
    }

    fn doing(&self, names: &[&str], _: &System) -> Option<String> {
        let (schedule, reached) = self.schedule();
        let slots = super::told(schedule.iter().copied().enumerate(), names);
        Some(match reached {
            true => format!("works on the schedule of {slots}, until its clock rings"),
            false => format!(
                "is on its way to the schedule of {slots}: jobs that it has no slots for run to their ends"
            ),
        })
    }

    /// Goes to the schedule of which the running jobs fill most, by dominant share.
    fn resume(&mut self, system: &mut System) {
        let fills = |position: usize| -> f64 {
            let slots = self.policy.schedule(position).iter().enumerate();
            let filled = slots.map(|(i, u)| f64::from(system.running(i).min(*u)));
            filled.zip(&self.shares).map(|(x, share)| x * share).sum()
        };
        let mut most = 0;
        for position in 1..self.policy.order.len() {
            if fills(position) > fills(most) {
                most = position;
            }
        }
        self.go_to(most, system);
    }

    fn let_go(&mut self, system: &mut System) {
        for clock in 0..self.clocks() {
            system.set_clock(clock, 0.0);
        }
        for i in 0..self.slots.len() {
            system.offer(i, 0);
        }
    }
}
