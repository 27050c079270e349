use super::choices::{Backfilling, PriorityClasses};
use super::estimates::SizeEstimates;
use super::running::Running;
use crate::policy::capacity::{covers, reduce};
use crate::policy::{Event, Information, Job, Policy, System};
use crate::workload::Workload;

/// Conservative backfilling. An arriving job gets the earliest reservation that does not delay any
/// job before it, and starts when its reservation is due. If a job ends before its estimate, the
/// plan is compressed: each waiting job, in queue order, is moved to the earliest time at which it
/// fits next to the other reservations, which is never later.
/// The source is Mu'alem and Feitelson, IEEE TPDS 12(6), 2001, section 2, with compression in the
/// order of arrival. We extend it to several resources, all of which a job needs.
/// A reservation is due within a relative error of `1e-12`, because jobs of known sizes end at the
/// planned time up to rounding errors. It can become due between two events if it was planned
/// behind a job that was later moved to an earlier time. The rule asks to be woken then.
/// An arrival takes `O(R · (running + waiting))`. A completion takes `O(1)` if it happens as
/// planned, `O(waiting)` if a reservation is due, and `O(R · waiting · (running + waiting))` if the
/// plan is compressed, which is slow if the queue is long and the estimates are too large.
#[derive(Clone, Debug)]
pub(super) struct Conservative {
    order: PriorityClasses,
    lengths: SizeEstimates,
    profile: Profile,
    plans: Vec<Plan>,
    running: Running,
    soonest: f64,
    arrived: Vec<Plan>,
    is_early: bool,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    job_type: usize,
    job: Job,
    start: f64,
    estimate: f64,
}

impl Plan {
    fn end(&self) -> f64 {
        self.start + self.estimate
    }
}

const ROUNDING: f64 = 1e-12;

impl Conservative {
    pub(super) fn new(choices: Backfilling, workload: &Workload) -> Self {
        let capacity = workload.resources().iter().map(|r| r.units());
        Conservative {
            order: PriorityClasses::new(choices.order, workload),
            lengths: SizeEstimates::new(choices.estimates, workload),
            profile: Profile::new(0.0, capacity.collect()),
            plans: Vec::new(),
            running: Running::new(1),
            soonest: f64::INFINITY,
            arrived: Vec::new(),
            is_early: false,
        }
    }

    fn arrive(&mut self, i: usize, job: Job, system: &System) {
        self.arrived.push(Plan {
            job_type: i,
            job,
            start: 0.0,
            estimate: self.lengths.of(job, i, system),
        });
    }

    /// Sets a wake-up for the first reservation, unless a job is expected to end at that time.
    fn wake(&mut self, system: &mut System) {
        let (soonest, now) = (self.soonest, system.now());
        let is_then = |end: f64| (end - soonest).abs() <= soonest * ROUNDING;
        let mut running = self.running.on(0).iter();
        let comes_anyway =
            soonest <= now * (1.0 + ROUNDING) || running.any(|(end, ..)| is_then(*end));
        system.wake_at(if comes_anyway { f64::INFINITY } else { soonest });
    }

    fn reserve(&mut self, plan: &mut Plan, system: &System) {
        let demand = system.demand(plan.job_type);
        plan.start = self.profile.earliest(demand, plan.estimate);
        self.profile.take(plan.start, plan.end(), demand);
    }

    fn start(&mut self, plan: &Plan, system: &mut System) -> bool {
        let starts = plan.start <= system.now() * (1.0 + ROUNDING) && system.fits(plan.job_type);
        if starts {
            system.start_job(plan.job_type, plan.job);
            self.running.add(0, plan.job_type, plan.job, plan.end());
        }
        starts
    }

    fn compress(&mut self, plan: &mut Plan, system: &mut System) -> bool {
        let demand = system.demand(plan.job_type);
        self.profile.give(plan.start, plan.end(), demand);
        self.reserve(plan, system);
        self.start(plan, system)
    }

    fn for_each_plan(
        &mut self,
        system: &mut System,
        starts: impl Fn(&mut Self, &mut Plan, &mut System) -> bool,
    ) {
        let mut plans = std::mem::take(&mut self.plans);
        self.soonest = f64::INFINITY;
        plans.retain_mut(|plan| {
            let started = starts(self, plan, system);
            if !started {
                self.soonest = self.soonest.min(plan.start);
            }
            !started
        });
        self.plans = plans;
    }
}

impl Policy for Conservative {
    fn information(&self) -> Information {
        self.lengths.estimates.knows()
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        self.decide(system);
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    fn note(&mut self, event: Event, system: &mut System) {
        self.profile.advance(system.now());
        match event {
            Event::Arrival(i) => {
                let job = system.youngest(i).expect("the job that has come waits");
                self.arrive(i, job, system);
            }
            Event::Completion(i) => {
                let (end, now) = (self.running.ended(system), system.now());
                if end > now * (1.0 + ROUNDING) {
                    self.profile.give(now, end, system.demand(i));
                    self.is_early = true;
                }
            }
            Event::Clock(_) => {}
        }
    }

    fn decide(&mut self, system: &mut System) {
        if std::mem::take(&mut self.is_early) {
            self.for_each_plan(system, Self::compress);
        } else if self.soonest <= system.now() * (1.0 + ROUNDING) {
            self.for_each_plan(system, |rule, plan, system| rule.start(plan, system));
        }
        for n in 0..self.arrived.len() {
            let mut plan = self.arrived[n];
            self.reserve(&mut plan, system);
            if !self.start(&plan, system) {
                self.soonest = self.soonest.min(plan.start);
                let rank = self.order.rank(plan.job_type);
                let before = |other: &Plan| self.order.rank(other.job_type) <= rank;
                let place = self.plans.partition_point(before);
                self.plans.insert(place, plan);
            }
        }
        self.arrived.clear();
        self.wake(system);
    }

    fn take_over(&mut self, system: &mut System) {
        let lengths = &self.lengths;
        self.running
            .rebuild(system, |job, i| lengths.of(job, i, system));
        self.profile = Profile::ahead(&self.running, system);
        self.arrived.clear();
        for i in 0..system.types() {
            for job in system.waiting_jobs(i) {
                self.arrive(i, job, system);
            }
        }
        self.arrived.sort_by_key(|plan| plan.job.number);
        self.plans.clear();
        (self.soonest, self.is_early) = (f64::INFINITY, false);
        self.decide(system);
    }
}

/// The start and the free units of each resource of steps over time. Each lasts until the next one.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    steps: Vec<(f64, Vec<u64>)>,
}

impl Profile {
    fn new(now: f64, free: Vec<u64>) -> Self {
        Profile {
            steps: vec![(now, free)],
        }
    }

    /// Creates the profile of the running jobs, which end as estimated, or now if they are late.
    pub(super) fn ahead(running: &Running, system: &System) -> Self {
        let resources = 0..system.capacity().len();
        let mut profile = Profile::new(system.now(), resources.map(|j| system.free(j)).collect());
        for (end, _, i) in running.on(0) {
            profile.give(*end, f64::INFINITY, system.demand(*i));
        }
        profile
    }

    fn advance(&mut self, now: f64) {
        let past = self.steps.partition_point(|(time, _)| *time <= now);
        self.steps.drain(..past.saturating_sub(1));
        self.steps[0].0 = self.steps[0].0.max(now);
    }

    /// Returns the earliest time from which the demand fits for the duration, or infinity.
    pub(super) fn earliest(&self, demand: &[u64], duration: f64) -> f64 {
        let mut start = 0;
        for (n, (time, free)) in self.steps.iter().enumerate() {
            if start < n && *time >= self.steps[start].0 + duration {
                break;
            }
            if !covers(free, demand) {
                start = n + 1;
            }
        }
        let found = self.steps.get(start);
        found.map_or(f64::INFINITY, |(time, _)| *time)
    }

    pub(super) fn take(&mut self, from: f64, to: f64, demand: &[u64]) {
        self.change(from, to, |free| reduce(free, demand));
    }

    pub(super) fn give(&mut self, from: f64, to: f64, demand: &[u64]) {
        self.change(from, to, |free| {
            free.iter_mut().zip(demand).for_each(|(free, d)| *free += d);
        });
    }

    fn change(&mut self, from: f64, to: f64, of_step: impl Fn(&mut [u64])) {
        let from = from.max(self.steps[0].0);
        if from >= to {
            return;
        }
        let (first, last) = (self.step_at(from), self.step_at(to));
        for (_, free) in &mut self.steps[first..last] {
            of_step(free);
        }
        self.join(last);
        self.join(first);
    }

    fn step_at(&mut self, time: f64) -> usize {
        let step = self.steps.partition_point(|(other, _)| *other < time);
        if self.steps.get(step).is_none_or(|(other, _)| *other != time) {
            let free = self.steps[step - 1].1.clone();
            self.steps.insert(step, (time, free));
        }
        step
    }

    fn join(&mut self, step: usize) {
        if step > 0 && self.steps[step - 1].1 == self.steps[step].1 {
            self.steps.remove(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_finds_gaps_between_and_after_plans() {
        let mut profile = Profile::new(0.0, vec![4, 10]);
        profile.take(0.0, 2.0, &[3, 1]);
        profile.take(3.0, 5.0, &[2, 1]);
        assert_eq!(profile.earliest(&[1, 9], 1.5), 0.0);
        assert_eq!(profile.earliest(&[1, 10], 1.0), 2.0, "another resource");
        assert_eq!(profile.earliest(&[3, 1], 1.0), 2.0, "in the gap");
        assert_eq!(profile.earliest(&[3, 1], 1.1), 5.0, "the gap is too short");
        assert_eq!(profile.earliest(&[2, 1], 9.0), 2.0);
        profile.advance(1.0);
        profile.give(0.5, 2.0, &[3, 1]);
        assert_eq!(profile.earliest(&[4, 10], 2.0), 1.0);
        profile.give(3.0, 5.0, &[2, 1]);
        assert_eq!(profile.steps, vec![(1.0, vec![4, 10])]);
    }
}
