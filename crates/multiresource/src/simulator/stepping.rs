use super::ends::CompletionTimes;
use super::laws;
use super::server::Server;
use crate::policy::{Event, Policy, System};
use crate::workload::{Fleet, Workload};
use synth_simulation::{Arrival, ArrivalBuffer, RandomStream, Streams};

/// A run of a fleet in which the caller makes the decisions. Arrivals, sizes and service have
/// separate random streams, so that arrivals and sizes are the same for all policies.
pub struct SteppedRun {
    pub(super) server: Server,
    pub(super) coming: ArrivalBuffer,
    sizes: RandomStream,
    pub(super) service: RandomStream,
}

impl SteppedRun {
    /// Creates an empty system at time 0.
    pub fn new(fleet: &Fleet, seed: u64, replication: u32) -> Self {
        Self::under(Box::new(Nobody), fleet, seed, replication)
    }

    pub(super) fn under(rule: Box<dyn Policy>, fleet: &Fleet, seed: u64, replication: u32) -> Self {
        let workload = fleet.envelope();
        let (system, ends) = (
            System::for_policy(fleet, &*rule),
            CompletionTimes::new(workload),
        );
        let server = |service: &mut _| Server::new(system, rule, Some(ends), service);
        Self::with_server(workload, seed, replication, server)
    }

    pub(super) fn with_server(
        workload: &Workload,
        seed: u64,
        replication: u32,
        server: impl FnOnce(&mut RandomStream) -> Server,
    ) -> Self {
        let Streams {
            arrivals,
            mut service,
            sizes,
            ..
        } = Streams::new(seed, replication);
        SteppedRun {
            server: server(&mut service),
            coming: ArrivalBuffer::new(laws::arrivals(workload, arrivals)),
            sizes,
            service,
        }
    }

    /// Returns the present system.
    pub fn system(&self) -> &System {
        &self.server.system
    }

    /// Starts the waiting job of type i that arrived first. Returns `false` and has no effect if
    /// there is none or it does not fit.
    pub fn start(&mut self, i: usize) -> bool {
        let system = &self.server.system;
        let can = i < system.types() && system.waiting(i) > 0 && system.fits(i);
        if can {
            self.server.act(|system| system.start(i));
        }
        can
    }

    #[inline(always)]
    pub(super) fn arrive(&mut self, Arrival { time, class }: Arrival) {
        let (i, size) = (class as usize, self.coming.pass());
        self.server.arrive(i, time, size, &mut self.sizes);
    }

    /// Advances to the next event after which a waiting job fits, but by at most `events` events.
    /// Returns the number of events and the integral of the number of jobs \[jobs × time\].
    pub fn advance(&mut self, events: u64) -> (u64, f64) {
        let (mut count, mut integral) = (0, 0.0);
        while count < events {
            let arrival = self.coming.peek();
            let (now, due) = self.server.next_event(arrival.time);
            let before = &self.server.system;
            integral += before.jobs() as f64 * (now - before.now());
            match due {
                None => self.arrive(arrival),
                Some(due) => drop(self.server.happen(now, due, &mut self.service)),
            }
            count += 1;
            if self.server.system.oldest_fitting_type().is_some() {
                break;
            }
        }
        (count, integral)
    }
}

#[derive(Clone)]
struct Nobody;

impl Policy for Nobody {
    fn react(&mut self, _: Event, _: &mut System) {}
}
