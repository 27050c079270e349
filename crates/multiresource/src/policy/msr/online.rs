use fixedbitset::FixedBitSet;

use super::slots::Slots;
use super::{Admission, Backfill, Drain, EmptySlots, MsrConfig, Preemption};
use crate::policy::capacity::{covers, reduce};
use crate::policy::type_set::next;
use crate::policy::{Event, Policy, System, in_words};
use crate::schedule::index_of_largest;
use crate::workload::Workload;

/// The clock that ends a working schedule. Clock `1 + i` ends a slot of type `i` that does not have
/// a job (a phantom or a setup). In a chain, clock `1 + K + t` switches to schedule `t`.
const SWITCH: usize = 0;

/// The online rule of a Markovian Service Rate policy (the MSR paper, §5.1 and §8.2). It uses one
/// schedule until the switch clock rings, and then takes the route to the next schedule.
#[derive(Clone, Debug)]
pub struct Msr {
    policy: MsrConfig,
    service_rates: Vec<f64>,
    shares: Vec<f64>,
    /// By position, the types with another count than before.
    differing: Vec<Vec<usize>>,
    leaving: Vec<Vec<(usize, f64)>>,
    /// Position in the loop of the working schedule, or of the destination of the route.
    position: usize,
    working: bool,
    slots: Slots,
    clocked: FixedBitSet,
    /// Set to `true` if no job fitted after the last decision in which any job could start.
    full: bool,
    free: Vec<u64>,
}

impl Msr {
    /// Creates the rule of a policy that was checked against this workload.
    pub fn new(policy: &MsrConfig, workload: &Workload) -> Self {
        let (types, positions) = (workload.types().len(), policy.order.len());
        let differing = |position: usize| -> Vec<usize> {
            if policy.rates.is_some() {
                return (0..types).collect();
            }
            let before = policy.schedule((position + positions - 1) % positions);
            let counts = policy.schedule(position).iter().zip(before).enumerate();
            let others = counts.filter(|(_, (own, before))| own != before);
            others.map(|(i, _)| i).collect()
        };
        let leaving = |position: usize| -> Vec<(usize, f64)> {
            let rates = policy.leaving(position).into_iter();
            let clock = |to: usize| policy.rates.as_ref().map_or(SWITCH, |_| 1 + types + to);
            rates.map(|(to, rate)| (clock(to), rate)).collect()
        };
        Msr {
            leaving: (0..positions).map(leaving).collect(),
            service_rates: workload.types().iter().map(|t| t.service_rate()).collect(),
            shares: workload.dominant_shares(),
            differing: (0..positions).map(differing).collect(),
            position: 0,
            working: true,
            slots: Slots::new(policy.schedule(0)),
            clocked: FixedBitSet::with_capacity(types),
            full: false,
            free: vec![0; workload.resources().len()],
            policy: policy.clone(),
        }
    }

    /// Returns the working schedule, or the destination of the route, and whether it is working.
    pub fn schedule(&self) -> (&[u32], bool) {
        (self.policy.schedule(self.position), self.working)
    }

    fn is_moving(&self, i: usize) -> bool {
        match self.policy.route.drain {
            Drain::Concurrent => self.slots.moving.contains(i),
            Drain::Sequential => self.slots.moving.ones().next() == Some(i),
        }
    }

    fn set_clock(&mut self, i: usize, rate: f64, system: &mut System) {
        system.set_clock(1 + i, rate);
        self.clocked.set(i, rate > 0.0);
    }

    fn depart(&mut self, clock: usize, system: &mut System) {
        for (clock, _) in &self.leaving[self.position] {
            system.set_clock(*clock, 0.0);
        }
        self.position = match clock.checked_sub(1 + self.shares.len()) {
            Some(to) => to,
            None => (self.position + 1) % self.policy.order.len(),
        };
        let schedule = self.policy.schedule(self.position);
        let differing = self.differing[self.position].iter();
        differing.for_each(|&i| self.slots.aim(i, schedule[i], system));
        self.working = false;
        system.count_switch();
        self.preempt(system);
        self.follow_route(system);
    }

    fn preempt(&mut self, system: &mut System) {
        if self.policy.preemption != Preemption::Full {
            return;
        }
        let mut from = 0;
        while let Some(i) = next([&self.slots.moving, &self.slots.short], &mut from) {
            while system.running(i) > self.slots.target[i] {
                system.stop(i);
            }
            self.slots.set(i, self.slots.target[i], system);
        }
    }

    fn follow_route(&mut self, system: &mut System) {
        while let Some(i) = self.next_to_lower(system) {
            self.lower(i, system);
        }
        if self.slots.moving.is_clear() {
            self.arrive(system);
        } else if self.policy.route.admission == Admission::Eager {
            self.admit(system);
        }
        self.fill(system);
        self.set_clocks(system);
    }

    fn next_to_lower(&self, system: &System) -> Option<usize> {
        let slots = &self.slots;
        let at_once = |i: &usize| match self.policy.preemption {
            Preemption::Full => false,
            Preemption::Setup => slots.in_use(*i, system) > slots.target[*i],
            Preemption::None => {
                self.policy.empty_slots == EmptySlots::Release
                    && slots.serving[*i] > slots.target[*i].max(system.running(*i))
            }
        };
        match self.policy.route.drain {
            Drain::Concurrent => slots.moving.ones().find(at_once),
            Drain::Sequential => slots.moving.ones().next().filter(at_once),
        }
    }

    fn lower(&mut self, i: usize, system: &mut System) {
        let target = self.slots.target[i];
        if self.policy.preemption == Preemption::None {
            return self.slots.set(i, target.max(system.running(i)), system);
        }
        let (mut serving, mut setups) = (self.slots.serving[i], self.slots.setups[i]);
        while system.running(i) > target {
            system.stop_into_setup(i);
            setups += 1;
            serving = serving.saturating_sub(1);
        }
        while serving > target {
            serving -= 1;
            // If a backfilled job uses the capacity of an empty slot, it is put into setup instead.
            if self.policy.empty_slots == EmptySlots::Phantom && system.fits(i) {
                system.hold(i);
                system.counters.setups += 1;
                setups += 1;
            }
        }
        // Some of the stopped jobs had no slot. The jobs that are still running keep their slots.
        serving = serving.max(target.min(system.running(i)));
        self.slots.set_setups(i, setups, system);
        self.slots.set(i, serving, system);
    }

    fn arrive(&mut self, system: &mut System) {
        self.working = true;
        let mut from = 0;
        while let Some(i) = next([&self.slots.short], &mut from) {
            self.slots.set(i, self.slots.target[i], system);
        }
        for (clock, rate) in &self.leaving[self.position] {
            system.set_clock(*clock, *rate);
        }
    }

    /// Adds slots of the types that do not have enough, in type order, while they fit.
    fn admit(&mut self, system: &mut System) {
        if self.slots.short.is_clear() {
            return;
        }
        for (j, free) in self.free.iter_mut().enumerate() {
            *free = system.free(j);
        }
        for i in self.slots.empty.ones() {
            // The system counts the capacity of an empty slot as free. Backfilled jobs may use it.
            let empty = u64::from(self.slots.serving[i] - system.running(i));
            for (free, d) in self.free.iter_mut().zip(system.demand(i)) {
                *free = free.saturating_sub(empty * d);
            }
        }
        let mut from = 0;
        while let Some(i) = next([&self.slots.short], &mut from) {
            let mut serving = self.slots.serving[i];
            while serving < self.slots.target[i] && self.take_slot(i, serving, system) {
                serving += 1;
            }
            self.slots.set(i, serving, system);
        }
    }

    /// Takes the capacity of one more slot of type `i`, unless a backfilled job already has it.
    fn take_slot(&mut self, i: usize, serving: u32, system: &System) -> bool {
        if system.running(i) > serving {
            return true;
        }
        let fits = covers(&self.free, system.demand(i));
        if fits {
            reduce(&mut self.free, system.demand(i));
        }
        fits
    }

    fn fill(&mut self, system: &mut System) {
        let mut from = 0;
        while let Some(i) = next([&self.slots.empty], &mut from) {
            self.fill_type(i, system);
        }
        self.full = self.may_backfill(system);
        while self.full
            && let Some(i) = system.oldest_fitting_type()
        {
            self.start(i, system);
        }
    }

    /// Returns `true` if jobs without a slot can start: on a route, only if no job waits for a slot
    /// of the destination and they would not be preempted into a setup at once.
    fn may_backfill(&self, system: &System) -> bool {
        let setups = self.policy.preemption == Preemption::Setup;
        self.policy.backfill == Backfill::FirstFit
            && (self.working || !setups && !self.slots.is_awaited(system))
    }

    fn start(&mut self, i: usize, system: &mut System) {
        system.start(i);
        self.slots.look(i, system);
    }

    fn fill_type(&mut self, i: usize, system: &mut System) {
        while system.running(i) < self.slots.serving[i] && system.waiting(i) > 0 {
            let full = self.policy.preemption == Preemption::Full;
            if !(system.fits(i) || full && self.evict(i, system)) {
                return;
            }
            self.start(i, system);
        }
    }

    fn evict(&mut self, i: usize, system: &mut System) -> bool {
        while !system.fits(i) {
            let surplus = self.slots.surplus.ones();
            let youngest = |h: &usize| system.youngest_running(*h).map(|job| job.number);
            let Some(h) = surplus.max_by_key(youngest) else {
                return false;
            };
            system.stop(h);
            self.slots.look(h, system);
        }
        true
    }

    fn set_clocks(&mut self, system: &mut System) {
        let mut from = 0;
        while let Some(i) = next([&self.slots.moving, &self.clocked], &mut from) {
            let rate = self.is_moving(i).then(|| self.clock_rate(i, system));
            self.set_clock(i, rate.unwrap_or(0.0), system);
        }
    }

    fn clock_rate(&self, i: usize, system: &System) -> f64 {
        if self.policy.preemption == Preemption::Setup {
            let rate = self.policy.setup_rate.expect("setups have a rate");
            return f64::from(self.slots.setups[i]) * rate;
        }
        let empty = self.slots.serving[i].saturating_sub(system.running(i));
        f64::from(empty) * self.service_rates[i]
    }

    fn go_to(&mut self, position: usize, system: &mut System) {
        for i in 0..self.shares.len() {
            self.slots.aim(i, self.policy.schedule(position)[i], system);
            self.slots.set_setups(i, system.held(i), system);
            self.slots.set(i, system.running(i), system);
            self.clocked.set(i, system.clocks()[1 + i] > 0.0);
        }
        self.position = position;
        self.working = false;
        self.preempt(system);
        self.follow_route(system);
    }

    fn route_event(&mut self, event: Event, system: &mut System) {
        let unchanged = match event {
            Event::Arrival(i) => Some(i),
            Event::Completion(i) => {
                let before = self.slots.serving[i].max(system.running(i) + 1);
                self.lose_slot(i, system);
                (before <= self.slots.in_use(i, system)).then_some(i)
            }
            Event::Clock(clock) => {
                let i = clock - 1;
                if self.policy.preemption == Preemption::Setup {
                    system.release_setup(i);
                    self.slots.set_setups(i, self.slots.setups[i] - 1, system);
                } else {
                    self.slots.set(i, self.slots.serving[i] - 1, system);
                }
                None
            }
        };
        let Some(i) = unchanged else {
            return self.follow_route(system);
        };
        self.refill(event, system);
        if self.clocked.contains(i) || self.is_moving(i) {
            self.set_clock(i, self.clock_rate(i, system), system);
        }
    }

    fn lose_slot(&mut self, i: usize, system: &mut System) {
        if self.policy.preemption != Preemption::None {
            return;
        }
        let slots = &self.slots;
        // Whether the type was draining before this completion. A surplus job has no slot to lose.
        let before = slots.serving[i].max(system.running(i) + 1) > slots.target[i];
        let moving = match self.policy.route.drain {
            Drain::Concurrent => before,
            Drain::Sequential => {
                before && slots.moving.ones().next().is_none_or(|first| first >= i)
            }
        };
        if moving && system.running(i) < slots.serving[i] {
            self.slots.set(i, self.slots.serving[i] - 1, system);
        }
    }

    /// Starts jobs if no slots have changed, of other types if backfilled jobs blocked them.
    fn refill(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) | Event::Completion(i) if self.policy.backfill == Backfill::None => {
                self.fill_type(i, system);
            }
            // If no job has fitted before, only the new job can start or preempt other jobs.
            Event::Arrival(i) if self.full && !system.fits(i) => {
                if self.policy.preemption == Preemption::Full {
                    self.fill(system);
                }
            }
            _ => self.fill(system),
        }
    }
}

impl Policy for Msr {
    fn clocks(&self) -> usize {
        let chain = self.policy.rates.as_ref();
        1 + self.shares.len() + chain.map_or(0, Vec::len)
    }

    fn preempts(&self) -> bool {
        self.policy.preemption != Preemption::None
    }

    fn begin(&mut self, system: &mut System) {
        self.arrive(system);
        (0..self.shares.len()).for_each(|i| system.offer(i, self.slots.serving[i]));
    }

    fn react(&mut self, event: Event, system: &mut System) {
        if let Event::Completion(i) = event {
            self.slots.look(i, system);
        }
        match event {
            // If a clock has been stopped, an event of this clock that arrives later is ignored.
            Event::Clock(clock) if system.clocks().get(clock).is_none_or(|rate| *rate == 0.0) => {}
            Event::Clock(clock) if clock == SWITCH || clock > self.shares.len() => {
                self.depart(clock, system);
            }
            _ if !self.working => self.route_event(event, system),
            _ => self.refill(event, system),
        }
    }

    fn take_over(&mut self, system: &mut System) {
        self.go_to(0, system);
    }

    fn changed(&mut self, system: &mut System) {
        (0..self.shares.len()).for_each(|i| self.slots.look(i, system));
        if self.working {
            self.fill(system)
        } else {
            self.follow_route(system)
        }
    }

    fn describe_state(&self, names: &[&str], _: &System) -> Option<String> {
        let (schedule, reached) = self.schedule();
        let slots = in_words(schedule.iter().copied().enumerate(), names);
        Some(match reached {
            true => format!("uses the schedule of {slots} until its clock rings"),
            false => format!(
                "moves to the schedule of {slots}; jobs that do not have a slot in it run to completion"
            ),
        })
    }

    fn resume(&mut self, system: &mut System) {
        let fills = |position: usize| -> f64 {
            let slots = self.policy.schedule(position).iter().enumerate();
            let filled = slots.map(|(i, u)| f64::from(system.running(i).min(*u)));
            filled.zip(&self.shares).map(|(x, share)| x * share).sum()
        };
        let fills: Vec<f64> = (0..self.policy.order.len()).map(fills).collect();
        self.go_to(index_of_largest(&fills), system);
    }

    fn let_go(&mut self, system: &mut System) {
        system.stop_clocks();
        (0..self.shares.len()).for_each(|i| system.offer(i, 0));
        self.clocked = FixedBitSet::with_capacity(self.shares.len());
    }
}
