use super::estimates::Estimates;
use super::profile::Profile;
use super::{Event, Job, Policy, System};
use crate::multiresource::workload::Workload;

/// Conservative backfilling: every job gets a reservation as it arrives, the earliest that delays
/// none of those before it; a job whose reservation is now starts. When a job ends before its
/// estimate the plan is compressed: in order of arrival, each waiting job moves to the earliest
/// time that there is room for it beside the others' reservations, which is never later than its
/// own.
///
/// Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001, section 2; compression in order of arrival
/// as there. Several resources: ours, all must have room.
///
/// With exact sizes jobs end as planned, but for rounding: a reservation within 1e-12 of now,
/// relatively, is due, and one that is due starts at the first event at which it fits. No job waits
/// for a time without an event.
///
/// An arrival is O(R · (running + waiting)), for the plan is as long; a completion O(1) as
/// planned, O(waiting) where a reservation is due, and a compression O(R · waiting · (running +
/// waiting)): with inflated estimates and long queues, this rule is slow by nature.
#[derive(Clone, Debug)]
pub struct ConservativeBackfill {
    estimates: Estimates,
    profile: Profile,
    /// Waiting jobs, in order of arrival.
    plans: Vec<Plan>,
    /// Running jobs: number, and when they are planned to end.
    running: Vec<(u64, f64)>,
    /// The first reservation.
    soonest: f64,
    /// Jobs that came at this instant and have no reservation yet.
    come: Vec<Plan>,
    /// A job ended at this instant before it was planned to.
    is_early: bool,
}

/// A waiting job and its reservation.
#[derive(Clone, Copy, Debug)]
struct Plan {
    job_type: usize,
    job: Job,
    start: f64,
    estimate: f64,
}

/// Of times, relatively.
const ROUNDING: f64 = 1e-12;

impl ConservativeBackfill {
    /// The rule for this workload, with what is known of jobs: sizes, inflated or not, or limits.
    pub fn new(workload: &Workload, estimates: Estimates) -> Self {
        let capacity: Vec<u64> = workload.resources().iter().map(|r| r.units()).collect();
        ConservativeBackfill {
            estimates,
            profile: Profile::new(&capacity),
            plans: Vec::new(),
            running: Vec::new(),
            soonest: f64::INFINITY,
            come: Vec::new(),
            is_early: false,
        }
    }

    /// The youngest job of type i, which has just come, and has no reservation yet.
    fn youngest(&self, i: usize, system: &System) -> Plan {
        let job = system.youngest(i).expect("the job that has come waits");
        Plan {
            job_type: i,
            job,
            start: 0.0,
            estimate: self.estimates.of(job, i, system),
        }
    }

    /// A job has come: it starts, or has a reservation.
    fn arrival(&mut self, mut plan: Plan, system: &mut System) {
        self.reserve(&mut plan, system);
        if !self.start(&plan, system) {
            self.soonest = self.soonest.min(plan.start);
            self.plans.push(plan);
        }
    }

    /// The earliest time that there is room, which is taken.
    fn reserve(&mut self, plan: &mut Plan, system: &System) {
        let demand = system.demand(plan.job_type);
        plan.start = self.profile.earliest(demand, plan.estimate);
        self.profile
            .take(plan.start, plan.start + plan.estimate, demand);
    }

    /// Starts the job if it is due and fits.
    fn start(&mut self, plan: &Plan, system: &mut System) -> bool {
        let starts = plan.start <= system.now() * (1.0 + ROUNDING) && system.fits(plan.job_type);
        if starts {
            system.start_job(plan.job_type, plan.job);
            let end = plan.start + plan.estimate;
            self.running.push((plan.job.number, end));
        }
        starts
    }

    /// A job of type i has ended: what was planned for it is free.
    fn ended(&mut self, i: usize, system: &System) {
        let ended = system.ended();
        let place = self.running.iter().position(|(number, _)| *number == ended);
        let place = place.expect("the job that has ended was started here");
        let (_, end) = self.running.swap_remove(place);
        let now = system.now();
        if end > now * (1.0 + ROUNDING) {
            self.profile.give(now, end, system.demand(i));
            self.is_early = true;
        }
    }

    /// Starts what may start after all that has ended.
    fn go_on(&mut self, system: &mut System) {
        if std::mem::take(&mut self.is_early) {
            self.for_each_plan(system, Self::compress);
        } else if self.soonest <= system.now() * (1.0 + ROUNDING) {
            self.for_each_plan(system, |rule, plan, system| rule.start(plan, system));
        }
    }

    /// Moves the job to the front as far as there is room; whether it has started.
    fn compress(&mut self, plan: &mut Plan, system: &mut System) -> bool {
        let demand = system.demand(plan.job_type);
        self.profile
            .give(plan.start, plan.start + plan.estimate, demand);
        self.reserve(plan, system);
        self.start(plan, system)
    }

    /// In order of arrival; plans of jobs that start are removed.
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

impl Policy for ConservativeBackfill {
    fn needs_sizes(&self) -> bool {
        self.estimates.need_sizes()
    }

    fn needs_limits(&self) -> bool {
        self.estimates.need_limits()
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
            Event::Arrival(i) => self.come.push(self.youngest(i, system)),
            Event::Completion(i) => self.ended(i, system),
            Event::Clock(_) => {}
        }
    }

    fn decide(&mut self, system: &mut System) {
        self.go_on(system);
        for n in 0..self.come.len() {
            self.arrival(self.come[n], system);
        }
        self.come.clear();
    }
}
