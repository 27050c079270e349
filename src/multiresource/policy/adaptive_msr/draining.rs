//! Drains with a price, and what starts meanwhile.

use super::worth::Slots;
use crate::multiresource::artifact::AdaptiveMsrPolicy;
use crate::multiresource::policy::drain::{Drains, prices};
use crate::multiresource::policy::estimated::Estimated;
use crate::multiresource::policy::estimates::Estimates;
use crate::multiresource::policy::room::{Packed, Room};
use crate::multiresource::policy::{Event, System};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// The room that a schedule waits for, by the types' mean sizes.
///
/// All running jobs but those with a slot in the schedule are to leave. With D the wait until one more job of
/// the type fits that the schedule lacks most by price, and `F = max_i Q_i E[S_i] / u_i` the time for which
/// its jobs last, it has the part `F / (F + c D)` of its weight: the drain earns nothing.
///
/// While a job of the schedule waits, oldest first, those start that fit beside all its jobs and the longest
/// others that can stay; and those whose mean size is at most κ times what would be left of the wait if all
/// running jobs no longer than they had left: so short jobs that are let in cannot keep the wait up. Where
/// limits are known, those start instead whose limit is at most κ times what is left of the wait by the limits
/// of the running jobs.
#[derive(Clone, Debug)]
pub(super) struct Draining {
    /// c.
    price: f64,
    /// κ.
    let_in: f64,
    /// The jobs by their limits, where these are looked at.
    limits: Option<Estimated>,
    /// By type.
    prices: Vec<f64>,
    drains: Drains,
    packed: Packed,
    empty: Vec<u64>,
    /// The running jobs that have a slot, by type.
    kept: Vec<u32>,
    /// The room of the schedule's jobs, and of others that can stay.
    used: Vec<u64>,
    /// What is free once the wait is over, of each resource.
    free: Vec<u64>,
}

impl Draining {
    pub fn new(policy: &AdaptiveMsrPolicy, workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let packed = Room::new(&packing).packed();
        let empty: Vec<u64> = packed.nothing_of(packing.capacity());
        Draining {
            price: policy.switching.drain,
            let_in: policy.switching.let_in,
            prices: prices(&policy.prices, workload),
            drains: Drains::new(workload),
            limits: policy
                .limits
                .then(|| Estimated::new(Estimates::Limits, packing.types())),
            free: vec![0; packing.capacity().len()],
            kept: vec![0; packing.types()],
            used: empty.clone(),
            packed,
            empty,
        }
    }

    /// What has happened.
    pub fn look(&mut self, event: Event, system: &System) {
        if let Some(jobs) = &mut self.limits {
            match event {
                Event::Arrival(i) => drop(jobs.arrived(i, system)),
                Event::Completion(_) => jobs.ended(system),
                Event::Clock(_) => {}
            }
        }
    }

    /// Begins with what waits and runs now.
    pub fn take_over(&mut self, system: &System) {
        if let Some(jobs) = &mut self.limits {
            jobs.take_over(system);
        }
    }

    /// Starts the oldest job of type i.
    pub fn start(&mut self, i: usize, system: &mut System) {
        match &mut self.limits {
            Some(jobs) => drop(jobs.start(i, f64::MAX, system)),
            None => system.start(i),
        }
    }

    /// The part of its weight that a schedule has after the drain; none where it lacks nothing.
    pub fn part(&mut self, schedule: &[Slots], system: &System) -> f64 {
        self.keep_own(schedule, system);
        let Some(lead) = self.lead(schedule, system) else {
            return 0.0;
        };
        let drain = self.drains.wait(lead, &self.kept, 0.0, system);
        if drain <= 0.0 {
            return 1.0;
        }
        let lasts = schedule.iter().map(|slots| {
            let backlog = system.present(slots.job_type) as f64;
            backlog * self.drains.means[slots.job_type] / f64::from(slots.count)
        });
        let lasts = lasts.fold(0.0, f64::max);
        lasts / (lasts + self.price * drain)
    }

    /// Starts what may start while a job of this schedule waits for room.
    pub fn let_in(&mut self, schedule: &[Slots], system: &mut System) {
        if self.let_in <= 0.0 {
            return;
        }
        while system.oldest_fitting_type().is_some() {
            self.keep_own(schedule, system);
            self.keep_others(schedule, system);
            let Some(lead) = self.lead(schedule, system) else {
                return;
            };
            let within = self.limit(lead, system);
            let mut oldest: Option<(u64, usize, f64)> = None;
            for i in (0..self.prices.len()).filter(|i| system.fits(*i)) {
                let Some((number, limit)) = self.oldest_to_pass(i, lead, within, system) else {
                    continue;
                };
                if oldest.is_none_or(|(other, ..)| number < other) {
                    oldest = Some((number, i, limit));
                }
            }
            match (oldest, &mut self.limits) {
                (Some((_, i, limit)), Some(jobs)) => drop(jobs.start(i, limit, system)),
                (Some((_, i, _)), None) => system.start(i),
                (None, _) => return,
            }
        }
    }

    /// How long a job may take by its limit that passes the lead: κ times what is left of the wait.
    fn limit(&mut self, lead: usize, system: &System) -> f64 {
        self.limits.as_ref().map_or(0.0, |jobs| {
            let until = jobs.room_for(lead, &mut self.free, system);
            self.let_in * (until - system.now())
        })
    }

    /// The number of the oldest job of type i that may start before the one that is waited for, and the limit
    /// by which it may.
    fn oldest_to_pass(
        &mut self,
        i: usize,
        lead: usize,
        within: f64,
        system: &System,
    ) -> Option<(u64, f64)> {
        let number = system.nth_number(i, 0)?;
        if self.packed.fits(&self.used, i, 1) {
            return Some((number, f64::MAX));
        }
        match &self.limits {
            Some(jobs) => Some((jobs.oldest_within(i, within)?, within)),
            None => {
                let mean = self.drains.means[i];
                let wait = self.drains.wait(lead, &self.kept, mean, system);
                (mean <= self.let_in * wait).then_some((number, f64::MAX))
            }
        }
    }

    /// The type that the schedule lacks most.
    fn lead(&self, schedule: &[Slots], system: &System) -> Option<usize> {
        let mut most = (0.0, None);
        for slots in schedule {
            let i = slots.job_type;
            let lacks = slots.count.saturating_sub(system.running(i));
            let lacks = self.prices[i] * f64::from(lacks.min(system.waiting(i)));
            if lacks > most.0 {
                most = (lacks, Some(i));
            }
        }
        most.1
    }

    fn keep_own(&mut self, schedule: &[Slots], system: &System) {
        self.kept.fill(0);
        for slots in schedule {
            self.kept[slots.job_type] = slots.count.min(system.running(slots.job_type));
        }
    }

    /// The room of what the schedule has jobs for, and of the longest others beside it.
    fn keep_others(&mut self, schedule: &[Slots], system: &System) {
        self.used.copy_from_slice(&self.empty);
        for slots in schedule {
            let jobs = system.present(slots.job_type).min(slots.count.into());
            self.packed.take(&mut self.used, slots.job_type, jobs);
        }
        for &k in &self.drains.longest {
            let others = system.running(k) - self.kept[k];
            let stay = self.packed.most(&self.used, k, others.into());
            self.packed.take(&mut self.used, k, stay);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::artifact::Switching;

    /// n of ten light jobs run, of mean size 2, and five heavy ones wait: `D = 2 H_n`, and F is 5 times 3.
    #[test]
    fn a_drain_takes_its_part_of_the_weight() {
        let text = "{kind: multiresource, time_unit: s, server: {capacity: {cpu: 10}}, jobs: [
  {name: light, demand: {cpu: 1}, arrival_rate: 1, mean_size: 2},
  {name: heavy, demand: {cpu: 10}, arrival_rate: .1, mean_size: 3}]}";
        let workload = Workload::parse(text, "t").unwrap().workload;
        let policy = AdaptiveMsrPolicy {
            limits: false,
            schedules: vec![vec![10, 0], vec![0, 1]],
            prices: vec![0.1, 1.0],
            switching: Switching {
                waste: 0.0,
                margin: 0.0,
                floor: 0.0,
                patience: 0.0,
                drain: 4.0,
                let_in: 0.0,
            },
        };
        let mut draining = Draining::new(&policy, &workload);
        let slots = |job_type, count, price| Slots {
            job_type,
            count,
            price,
        };
        let [light, heavy] = [[slots(0, 10, 0.1)], [slots(1, 1, 1.0)]];
        let mut system = System::new(&workload, 0, false);
        for _ in 0..5 {
            system.arrive(1, 0.0);
        }
        assert_eq!(draining.part(&heavy, &system), 1.0, "it can start at once");
        for n in 1..=10_u32 {
            system.arrive(0, 0.0);
            system.start(0);
            let drain: f64 = (1..=n).map(|k| 2.0 / f64::from(k)).sum();
            let exact = 15.0 / (15.0 + 4.0 * drain);
            let found = draining.part(&heavy, &system);
            assert!((found / exact - 1.0).abs() < 0.05, "{n}: {found}, {exact}");
            assert_eq!(draining.part(&light, &system), 0.0, "it lacks nothing");
        }
    }
}
