use fixedbitset::FixedBitSet;

use super::super::System;

/// The slots of each type. The types for which the numbers of slots, running jobs and destination
/// slots differ are kept in sets, so that decisions skip the others. [`Slots::look`] must be called
/// for a type whose slots or running jobs have changed.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pub serving: Vec<u32>,
    pub setups: Vec<u32>,
    pub target: Vec<u32>,
    /// The types that have more slots than the destination schedule, or a slot in setup.
    pub moving: FixedBitSet,
    pub short: FixedBitSet,
    pub empty: FixedBitSet,
    /// The types that have backfilled jobs without a slot.
    pub surplus: FixedBitSet,
}

impl Slots {
    pub(super) fn new(schedule: &[u32]) -> Self {
        let none = FixedBitSet::with_capacity(schedule.len());
        let mut empty = none.clone();
        empty.extend((0..schedule.len()).filter(|i| schedule[*i] > 0));
        Slots {
            serving: schedule.to_vec(),
            setups: vec![0; schedule.len()],
            target: schedule.to_vec(),
            moving: none.clone(),
            short: none.clone(),
            empty,
            surplus: none,
        }
    }

    pub(super) fn set(&mut self, i: usize, serving: u32, system: &mut System) {
        self.serving[i] = serving;
        system.offer(i, serving);
        self.look(i, system);
    }

    pub(super) fn set_setups(&mut self, i: usize, setups: u32, system: &System) {
        self.setups[i] = setups;
        self.look(i, system);
    }

    pub(super) fn aim(&mut self, i: usize, target: u32, system: &System) {
        self.target[i] = target;
        self.look(i, system);
    }

    pub(super) fn in_use(&self, i: usize, system: &System) -> u32 {
        self.serving[i].max(system.running(i))
    }

    #[inline]
    pub(super) fn look(&mut self, i: usize, system: &System) {
        let (serving, running, target) = (self.serving[i], system.running(i), self.target[i]);
        let exceeds = self.setups[i] > 0 || serving.max(running) > target;
        self.moving.set(i, exceeds);
        self.short.set(i, serving < target);
        self.empty.set(i, running < serving);
        self.surplus.set(i, running > serving);
    }

    /// Returns `true` if there is a waiting job that has a slot in the destination schedule.
    pub(super) fn is_awaited(&self, system: &System) -> bool {
        // If fewer jobs are running than there are slots, the type is in one of these sets.
        let awaited = |i| system.running(i) < self.target[i] && system.waiting(i) > 0;
        self.short.ones().any(awaited) || self.empty.ones().any(awaited)
    }
}
