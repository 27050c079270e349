//! This module computes long-run means from the cycles of a queue. It is used by the checker and is
//! independent of the solvers that are used for the synthesis ([`super::Qbd`], [`super::rounds`]).
//!
//! The following code is shared with these solvers: [`ModulatedQueue`] and its
//! [`Environment`](super::Environment), of which only the rates and the servers are used here and
//! not the distribution; in [`Levels`] the type [`Level`](super::Level), the operations on blocks
//! in `qbd`, and the elimination in `sojourn`; and in [`Stages`] the bisection. A bug in these
//! could affect both. All else (the levels of a queue, the reductions, the equations above and
//! below them, rounds, and response times) is implemented twice.
//!
//! # Theory
//! The long-run mean of a quantity is its mean integral over a regeneration cycle, divided by the
//! mean length of the cycle (renewal–reward theorem). The integrals are computed *backwards*,
//! whereas a stationary distribution is computed forwards. There are two kinds of cycles:
//!
//! - [`Levels`] uses cycles between two visits to the empty queue, and phases × phases matrices.
//! - [`Stages`] uses cycles between two visits to state 0, and banded levels × levels matrices.
//!
//! Neither of them uses subtractions, so the means are accurate even if jobs are rare or the rates
//! differ by many orders of magnitude.
//!
//! A response time is also a reward, because Poisson arrivals see time averages. `P(T > t)` is the
//! mean probability that a job which finds `q` jobs in state `s` is still present after time `t`
//! (see `tagged`).

mod levels;
mod row;
mod stages;
mod tagged;

pub use levels::Levels;
pub use stages::Stages;

use super::modulated::ModulatedQueue;

/// The levels that are ignored have a total probability of less than `exp(−TAIL)`.
const TAIL: f64 = 40.0;

/// Response times ignore the jobs that arrive at the highest levels, if the total probability of
/// these levels is at most this.
const NEGLIGIBLE: f64 = 1e-14;

/// Values that can grow from level to level are rescaled if they are larger than this.
const HUGE: f64 = 1e150;

/// A function of the state whose long-run mean is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reward {
    /// The number of jobs.
    Jobs,
    /// 1 if there are more than this number of jobs, and 0 otherwise.
    Above(u64),
    /// The values by state and by number of jobs. The value is 1 after the end of a list.
    Listed(Vec<Vec<f64>>),
}

impl Reward {
    fn at(&self, q: usize, s: usize) -> f64 {
        match self {
            Reward::Jobs => q as f64,
            Reward::Above(x) => f64::from(u8::from(q as u64 > *x)),
            Reward::Listed(values) => values[s].get(q).copied().unwrap_or(1.0),
        }
    }
}

/// A solver that computes the long-run means of a queue.
pub enum Cycle<'a> {
    /// Uses the cycles between two visits to the empty queue.
    Levels(Box<Levels<'a>>),
    /// Uses the cycles between two visits to state 0.
    Stages(Box<Stages<'a>>),
}

fn work_by_levels(queue: &ModulatedQueue<'_>) -> f64 {
    let phases = queue.servers().len() as f64;
    Levels::work(phases, f64::from(queue.max_servers()))
}

impl<'a> Cycle<'a> {
    /// Selects the faster solver, by rough estimates. Returns `None` if both need more than `most`
    /// nanoseconds or too much memory, or if there is no result.
    pub fn new(queue: &'a ModulatedQueue<'a>, most: f64) -> Option<Self> {
        let levels = work_by_levels(queue);
        let stages = Stages::new(queue, most.min(levels));
        if let Some(mut stages) = stages
            && stages.solve().is_some()
        {
            return Some(Cycle::Stages(Box::new(stages)));
        }
        if levels > most {
            return None;
        }
        let levels = Levels::of_queue(queue).ok()?;
        Some(Cycle::Levels(Box::new(levels)))
    }

    /// Returns the number of levels. The levels above have a total probability below `1e-17`.
    pub fn levels(&self) -> f64 {
        match self {
            Cycle::Levels(cycle) => cycle.levels(),
            Cycle::Stages(cycle) => cycle.levels(),
        }
    }

    /// Estimates the time \[ns\] that [`Cycle::means`] needs for a few rewards.
    pub fn work(&self, queue: &ModulatedQueue<'_>) -> f64 {
        match self {
            Cycle::Levels(_) => work_by_levels(queue),
            Cycle::Stages(cycle) => cycle.work(),
        }
    }

    /// Returns the number of operations that [`Cycle::response_tails`] needs.
    pub fn work_of_times(&self, queue: &ModulatedQueue<'_>, times: &[f64]) -> f64 {
        tagged::work(queue, times, self.levels())
    }

    /// Returns the mean of each reward.
    pub fn means(&self, rewards: &[Reward]) -> Vec<f64> {
        match self {
            Cycle::Levels(cycle) => cycle.means(rewards),
            Cycle::Stages(cycle) => cycle.means(rewards),
        }
    }

    /// Returns `P(T > t)` for each of these times, or `None` if it needs more than `budget`
    /// operations or too much memory.
    pub fn response_tails(
        &self,
        queue: &ModulatedQueue<'_>,
        times: &[f64],
        budget: f64,
    ) -> Option<Vec<f64>> {
        let staying = tagged::staying(queue, times, self.populated(), budget)?;
        let rewards: Vec<Reward> = staying.into_iter().map(Reward::Listed).collect();
        Some(self.means(&rewards))
    }

    /// Returns a number of levels above which the probability is negligible. If jobs are rare, it
    /// is far below the number of servers.
    fn populated(&self) -> f64 {
        let halvings = match self {
            Cycle::Levels(_) => 12,
            Cycle::Stages(_) => 3,
        };
        let fewer = (1..=halvings).map(|k| (self.levels() / f64::from(1 << k)) as u64 + 1);
        let fewer: Vec<u64> = fewer.collect();
        let rewards: Vec<Reward> = fewer.iter().map(|x| Reward::Above(*x)).collect();
        let above = self.means(&rewards);
        let mut pairs = fewer.iter().zip(above).rev();
        let enough = pairs.find(|(_, above)| *above <= NEGLIGIBLE);
        enough.map_or(self.levels(), |(levels, _)| *levels as f64 + 1.0)
    }
}
