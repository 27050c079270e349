//! One server, or a fleet with one queue, to which given jobs come.

use super::scene::DecisionState;
use crate::multiresource::policy::{Event, Policy, System, Violation};
use crate::multiresource::simulator::{Due, Ends, Server};
use crate::simulation::{Stream, Streams};

/// A replay under way.
pub(super) struct Engine<'a> {
    scene: &'a DecisionState<'a>,
    server: Server,
    /// The job that comes next.
    next: usize,
    /// When each job that has come left; NaN before.
    ends: Vec<f64>,
    service: Stream,
    needs_limits: bool,
    decides_on_state: bool,
    /// Arrivals, completions and clocks so far.
    pub events: u64,
    /// Clocks that rang since a job came or left.
    rings: u64,
}

/// After so many clocks since the last job came or left, none is thought to start another one.
const FUTILE: u64 = 10_000_000;

/// What comes next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    End,
    Arrival,
}

impl<'a> Engine<'a> {
    pub fn new(scene: &'a DecisionState<'a>, policy: Box<dyn Policy>) -> Self {
        let mut service = Streams::new(scene.seed, 0).service;
        let system = System::for_policy(&scene.fleet, &*policy);
        // Jobs come with their sizes.
        let ends = Some(Ends::default());
        let (needs_limits, decides_on_state) = (policy.needs_limits(), policy.decides_on_state());
        Engine {
            scene,
            server: Server::new(system, policy, ends, &mut service),
            next: 0,
            ends: Vec::with_capacity(scene.jobs.len()),
            service,
            needs_limits,
            decides_on_state,
            events: 0,
            rings: 0,
        }
    }

    /// Jobs that have come.
    pub fn come(&self) -> usize {
        self.next
    }

    /// Whether no job was stopped.
    pub fn runs_through(&self) -> bool {
        self.server.system.counters().preemptions == 0
    }

    /// Whether the policy has clocks.
    pub fn has_clocks(&self) -> bool {
        !self.server.system.clocks().is_empty()
    }

    /// When each job left, in the order of their arrivals.
    pub fn into_ends(self) -> Vec<f64> {
        self.ends
    }

    /// Goes on for about so many events; whether there is more to come.
    pub fn go_on(&mut self, events: u64) -> bool {
        let until = self.events + events;
        while self.events < until {
            if !self.step() {
                return false;
            }
        }
        true
    }

    /// Checks what must hold; how many jobs are there that nothing starts any more, once it is over.
    pub fn audit(&mut self) -> Result<u64, Violation> {
        self.server.settle();
        match self.server.system.violation() {
            Some(violation) => Err(violation.clone()),
            None => Ok(self.server.system.jobs()),
        }
    }

    /// What happens at the next instant; whether anything does.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let (end, arrival) = (self.server.next_end(), self.arrival());
        let until = end.min(arrival);
        if until == f64::INFINITY && (self.server.system.jobs() == 0 || self.rings > FUTILE) {
            return false;
        }
        if self.server.rates().total > 0.0 {
            return self.step_with_clocks(end, arrival);
        }
        if until == f64::INFINITY {
            return false;
        }
        let next = if end <= arrival {
            Next::End
        } else {
            Next::Arrival
        };
        if self.decides_on_state {
            self.instant(until, next)
        } else {
            let event = self.happen(until, next);
            self.react(event);
        }
        true
    }

    /// The same where the rule's clocks may ring before.
    fn step_with_clocks(&mut self, end: f64, arrival: f64) -> bool {
        // Where both come at one instant, the end comes first.
        let bound = if end <= arrival {
            f64::INFINITY
        } else {
            arrival
        };
        let (now, due) = self.server.due(bound);
        match due {
            None => {
                let event = self.happen(now, Next::Arrival);
                self.react(event);
            }
            Some(Due::End) => {
                let event = self.happen(now, Next::End);
                self.react(event);
            }
            Some(due) => {
                self.server.happen(now, due, &mut self.service);
                self.events += 1;
                self.rings += 1;
            }
        }
        true
    }

    /// All that happens at this instant, and one decision.
    fn instant(&mut self, now: f64, first: Next) {
        let event = self.happen(now, first);
        let mut next = self.at(now);
        if next.is_none() {
            return self.react(event);
        }
        self.note(event);
        while let Some(more) = next {
            let event = self.happen(now, more);
            self.note(event);
            next = self.at(now);
        }
        self.server.decide();
    }

    /// What else happens now.
    fn at(&mut self, now: f64) -> Option<Next> {
        match now {
            now if self.server.next_end() == now => Some(Next::End),
            now if self.arrival() == now => Some(Next::Arrival),
            _ => None,
        }
    }

    /// When the next job comes; infinity where none does.
    #[inline(always)]
    fn arrival(&self) -> f64 {
        let next = self.scene.jobs.get(self.next);
        next.map_or(f64::INFINITY, |job| self.scene.clock.submit(job.submit))
    }

    /// A job comes or leaves.
    #[inline(always)]
    fn happen(&mut self, now: f64, next: Next) -> Option<Event> {
        self.events += 1;
        self.rings = 0;
        match next {
            Next::End => {
                let left = self.server.end(now)?;
                self.ends[left.job.number as usize] = now;
                Some(Event::Completion(left.job_type))
            }
            Next::Arrival => {
                let (scene, n) = (self.scene, self.next);
                let i = scene.types[scene.jobs[n].kind as usize] as usize;
                let system = &mut self.server.system;
                let come = system.arrive_sized(i, now, scene.held(n));
                if self.needs_limits {
                    system.set_limit(come, scene.limit(n));
                }
                self.next += 1;
                self.ends.push(f64::NAN);
                Some(Event::Arrival(i))
            }
        }
    }

    #[inline(always)]
    fn react(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            self.server.react(event);
        }
    }

    fn note(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            self.server.note(event);
        }
    }
}
