use super::ends::CompletionTimes;
use crate::policy::{Completed, Event, Policy, System};
use synth_simulation::{RandomStream, Stay};

/// One server or a fleet, with its queues, the rule, and the ends of the jobs.
///
/// A memoryless event is a clock of the policy or, if all sizes are exponential, a completion. The
/// next one occurs when the integral of the total rate reaches an exponential number of mean 1,
/// which need not be drawn again if there is another event before. If a size is not exponential,
/// the sizes of all jobs are drawn when they arrive, and a calendar finds the next job that ends.
pub struct Server {
    /// The state of the servers and of the queues.
    pub system: System,
    policy: Box<dyn Policy>,
    /// This is `None` if the sizes are exponential and unknown, because they are memoryless.
    ends: Option<CompletionTimes>,
    /// The remaining part of the exponential number.
    hazard: f64,
}

/// The next event at a server.
#[derive(Clone, Copy)]
pub enum PendingEvent {
    /// A memoryless event with the [`Server::rates`]: a clock, or the end of an exponential size.
    Ring([f64; 2]),
    /// The end of a job of known size.
    End,
    /// A wake-up that the rule asked for.
    Wake,
}

/// The outcome of an event.
pub enum EventOutcome {
    /// There is no event, because the rate was only an upper bound.
    Nothing,
    /// A clock rang.
    Clock,
    /// A job of this type has left the system after this stay.
    Departure(usize, Stay),
}

impl Server {
    /// Creates a server from an empty system at time 0, and starts the clocks of the policy.
    pub fn new(
        mut system: System,
        policy: Box<dyn Policy>,
        ends: Option<CompletionTimes>,
        service: &mut RandomStream,
    ) -> Self {
        if ends.is_none() {
            system.records_actions = false;
        }
        let mut server = Server {
            system,
            policy,
            ends,
            hazard: service.exponential(),
        };
        server.call(|policy, system| policy.begin(system));
        server
    }

    /// Creates a server from an existing system in which the sizes of all jobs are known.
    pub fn resume(system: System, policy: Box<dyn Policy>, service: &mut RandomStream) -> Self {
        let mut server = Server {
            system,
            policy,
            ends: Some(CompletionTimes::default()),
            hazard: service.exponential(),
        };
        server.follow();
        server.call(|policy, system| policy.resume(system));
        server
    }

    /// Returns a copy of the rule in its present state.
    pub fn policy(&self) -> Box<dyn Policy> {
        self.policy.clone()
    }

    /// Returns the rate of the clocks and of all memoryless events \[1/time\]. The latter may
    /// include an upper bound on the rate of the completions.
    #[inline(always)]
    pub fn rates(&self) -> [f64; 2] {
        let [clocks, running] = self.system.rates();
        let running = if self.ends.is_none() { running } else { 0.0 };
        [clocks, clocks + running]
    }

    /// Returns the time at which the next job of known size ends, or infinity.
    #[inline(always)]
    pub fn next_end(&mut self) -> f64 {
        let ends = self.ends.as_mut();
        ends.map_or(f64::INFINITY, |ends| ends.next(&self.system))
    }

    /// Passes an event to the rule.
    #[inline(always)]
    pub fn react(&mut self, event: Event) {
        if self.ends.is_some() {
            self.system.clear_actions();
        }
        self.policy.react(event, &mut self.system);
        self.follow();
    }

    /// Changes the system from the outside, in the same way as a rule.
    pub fn act(&mut self, change: impl FnOnce(&mut System)) {
        self.call(|_, system| change(system));
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Policy, &mut System)) {
        self.system.clear_actions();
        call(&mut *self.policy, &mut self.system);
        self.follow();
    }

    #[inline(always)]
    fn follow(&mut self) {
        if let Some(ends) = &mut self.ends {
            ends.follow(&self.system);
        }
    }

    /// Checks all of the invariants, and computes the running sums again.
    pub fn settle(&mut self) {
        self.system.audit();
        if let Some(ends) = &self.ends {
            ends.audit(&mut self.system);
        }
    }

    /// Returns the time of the next event; `None` if it is the arrival at time `arrival`.
    #[inline(always)]
    pub fn next_event(&mut self, arrival: f64) -> (f64, Option<PendingEvent>) {
        let (rates, now) = (self.rates(), self.system.now());
        let [_, total] = rates;
        let (until, known) = match &mut self.ends {
            None => (arrival, None),
            Some(ends) => {
                let (end, wake) = (ends.next(&self.system), self.system.wake());
                let until = arrival.min(end).min(wake);
                let due = match end <= wake {
                    true => PendingEvent::End,
                    false => PendingEvent::Wake,
                };
                (until, (until < arrival).then_some(due))
            }
        };
        let hazard = total * (until - now);
        if self.hazard < hazard {
            // Rounding must not move it beyond the next event.
            let ring = (now + self.hazard / total).min(until);
            (ring, Some(PendingEvent::Ring(rates)))
        } else {
            self.hazard -= hazard;
            (until, known)
        }
    }

    /// Handles the event at time `now`, and then calls the rule.
    #[inline(always)]
    pub fn happen(
        &mut self,
        mut now: f64,
        due: PendingEvent,
        service: &mut RandomStream,
    ) -> EventOutcome {
        let slot = match due {
            PendingEvent::Wake => {
                self.wake(now);
                return EventOutcome::Nothing;
            }
            PendingEvent::End => {
                // Rounding must not move it into the past.
                now = now.max(self.system.now());
                self.ends.as_mut().and_then(CompletionTimes::take)
            }
            PendingEvent::Ring([clocks, total]) => {
                self.hazard = service.exponential();
                let point = service.uniform() * total;
                if point < clocks {
                    self.system.advance(now);
                    let Some(event) = ring(&self.system, point) else {
                        return EventOutcome::Nothing;
                    };
                    self.react(event);
                    return EventOutcome::Clock;
                }
                self.system.sample_completion(point - clocks)
            }
        };
        let Some(slot) = slot else {
            self.system.advance(now);
            return EventOutcome::Nothing;
        };
        let left = self.system.complete_slot(slot, now);
        self.react(Event::Completion(left.job_type));
        let arrived = left.job.arrived;
        let stay = Stay {
            response: now - arrived,
            waiting: left.started - arrived,
        };
        EventOutcome::Departure(left.job_type, stay)
    }

    /// Adds a job of type i, and calls the rule. Its size \[time\] is drawn if it is NaN.
    #[inline(always)]
    pub fn arrive(&mut self, i: usize, now: f64, size: f64, sizes: &mut RandomStream) {
        match &self.ends {
            Some(ends) => ends.arrive(i, now, size, sizes, &mut self.system),
            None => drop(self.system.arrive_sized(i, now, f64::NAN)),
        }
        self.react(Event::Arrival(i));
    }
}

/// Methods for several events at the same time, which are used for recorded jobs.
impl Server {
    /// Completes the job that ends at time `now`, but does not call the rule.
    #[inline(always)]
    pub fn end(&mut self, now: f64) -> Option<Completed> {
        let slot = self.ends.as_mut()?.take()?;
        Some(self.system.complete_slot(slot, now))
    }

    /// Tells the rule about an event, but does not let it decide yet.
    pub fn note(&mut self, event: Event) {
        self.policy.note(event, &mut self.system);
    }

    /// Calls the rule at a time at which there is no event.
    pub fn wake(&mut self, now: f64) {
        self.system.advance(now.max(self.system.now()));
        self.system.wake_at(f64::INFINITY);
        self.decide();
    }

    /// Replaces the rule.
    pub fn hand_over(&mut self, policy: Box<dyn Policy>) {
        self.policy.let_go(&mut self.system);
        self.policy = policy;
        self.call(|policy, system| policy.resume(system));
    }

    /// Calls the rule after all of the events at the same time.
    pub fn decide(&mut self) {
        self.call(|policy, system| policy.decide(system));
    }
}

/// Returns the clock at a point below the total rate of the clocks.
fn ring(system: &System, mut point: f64) -> Option<Event> {
    let clocks = system.clocks().iter().enumerate();
    let mut running = clocks.filter(|(_, rate)| **rate > 0.0);
    let rings = running.clone().find(|(_, rate)| {
        point -= **rate;
        point < 0.0
    });
    // Rounding must not move it beyond the last clock.
    let (clock, _) = rings.or_else(|| running.next_back())?;
    Some(Event::Clock(clock))
}
