use crate::multiresource::policy::{Event, Job, Policy, System};
use crate::multiresource::simulator::calendar::Ends;
use crate::multiresource::simulator::engine::ring;
use crate::multiresource::simulator::random::Stream;

/// One of the servers of a fleet: its queues, its rule, and when something happens there next.
///
/// As in the engine of one server, what has no memory comes when the integral of its total rate
/// reaches an exponential number of mean 1; the rate stays between events at this server, whatever
/// happens elsewhere.
pub(super) struct Server<E> {
    pub system: System,
    /// The shape, by its place in the fleet.
    pub shape: usize,
    policy: Box<dyn Policy + Send>,
    ends: E,
    /// What is left of the exponential number, at the time `since`.
    hazard: f64,
    since: f64,
    /// Total rate from then on.
    rate: f64,
    /// When the next job of known size ends.
    end: f64,
}

impl<E: Ends> Server<E> {
    /// An empty server at time 0.
    pub fn new(
        mut system: System,
        shape: usize,
        mut policy: Box<dyn Policy + Send>,
        ends: E,
        service: &mut Stream,
    ) -> Self {
        if E::UNKNOWN {
            system.leave_off_noting();
        }
        policy.begin(&mut system);
        let mut server = Server {
            system,
            shape,
            policy,
            ends,
            hazard: service.exponential(),
            since: 0.0,
            rate: 0.0,
            end: f64::INFINITY,
        };
        server.ends.follow(&mut server.system);
        server.look_ahead();
        server
    }

    /// When a job ends or a clock rings here next, if nothing arrives.
    pub fn next(&self) -> f64 {
        self.ring_time().min(self.end)
    }

    fn ring_time(&self) -> f64 {
        match self.rate > 0.0 {
            true => self.since + self.hazard / self.rate,
            false => f64::INFINITY,
        }
    }

    /// The size of a job of type k that arrives; NaN where it is not known.
    pub fn size(&mut self, k: usize, sizes: &mut Stream) -> f64 {
        self.ends.size(k, sizes)
    }

    /// A job of its type k arrives.
    pub fn arrive(&mut self, k: usize, now: f64, size: f64) {
        self.pass(now);
        self.system.arrive_sized(k, now, size);
        self.react(Event::Arrival(k));
    }

    /// What is due at [`Server::next`] happens; whether it was anything, and the job that left.
    pub fn step(&mut self, service: &mut Stream) -> (bool, Option<(usize, Job)>) {
        let (ring_time, end) = (self.ring_time(), self.end);
        // Rounding must not take it into the past.
        let now = ring_time.min(end).max(self.since);
        self.pass(now);
        let left = if ring_time < end {
            self.hazard = service.exponential();
            let [clocks, shared, _] = self.system.rates();
            let point = service.uniform() * self.rate;
            if point < clocks {
                let rung = ring(&mut self.system, point, now);
                rung.into_iter().for_each(|event| self.react(event));
                self.look_ahead();
                return (rung.is_some(), None);
            }
            match point < clocks + shared {
                true => self.system.drawn_share(point - clocks),
                false => self.system.drawn(point - clocks - shared),
            }
        } else {
            self.ends.take()
        };
        let departed = left.map(|slot| self.system.complete_slot(slot, now));
        match departed {
            Some((k, _)) => self.react(Event::Completion(k)),
            // The rate was a bound, and not reached.
            None => self.look_ahead(),
        }
        (departed.is_some(), departed)
    }

    /// Time goes on to `now`, before which nothing is due; what is summed up is summed anew.
    pub fn settle(&mut self, now: f64) {
        self.pass(now);
        self.system.advance(now);
        self.system.audit();
        self.ends.audit(&mut self.system);
        self.look_ahead();
    }

    fn pass(&mut self, now: f64) {
        // Rounding must not leave less than nothing.
        self.hazard = (self.hazard - self.rate * (now - self.since)).max(0.0);
        self.since = now;
    }

    fn react(&mut self, event: Event) {
        if !E::UNKNOWN {
            self.system.clear_actions();
        }
        self.policy.react(event, &mut self.system);
        self.ends.follow(&mut self.system);
        self.look_ahead();
    }

    fn look_ahead(&mut self) {
        let [clocks, shared, running] = self.system.rates();
        self.rate = match E::UNKNOWN {
            true => clocks + shared + running,
            false => clocks,
        };
        self.end = self.ends.next(&self.system);
    }
}
