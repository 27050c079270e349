use super::ends::Ends;
use super::engine::{Happened, Servers};
#[cfg(feature = "cli")]
use crate::multiresource::policy::Completed;
use crate::multiresource::policy::{Counters, Event, Policy, System, Violation};
use crate::simulation::{Stay, Stream};

/// A server with its queues, its rule, and the ends of its jobs.
///
/// What has no memory is drawn from the total rate: the policy's clocks, and the completions
/// where all sizes are exponential. The next such event comes when the integral of that rate
/// reaches an exponential number of mean 1, so nothing is drawn again because something else came
/// first. As soon as one type's sizes are not exponential, jobs get their sizes as they arrive, and
/// a calendar tells who ends next; the kinds of [`Ends`] are compiled apart, so that one does not
/// slow the other.
pub(in crate::multiresource) struct Server<P, E> {
    pub system: System,
    policy: P,
    ends: E,
    /// What is left of the exponential number.
    pub hazard: f64,
}

/// What is due at a server.
#[derive(Clone, Copy)]
pub(in crate::multiresource) enum Due {
    /// The exponential number is used up: a clock rings, or a job of exponential size ends.
    Ring(Rates),
    /// A job of known size ends.
    End,
}

/// Rates \[1/time\] of what has no memory.
#[derive(Clone, Copy)]
pub(in crate::multiresource) struct Rates {
    clocks: f64,
    /// With a bound on that of completions of running jobs; of the clocks alone where ends are
    /// known.
    pub total: f64,
}

impl<P: Policy, E: Ends> Server<P, E> {
    /// This empty system at time 0, with the clocks of the policy.
    pub fn of(mut system: System, mut policy: P, ends: E, service: &mut Stream) -> Self {
        if E::UNKNOWN {
            system.leave_off_noting();
        }
        policy.begin(&mut system);
        let mut server = Server {
            system,
            policy,
            ends,
            hazard: service.exponential(),
        };
        server.ends.follow(&mut server.system);
        server
    }

    #[inline(always)]
    pub fn rates(&self) -> Rates {
        let [clocks, running] = self.system.rates();
        let total = if E::UNKNOWN { clocks + running } else { clocks };
        Rates { clocks, total }
    }

    /// When the next job of known size ends; infinity where there is none.
    #[inline(always)]
    pub fn next_end(&mut self) -> f64 {
        self.ends.next(&self.system)
    }

    /// The rule reacts to an event.
    #[inline(always)]
    pub fn react(&mut self, event: Event) {
        if !E::UNKNOWN {
            self.system.clear_actions();
        }
        self.policy.react(event, &mut self.system);
        self.ends.follow(&mut self.system);
    }

    /// Checks what must hold, and sums anew what is kept as running sums.
    pub fn settle(&mut self) {
        self.system.audit();
        self.ends.audit(&mut self.system);
    }
}

/// Several events at one instant, and one decision: what recorded jobs need.
#[cfg(feature = "cli")]
impl<P: Policy, E: Ends> Server<P, E> {
    /// The job of known size that is due ends at time `now`, and the rule is not told yet.
    #[inline(always)]
    pub fn end(&mut self, now: f64) -> Option<Completed> {
        let slot = self.ends.take()?;
        Some(self.system.complete_slot(slot, now))
    }

    /// The rule is told of an event at an instant at which more happens.
    pub fn note(&mut self, event: Event) {
        self.policy.note(event, &mut self.system);
    }

    /// The rule decides on all that it was told of.
    pub fn decide(&mut self) {
        self.system.clear_actions();
        self.policy.decide(&mut self.system);
        self.ends.follow(&mut self.system);
    }
}

/// One server by itself.
impl<P: Policy + Send, E: Ends + Send> Servers for Server<P, E> {
    type Due = Due;

    #[inline(always)]
    fn due(&mut self, arrival: f64) -> (f64, Option<Due>) {
        let rates = self.rates();
        let now = self.system.now();
        let end = self.next_end();
        let until = arrival.min(end);
        let hazard = rates.total * (until - now);
        if self.hazard < hazard {
            // Rounding must not take it beyond what comes next.
            let ring = (now + self.hazard / rates.total).min(until);
            (ring, Some(Due::Ring(rates)))
        } else {
            self.hazard -= hazard;
            (until, (arrival > end).then_some(Due::End))
        }
    }

    #[inline(always)]
    fn happen(&mut self, mut now: f64, due: Due, service: &mut Stream) -> Happened {
        let slot = match due {
            Due::End => {
                // Rounding must not take it into the past.
                now = now.max(self.system.now());
                self.ends.take()
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

    #[inline(always)]
    fn arrive(&mut self, i: usize, now: f64, size: f64, sizes: &mut Stream) {
        let size = match size.is_nan() {
            true => self.ends.size(i, sizes),
            false => size,
        };
        let held = size + self.ends.latency(sizes);
        let job = self.system.arrive_sized(i, now, held);
        if let Some(limit) = self.ends.limit(i, size, sizes) {
            self.system.set_limit(job, limit);
        }
        self.react(Event::Arrival(i));
    }

    fn advance(&mut self, now: f64) {
        self.system.advance(now);
    }

    fn wasted(&self, j: usize) -> f64 {
        match self.system.any_waits() {
            true => self.system.free_room(j),
            false => 0.0,
        }
    }

    fn collect(&mut self, of_type: impl FnMut(usize, [f64; 3])) {
        self.system.collect(of_type);
        self.settle();
    }

    fn audit(&mut self) -> Option<&Violation> {
        self.system.audit();
        self.system.violation()
    }

    #[inline(always)]
    fn now(&self) -> f64 {
        self.system.now()
    }

    fn jobs(&self) -> u64 {
        self.system.jobs()
    }

    #[inline(always)]
    fn present(&self, i: usize) -> u64 {
        self.system.present(i)
    }

    fn counters(&self) -> Counters {
        self.system.counters()
    }

    fn guarded_time(&self) -> f64 {
        self.system.guarded_time()
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
