//! Backfilling: jobs start in queue order, and if a job does not fit, other jobs may pass it. The
//! settings are the [`QueueOrder`], the jobs that have [`Reservations`], the [`Estimates`] of the
//! sizes, and the [`Placement`](super::Placement). First-fit, FCFS, best-fit, most and least
//! servers first, EASY and conservative backfilling are special cases.

mod by_priority;
mod choices;
mod conservative;
mod easy;
mod estimates;
pub(super) mod estimator;
mod greedy;
pub(super) mod named;
mod planned;
mod policy;
mod priority;
mod queue;
mod reservations;
mod running;
mod shortest;
#[cfg(test)]
mod tests;

pub use by_priority::EstimateSource;
pub use choices::{Backfilling, QueueOrder, TypeOrder};
pub(super) use choices::{PriorityClasses, oldest};
pub use estimates::Estimates;
#[cfg(test)]
pub(super) use estimates::inflated;
pub use estimator::{
    EstimateQuality, EstimatedCompletion, Estimator, JobFacts, LearnedRuntimes, RuntimeEstimate,
    UserGroup, estimate_quality,
};
pub use greedy::{FCFS, FIRST_FIT, Greedy};
pub use policy::BackfillingConfig;
pub use priority::Priority;
pub(super) use queue::{Queue, TypeOrderQueue};
pub use reservations::Reservations;
pub(super) use running::Waiting;

use by_priority::JobOrderQueue;
use conservative::Conservative;
use easy::Easy;
use planned::Planned;

use super::Policy;
use crate::workload::{Fleet, Workload};
use synth_core::number::seconds_in;

const SECONDS_PER_DAY: f64 = 86_400.0;

impl Backfilling {
    /// Returns the online rule for all servers of a fleet.
    pub fn over(self, fleet: &Fleet) -> Box<dyn Policy> {
        self.rule(fleet.envelope(), fleet.servers())
    }

    /// Returns the online rule for this number of servers; `workload` describes the largest. With
    /// several, [`Reservations::All`] and [`Reservations::Few`] only reserve for the first job.
    pub fn rule(self, workload: &Workload, servers: usize) -> Box<dyn Policy> {
        self.with_learned(workload, servers, &LearnedRuntimes::default())
    }

    /// Returns the online rule. Its estimates start from the state that was learned before.
    pub fn with_learned(
        self,
        workload: &Workload,
        servers: usize,
        learned: &LearnedRuntimes,
    ) -> Box<dyn Policy> {
        let seconds = seconds_in(workload.time_unit()).unwrap_or(1.0);
        let estimator = Estimator::new(self.estimate, SECONDS_PER_DAY / seconds, learned);
        self.by_guess(workload, servers, estimator.into())
    }

    /// Returns the online rule. If its order is based on estimates, they are taken from `guess`.
    pub fn by_guess(
        self,
        workload: &Workload,
        servers: usize,
        guess: EstimateSource,
    ) -> Box<dyn Policy> {
        let Backfilling {
            order,
            reservations,
            ..
        } = self;
        if let QueueOrder::Jobs(priority) = order {
            let queue = JobOrderQueue::new(&self, priority, guess, workload, servers);
            return match reservations {
                Reservations::Few(_) | Reservations::All if servers == 1 => {
                    Box::new(Planned::new(reservations, queue))
                }
                _ => Box::new(Easy::new(self, queue, servers)),
            };
        }
        match reservations {
            Reservations::None | Reservations::Strict => Box::new(Greedy::new(self, workload)),
            Reservations::All if servers == 1 => Box::new(Conservative::new(self, workload)),
            _ => {
                let queue = TypeOrderQueue::new(&self, workload, servers);
                Box::new(Easy::new(self, queue, servers))
            }
        }
    }
}
