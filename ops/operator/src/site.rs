use std::sync::Arc;

use synth_multiresource::policy::{Action, Event, Family, Job, Policy, System};
use synth_multiresource::workload::Fleet;
use synth_simulation::RandomStream;

/// The decisions that have to be carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decisions {
    /// The jobs to start, in this order. In a fleet the servers are included.
    pub start: Vec<(Arc<str>, Vec<usize>)>,
    /// The jobs to stop.
    pub stop: Vec<Arc<str>>,
}

pub(super) struct Site {
    pub system: System,
    pub rule: Box<dyn Policy>,
    /// The rate that was used to draw the time of each clock, and the time at which it rings.
    pub timers: Vec<(f64, f64)>,
    ids: Vec<Arc<str>>,
    /// Whether a job of each type could run if no other job was running (K).
    pub open: Vec<bool>,
    pub has_more: bool,
    has_undecided_event: bool,
    clocks: RandomStream,
    pub decided: Decisions,
}

impl Site {
    pub(crate) fn new(family: &Family, fleet: &Fleet, clocks: RandomStream) -> Self {
        let rule = family.build(fleet);
        let system = System::for_policy(fleet, &*rule);
        Site {
            timers: vec![(0.0, f64::INFINITY); rule.clocks()],
            open: vec![true; system.types()],
            ids: Vec::new(),
            has_more: false,
            has_undecided_event: false,
            clocks,
            decided: Decisions::default(),
            rule,
            system,
        }
    }

    pub(crate) fn begin(&mut self, adopted: bool, now: f64) {
        // The time of a system begins at 0, but a cluster can begin at any time.
        self.system.start_at(now);
        if adopted {
            self.rule.resume(&mut self.system);
        } else {
            self.rule.begin(&mut self.system);
        }
        self.set_timers();
    }

    pub(crate) fn act(&mut self, event: Option<Event>, now: f64) {
        self.system.advance(now);
        if let Some(Event::Clock(clock)) = event {
            self.timers[clock] = (0.0, f64::INFINITY);
        }
        match event {
            Some(event) if self.has_more && self.rule.decides_on_state() => {
                self.rule.note(event, &mut self.system);
                self.has_undecided_event = true;
                return self.take();
            }
            Some(event) if self.has_undecided_event => {
                self.rule.note(event, &mut self.system);
                self.rule.decide(&mut self.system);
            }
            Some(event) => self.rule.react(event, &mut self.system),
            None => self.rule.changed(&mut self.system),
        }
        self.has_undecided_event = false;
        self.set_timers();
        self.take();
    }

    pub(crate) fn decide_noted(&mut self, now: f64) {
        if self.has_undecided_event && !self.has_more {
            self.has_undecided_event = false;
            self.decide(now);
        }
    }

    pub(crate) fn decide(&mut self, now: f64) {
        self.system.advance(now);
        self.rule.decide(&mut self.system);
        self.set_timers();
        self.take();
    }

    /// Draws a new time for each clock whose rate has changed. Exponential clocks have no memory.
    fn set_timers(&mut self) {
        for (timer, &rate) in self.timers.iter_mut().zip(self.system.clocks()) {
            if timer.0 != rate {
                let mut due = f64::INFINITY;
                if rate > 0.0 {
                    due = self.system.now() + self.clocks.exponential() / rate;
                }
                *timer = (rate, due);
            }
        }
    }

    /// Collects the actions of the system. A job that is stopped and started again continues.
    fn take(&mut self) {
        let Decisions { start, stop } = &mut self.decided;
        for &action in self.system.actions() {
            let (Action::Start(_, job) | Action::Stop(_, job)) = action;
            let id = Arc::clone(&self.ids[job.slot as usize]);
            if let Action::Start(..) = action {
                match stop.iter().position(|other| *other == id) {
                    Some(place) => drop(stop.remove(place)),
                    None => start.push((id, self.system.servers_of(job).to_vec())),
                }
            } else {
                match start.iter().position(|(other, _)| *other == id) {
                    Some(place) => drop(start.remove(place)),
                    None => stop.push(id),
                }
            }
        }
        self.system.clear_actions();
    }

    pub(crate) fn name(&mut self, job: Job, id: &Arc<str>) {
        let slot = job.slot as usize;
        if self.ids.len() <= slot {
            self.ids.resize(slot + 1, Arc::clone(id));
        }
        self.ids[slot] = Arc::clone(id);
    }

    pub(crate) fn occupy(&mut self, n: usize, units: &[u64], now: f64) {
        self.system.start_at(now);
        self.system.occupy(n, units, now);
        for own in 0..self.open.len() {
            self.open[own] = self.system.could_run(own);
        }
    }

    /// Withdraws the waiting jobs that could not run even if no other job was running.
    pub(crate) fn shut_out(&mut self, now: f64) -> Vec<(Arc<str>, Job)> {
        let mut out = Vec::new();
        for own in (0..self.open.len()).filter(|i| !self.open[*i]) {
            let waiting: Vec<Job> = self.system.waiting_jobs(own).collect();
            for job in waiting {
                self.system.withdraw(own, job, now);
                out.push((Arc::clone(&self.ids[job.slot as usize]), job));
            }
        }
        out
    }

    pub(crate) fn queue(&self, job_type: usize) -> impl Iterator<Item = &Arc<str>> + '_ {
        let jobs = self.system.waiting_jobs(job_type);
        jobs.map(|job| &self.ids[job.slot as usize])
    }

    pub(crate) fn due(&self) -> (f64, usize) {
        let due = self.timers.iter().map(|timer| timer.1).zip(0..);
        due.fold((f64::INFINITY, 0), |first, next| {
            if next.0 < first.0 { next } else { first }
        })
    }
}
