//! A run that is stepped from outside: who steps it decides, as a rule would.

use super::ends::Ends;
use super::laws;
use super::server::Server;
use crate::policy::{Event, Policy, System};
use crate::workload::Fleet;
use synth_simulation::{Arrival, Coming, RandomStream, Streams};

/// A run of a fleet in which nothing starts by itself. Arrivals and sizes are those of the simulator, with the same
/// seed and number of the replication.
pub struct Stepping {
    pub(super) server: Server,
    pub(super) coming: Coming,
    sizes: RandomStream,
    pub(super) service: RandomStream,
}

impl Stepping {
    /// An empty system at time 0.
    pub fn new(fleet: &Fleet, seed: u64, replication: u32) -> Self {
        Self::under(Box::new(Nobody), fleet, seed, replication)
    }

    /// The same, where a rule decides.
    pub(super) fn under(rule: Box<dyn Policy>, fleet: &Fleet, seed: u64, replication: u32) -> Self {
        let Streams {
            arrivals,
            mut service,
            sizes,
            ..
        } = Streams::new(seed, replication);
        let workload = fleet.envelope();
        let system = System::for_policy(fleet, &*rule);
        let ends = Some(Ends::new(workload));
        Stepping {
            server: Server::new(system, rule, ends, &mut service),
            coming: Coming::new(laws::arrivals(workload, arrivals)),
            sizes,
            service,
        }
    }

    /// Returns the system as it is.
    pub fn system(&self) -> &System {
        &self.server.system
    }

    /// Starts the oldest waiting job of type i; `false`, without effect, where none waits or there is no room.
    pub fn start(&mut self, i: usize) -> bool {
        let system = &self.server.system;
        let can = i < system.types() && system.waiting(i) > 0 && system.fits(i);
        if can {
            self.server.act(|system| system.start(i));
        }
        can
    }

    /// The next job arrives.
    pub(super) fn arrive(&mut self) {
        let Arrival { time, class } = self.coming.peek();
        let (i, size) = (class as usize, self.coming.pass());
        self.server.arrive(i, time, size, &mut self.sizes);
    }

    /// Goes on to the next event after which a waiting job fits, and by so many events at most. Returns how many there
    /// were, and the integral of the number of jobs in the system over the time meanwhile \[jobs × time\].
    pub fn advance(&mut self, events: u64) -> (u64, f64) {
        let (mut count, mut integral) = (0, 0.0);
        while count < events {
            let (now, due) = self.server.due(self.coming.peek().time);
            let before = &self.server.system;
            integral += before.jobs() as f64 * (now - before.now());
            match due {
                None => self.arrive(),
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

/// Starts nothing.
#[derive(Clone)]
struct Nobody;

impl Policy for Nobody {
    fn react(&mut self, _: Event, _: &mut System) {}
}
