//! Targets: sets of jobs that might run together.

use super::kinds::Kinds;
use crate::multiresource::policy::System;
use crate::multiresource::policy::room::Words;

/// Whom room is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lead {
    /// Nobody: what fits starts.
    Nobody,
    /// A type, and how.
    Type(usize, Making),
    /// What a schedule of the program lacks most.
    Schedule(usize),
}

/// How room is made for a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Making {
    /// The longest running jobs stay as long as one fits; then as many as fit.
    Keeping,
    /// One more; others stay where they can, the longest first.
    OneMore,
    /// As many as fit, and others where they can.
    All,
}

impl Making {
    pub const WAYS: [Making; 3] = [Making::Keeping, Making::OneMore, Making::All];
}

/// Where the system stands at an event.
#[derive(Clone, Debug)]
pub(super) struct Scene<U> {
    /// x.
    pub running: Vec<u32>,
    /// Q, no more of each type than an empty server holds.
    pub there: Vec<u32>,
    /// Types of which jobs run, the longest first.
    pub long: Vec<usize>,
    /// Types of which jobs wait, in the order in which they start of themselves.
    pub waiting: Vec<usize>,
    /// v: what a job in service is worth, by type.
    pub value: Vec<f64>,
    /// The room in use.
    pub used: U,
    numbers: Vec<u64>,
    urgency: Vec<f64>,
}

/// Jobs to run, the room they use, and what they are worth.
#[derive(Clone, Debug)]
pub(super) struct Target<U> {
    pub jobs: Vec<u32>,
    pub worth: f64,
    used: U,
}

impl<U: Words> Scene<U> {
    pub fn new(kinds: &Kinds<U>) -> Self {
        let types = kinds.types.len();
        Scene {
            running: vec![0; types],
            there: vec![0; types],
            long: Vec::with_capacity(types),
            waiting: Vec::with_capacity(types),
            value: vec![0.0; types],
            used: kinds.empty.clone(),
            numbers: vec![0; types],
            urgency: vec![0.0; types],
        }
    }

    /// The system as it stands.
    pub fn look(&mut self, kinds: &Kinds<U>, system: &System) {
        self.used.as_mut().copy_from_slice(system.room.used());
        self.waiting.clear();
        for (i, own) in kinds.types.iter().enumerate() {
            let present = system.present(i);
            if present != self.numbers[i] {
                self.numbers[i] = present;
                self.urgency[i] = own.favour * (present as f64).powf(kinds.exponent);
                self.value[i] = own.price * self.urgency[i];
                self.there[i] = present.min(own.alone.into()) as u32;
            }
            self.running[i] = system.running(i);
            if present > u64::from(self.running[i]) {
                self.waiting.push(i);
            }
        }
        let urgency = &self.urgency;
        match kinds.by_age {
            true => sort(&mut self.waiting, |a, b| {
                system.nth_number(a, 0) < system.nth_number(b, 0)
            }),
            false => sort(&mut self.waiting, |a, b| urgency[a] > urgency[b]),
        }
        let running = kinds.longest.iter().filter(|k| self.running[**k] > 0);
        self.long.clear();
        self.long.extend(running);
    }
}

impl<U: Words> Target<U> {
    pub fn new(kinds: &Kinds<U>) -> Self {
        Target {
            jobs: vec![0; kinds.types.len()],
            worth: 0.0,
            used: kinds.empty.clone(),
        }
    }

    /// What runs, and what fits beside it.
    pub fn stay(&mut self, kinds: &Kinds<U>, scene: &Scene<U>) {
        self.jobs.copy_from_slice(&scene.running);
        self.used = scene.used.clone();
        let pairs = scene.long.iter();
        let worths = pairs.map(|k| scene.value[*k] * f64::from(scene.running[*k]));
        self.worth = worths.sum();
        self.fill(kinds, scene);
    }

    /// The target of a lead, and the type that leads; `None` where nothing of it waits.
    pub fn aim(&mut self, lead: Lead, kinds: &Kinds<U>, scene: &Scene<U>) -> Option<usize> {
        self.jobs.fill(0);
        self.worth = 0.0;
        self.used = kinds.empty.clone();
        let leads = match lead {
            Lead::Nobody => return None,
            Lead::Type(i, making) => {
                self.make_room(i, making, kinds, scene);
                i
            }
            Lead::Schedule(s) => self.follow(&kinds.schedules[s], kinds, scene)?,
        };
        if self.jobs[leads] <= scene.running[leads] {
            return None;
        }
        self.keep_longest(kinds, scene);
        self.fill(kinds, scene);
        Some(leads)
    }

    fn make_room(&mut self, i: usize, making: Making, kinds: &Kinds<U>, scene: &Scene<U>) {
        let one_more = (scene.running[i] + 1).min(scene.there[i]);
        match making {
            Making::Keeping => {
                kinds.packed.take(&mut self.used, i, 1);
                self.keep_longest(kinds, scene);
                kinds.packed.give(&mut self.used, i, 1);
                self.add(i, scene.there[i] - self.jobs[i], kinds, scene);
            }
            Making::OneMore => self.add(i, one_more, kinds, scene),
            Making::All => self.add(i, scene.there[i], kinds, scene),
        }
    }

    /// As much of a schedule as there are jobs for; what it lacks most.
    fn follow(
        &mut self,
        schedule: &[(usize, u32)],
        kinds: &Kinds<U>,
        scene: &Scene<U>,
    ) -> Option<usize> {
        let mut most = (0.0, None);
        for &(i, slots) in schedule {
            let count = slots.min(scene.there[i]);
            self.add(i, count, kinds, scene);
            let lack = count.saturating_sub(scene.running[i]);
            let lack = f64::from(lack) * kinds.types[i].price;
            if lack > most.0 {
                most = (lack, Some(i));
            }
        }
        most.1
    }

    /// As many of these jobs of type i as fit.
    #[inline(always)]
    fn add(&mut self, i: usize, most: u32, kinds: &Kinds<U>, scene: &Scene<U>) {
        let count = kinds.packed.most(&self.used, i, most.into());
        kinds.packed.take(&mut self.used, i, count);
        self.jobs[i] += count as u32;
        self.worth += count as f64 * scene.value[i];
    }

    /// Running jobs, the longest first.
    fn keep_longest(&mut self, kinds: &Kinds<U>, scene: &Scene<U>) {
        for &k in &scene.long {
            let more = scene.running[k].saturating_sub(self.jobs[k]);
            self.add(k, more, kinds, scene);
        }
    }

    /// Waiting jobs that may start of themselves.
    fn fill(&mut self, kinds: &Kinds<U>, scene: &Scene<U>) {
        for &i in &scene.waiting {
            let more = scene.there[i].saturating_sub(self.jobs[i]);
            if more == 0 || !kinds.packed.fits(&self.used, i, 1) {
                continue;
            }
            let mut held = kinds.types[i].open.clone();
            for &k in kinds.longer(i) {
                kinds.packed.take(&mut held, k, self.jobs[k].into());
            }
            if kinds.packed.fits(&held, i, 0) {
                let most = kinds.packed.most(&held, i, more.into());
                self.add(i, most as u32, kinds, scene);
            }
        }
    }
}

/// Insertion sort: few wait.
#[inline]
fn sort(order: &mut [usize], before: impl Fn(usize, usize) -> bool) {
    for n in 1..order.len() {
        let mut place = n;
        while place > 0 && before(order[place], order[place - 1]) {
            order.swap(place, place - 1);
            place -= 1;
        }
    }
}
