use super::choices::{Backfilling, PriorityClasses};
use super::reservations::Reservations;
use crate::policy::hosts::Placement;
use crate::policy::{Event, Policy, System};
use crate::workload::Workload;

/// Backfilling without reservations (first-fit), or first come, first served, which stops at the
/// first job that does not fit. A decision takes `O(K)`.
#[derive(Clone, Debug)]
pub struct Greedy {
    pub(in crate::policy) order: PriorityClasses,
    is_strict: bool,
    placement: Placement,
}

/// The first-fit rule, in the order of arrival.
pub const FIRST_FIT: Greedy = Greedy::ordered(Backfilling::FIRST_FIT, PriorityClasses::BY_AGE);

/// First come, first served.
pub const FCFS: Greedy = Greedy::ordered(Backfilling::FCFS, PriorityClasses::BY_AGE);

impl Greedy {
    const fn ordered(choices: Backfilling, order: PriorityClasses) -> Self {
        Greedy {
            order,
            is_strict: matches!(choices.reservations, Reservations::Strict),
            placement: choices.placement,
        }
    }

    /// Creates the rule. The reservations must be `None` or `Strict`.
    pub(in crate::policy) fn new(choices: Backfilling, workload: &Workload) -> Self {
        Greedy::ordered(choices, PriorityClasses::new(choices.order, workload))
    }
}

impl Policy for Greedy {
    fn begin(&mut self, system: &mut System) {
        system.set_placement(self.placement);
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.decide(system);
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    #[inline(always)]
    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            // An arrival does not free any capacity, so the new job is the only one that can start.
            Event::Arrival(i) if system.waiting(i) > 1 || !system.fits(i) => {}
            Event::Arrival(i) if self.is_strict && self.order.first(system) != Some(i) => {}
            Event::Arrival(i) => system.start(i),
            _ if self.is_strict => {
                while let Some(head) = self.order.first(system)
                    && system.fits(head)
                {
                    system.start(head);
                }
            }
            _ => self.order.start_all(system),
        }
    }
}
