//! The slots that types have on the way from one working schedule to the next.

use fixedbitset::FixedBitSet;

use super::super::System;

/// The slots of each type, beside its jobs in service and the slots that the schedule ahead gives it.
///
/// The types where these differ stand in sets, so that a decision looks at no others: whoever changes slots, or
/// starts or stops a job, says so by [`Slots::look`].
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// Slots that serve.
    pub serving: Vec<u32>,
    /// Slots in setup.
    pub setups: Vec<u32>,
    /// Slots in the schedule ahead.
    pub target: Vec<u32>,
    /// Types on their way out: they hold more than the schedule ahead gives them, or slots in setup.
    pub moving: FixedBitSet,
    /// Types with fewer slots than the schedule ahead gives them.
    pub short: FixedBitSet,
    /// Types with slots without a job.
    pub empty: FixedBitSet,
    /// Types with jobs without a slot, backfilled.
    pub surplus: FixedBitSet,
}

impl Slots {
    /// Those of this schedule, all without a job.
    pub(super) fn new(schedule: &[u32]) -> Self {
        let none = FixedBitSet::with_capacity(schedule.len());
        let mut slots = Slots {
            serving: schedule.to_vec(),
            setups: vec![0; schedule.len()],
            target: schedule.to_vec(),
            moving: none.clone(),
            short: none.clone(),
            empty: none.clone(),
            surplus: none,
        };
        for (i, count) in schedule.iter().enumerate() {
            slots.empty.set(i, *count > 0);
        }
        slots
    }

    /// Type i has so many slots that serve.
    pub(super) fn set(&mut self, i: usize, serving: u32, system: &mut System) {
        self.serving[i] = serving;
        system.offer(i, serving);
        self.look(i, system);
    }

    /// Type i has so many slots in setup.
    pub(super) fn set_setups(&mut self, i: usize, setups: u32, system: &System) {
        self.setups[i] = setups;
        self.look(i, system);
    }

    /// The schedule ahead gives type i so many slots.
    pub(super) fn aim(&mut self, i: usize, target: u32, system: &System) {
        self.target[i] = target;
        self.look(i, system);
    }

    /// Slots of type i that hold room, but for setups: for its own jobs or for backfilled ones.
    pub(super) fn in_use(&self, i: usize, system: &System) -> u32 {
        self.serving[i].max(system.running(i))
    }

    /// In which sets type i stands.
    #[inline]
    pub(super) fn look(&mut self, i: usize, system: &System) {
        let (serving, running, target) = (self.serving[i], system.running(i), self.target[i]);
        let exceeds = self.setups[i] > 0 || serving.max(running) > target;
        self.moving.set(i, exceeds);
        self.short.set(i, serving < target);
        self.empty.set(i, running < serving);
        self.surplus.set(i, running > serving);
    }

    /// Whether a job waits that the schedule ahead has a place for.
    pub(super) fn is_awaited(&self, system: &System) -> bool {
        // Where fewer run than the schedule ahead has slots, slots are lacking or empty.
        let awaited = |i| system.running(i) < self.target[i] && system.waiting(i) > 0;
        self.short.ones().any(awaited) || self.empty.ones().any(awaited)
    }
}
