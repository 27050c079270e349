//! Backfilling: jobs start in some order, and where the next one does not fit, others may pass it.
//!
//! First-Fit, first come first served, Best-Fit, most and least servers first, EASY and conservative backfilling are
//! points of one rule with four choices: the [order](QueueOrder) of the queue, how many of its first jobs have
//! [reservations](Reservations) that nobody delays, what is taken for the sizes of jobs ([`Estimates`]), and on which
//! of several servers a job starts ([`Placement`](super::Placement)).

mod choices;
mod conservative;
mod easy;
mod estimates;
pub mod estimator;
mod greedy;
pub(super) mod named;
mod shortest;

pub use choices::{Backfilling, QueueOrder, Reservations};
pub(super) use choices::{Classes, oldest};
pub use estimates::Estimates;
#[cfg(test)]
pub(super) use estimates::inflated;
pub(super) use estimates::{Estimated, Waiting};
pub use estimator::{Estimate, Estimator, Judged, Learned, Promise, Users, Worth, worth};
pub use greedy::{FCFS, FIRST_FIT, Greedy};

use conservative::Conservative;
use easy::Easy;

use super::Policy;
use crate::workload::{Fleet, Workload};

impl Backfilling {
    /// Returns the online rule over all servers of a fleet.
    pub fn over(self, fleet: &Fleet) -> Box<dyn Policy> {
        self.rule(fleet.envelope(), fleet.servers())
    }

    /// Returns the online rule for so many servers; the workload's is the largest of them. Of all jobs reservations are
    /// known on one server only: with more it is as if the first alone had one.
    pub fn rule(self, workload: &Workload, servers: usize) -> Box<dyn Policy> {
        match self.reservations {
            Reservations::None | Reservations::Strict => Box::new(Greedy::new(self, workload)),
            Reservations::All if servers == 1 => Box::new(Conservative::new(self, workload)),
            Reservations::First | Reservations::All => Box::new(Easy::new(self, workload, servers)),
        }
    }
}
