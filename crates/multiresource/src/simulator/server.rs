use super::ends::Ends;
use crate::policy::Completed;
use crate::policy::{Event, Policy, System};
use synth_simulation::{RandomStream, Stay};

/// A server with its queues, or those of a fleet; its rule, and the ends of its jobs.
///
/// What has no memory is drawn from the total rate: the policy's clocks, and the completions
/// where all sizes are exponential. The next such event comes when the integral of that rate
/// reaches an exponential number of mean 1, so nothing is drawn again because something else came
/// first. As soon as one type's sizes are not exponential, jobs get their sizes as they arrive, and
/// a calendar tells who ends next.
pub struct Server {
    /// The servers with their queues.
    pub system: System,
    policy: Box<dyn Policy>,
    /// Nothing where sizes are exponential and not known: what is left of a job has the law of a whole one, so a size
    /// without memory needs no calendar.
    ends: Option<Ends>,
    /// What is left of the exponential number.
    hazard: f64,
}

/// What is due at a server.
#[derive(Clone, Copy)]
pub enum Due {
    /// The exponential number is used up: a clock rings, or a job of exponential size ends.
    Ring(Rates),
    /// A job of known size ends.
    End,
    /// The rule is to decide though nothing happens.
    Wake,
}

/// Rates \[1/time\] of what has no memory.
#[derive(Clone, Copy)]
pub struct Rates {
    clocks: f64,
    /// With a bound on that of completions of running jobs; of the clocks alone where ends are
    /// known.
    pub total: f64,
}

/// What an event turned out to be.
pub enum Happened {
    /// The rate was a bound, and not reached: no event.
    Nothing,
    /// A clock rang.
    Clock,
    /// A job of this type left after this stay.
    Departure(usize, Stay),
}

impl Server {
    /// This empty system at time 0, with the clocks of the policy.
    pub fn new(
        mut system: System,
        mut policy: Box<dyn Policy>,
        ends: Option<Ends>,
        service: &mut RandomStream,
    ) -> Self {
        if ends.is_none() {
            system.noting = false;
        }
        policy.begin(&mut system);
        let mut server = Server {
            system,
            policy,
            ends,
            hazard: service.exponential(),
        };
        server.follow();
        server
    }

    /// This system, in which jobs of known sizes wait and run already: from here on under this policy.
    pub fn resume(
        mut system: System,
        mut policy: Box<dyn Policy>,
        service: &mut RandomStream,
    ) -> Self {
        let mut ends = Ends::default();
        ends.follow(&system);
        system.clear_actions();
        policy.resume(&mut system);
        let mut server = Server {
            system,
            policy,
            ends: Some(ends),
            hazard: service.exponential(),
        };
        server.follow();
        server
    }

    /// Returns a copy of the rule as it is now.
    pub fn policy(&self) -> Box<dyn Policy> {
        self.policy.clone()
    }

    /// Returns the rates of what has no memory.
    #[inline(always)]
    pub fn rates(&self) -> Rates {
        let [clocks, running] = self.system.rates();
        let running = if self.ends.is_none() { running } else { 0.0 };
        let total = clocks + running;
        Rates { clocks, total }
    }

    /// Returns when the next job of known size ends; infinity where there is none.
    #[inline(always)]
    pub fn next_end(&mut self) -> f64 {
        let ends = self.ends.as_mut();
        ends.map_or(f64::INFINITY, |ends| ends.next(&self.system))
    }

    /// Lets the rule react to an event.
    #[inline(always)]
    pub fn react(&mut self, event: Event) {
        if self.ends.is_some() {
            self.system.clear_actions();
        }
        self.policy.react(event, &mut self.system);
        self.follow();
    }

    /// Changes the system from outside, as a rule does.
    pub fn act(&mut self, change: impl FnOnce(&mut System)) {
        self.system.clear_actions();
        change(&mut self.system);
        self.follow();
    }

    #[inline(always)]
    fn follow(&mut self) {
        if let Some(ends) = &mut self.ends {
            ends.follow(&self.system);
        }
    }

    /// Checks what must hold, and sums anew what is kept as running sums.
    pub fn settle(&mut self) {
        self.system.audit();
        if let Some(ends) = &self.ends {
            ends.audit(&mut self.system);
        }
    }

    /// Returns when the next event is: at the server, if something is due there before a job arrives at time `arrival`; else
    /// the arrival.
    #[inline(always)]
    pub fn due(&mut self, arrival: f64) -> (f64, Option<Due>) {
        let (rates, now) = (self.rates(), self.system.now());
        let (until, known) = match &mut self.ends {
            None => (arrival, None),
            Some(ends) => {
                let (end, wake) = (ends.next(&self.system), self.system.wake());
                let until = arrival.min(end).min(wake);
                let at_arrival = arrival <= until;
                let due = if end <= wake { Due::End } else { Due::Wake };
                (until, (!at_arrival).then_some(due))
            }
        };
        let hazard = rates.total * (until - now);
        if self.hazard < hazard {
            // Rounding must not take it beyond what comes next.
            let ring = (now + self.hazard / rates.total).min(until);
            (ring, Some(Due::Ring(rates)))
        } else {
            self.hazard -= hazard;
            (until, known)
        }
    }

    /// Lets what is due happen at time `now`, and the rule react.
    #[inline(always)]
    pub fn happen(&mut self, mut now: f64, due: Due, service: &mut RandomStream) -> Happened {
        let slot = match due {
            Due::Wake => {
                self.wake(now);
                return Happened::Nothing;
            }
            Due::End => {
                // Rounding must not take it into the past.
                now = now.max(self.system.now());
                self.ends.as_mut().and_then(Ends::take)
            }
            Due::Ring(rates) => {
                self.hazard = service.exponential();
                let point = service.uniform() * rates.total;
                if point < rates.clocks {
                    self.system.advance(now);
                    let Some(event) = ring(&self.system, point) else {
                        return Happened::Nothing;
                    };
                    self.react(event);
                    return Happened::Clock;
                }
                self.system.drawn(point - rates.clocks)
            }
        };
        let Some(slot) = slot else {
            // The time until then has passed all the same.
            self.system.advance(now);
            return Happened::Nothing;
        };
        let left = self.system.complete_slot(slot, now);
        self.react(Event::Completion(left.job_type));
        let arrived = left.job.arrived;
        let stay = Stay {
            response: now - arrived,
            waiting: left.started - arrived,
        };
        Happened::Departure(left.job_type, stay)
    }

    /// Lets a job of type i arrive at time `now`, and the rule react. Its size \[time\], or NaN where it is to be drawn.
    #[inline(always)]
    pub fn arrive(&mut self, i: usize, now: f64, size: f64, sizes: &mut RandomStream) {
        match &self.ends {
            Some(ends) => ends.arrive(i, now, size, sizes, &mut self.system),
            None => drop(self.system.arrive_sized(i, now, f64::NAN)),
        }
        self.react(Event::Arrival(i));
    }
}

/// Several events at one instant, and one decision: what recorded jobs need.
impl Server {
    /// Lets the job of known size that is due end at time `now`, of which the rule does not hear yet.
    #[inline(always)]
    pub fn end(&mut self, now: f64) -> Option<Completed> {
        let slot = self.ends.as_mut()?.take()?;
        Some(self.system.complete_slot(slot, now))
    }

    /// Says to the rule what happened at an instant at which more does.
    pub fn note(&mut self, event: Event) {
        self.policy.note(event, &mut self.system);
    }

    /// Lets the rule decide at a time at which nothing happens.
    pub fn wake(&mut self, now: f64) {
        self.system.advance(now.max(self.system.now()));
        self.system.wake_at(f64::INFINITY);
        self.decide();
    }

    /// Lets another rule go on from here.
    pub fn hand_over(&mut self, mut policy: Box<dyn Policy>) {
        self.policy.let_go(&mut self.system);
        self.system.clear_actions();
        policy.resume(&mut self.system);
        self.policy = policy;
        self.follow();
    }

    /// Lets the rule decide on all that was noted.
    pub fn decide(&mut self) {
        self.system.clear_actions();
        self.policy.decide(&mut self.system);
        self.follow();
    }
}

/// The clock at a point drawn uniformly below their total rate rings.
fn ring(system: &System, mut point: f64) -> Option<Event> {
    let clocks = system.clocks().iter().enumerate();
    let mut running = clocks.filter(|(_, rate)| **rate > 0.0);
    let rings = running.clone().find(|(_, rate)| {
        point -= **rate;
        point < 0.0
    });
    // Rounding must not take it beyond the last.
    let (clock, _) = rings.or_else(|| running.next_back())?;
    Some(Event::Clock(clock))
}
