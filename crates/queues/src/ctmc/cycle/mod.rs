//! Long-run means of a queue as what a cycle brings over what it lasts: the checker's way, beside the laws that the maker
//! solves for by matrices ([`super::Qbd`]) and by [`super::rounds`].
//!
//! Shared with the maker's ways are the type [`ModulatedQueue`] with its [`Environment`](super::Environment), of which only
//! rates and servers are used here, not the law; in [`Levels`] also the type [`Level`](super::Level), sums and products of its blocks
//! (`dense`, `exits`, `returns`, `add_product` of `qbd`), and the elimination without subtraction of `sojourn` (mean times in a
//! class of states, the law of one level); in [`Stages`] bisection. A fault in one of these could be in both. The levels of
//! a queue, both reductions, the equations above and below them, rounds, and response times are written twice.
//!
//! # Theory
//! In a chain that returns to some set of states, the fraction of time in which something holds, or
//! the mean of anything else, is its mean integral over one cycle divided by the mean length of a
//! cycle (renewal–reward). These integrals are found *backwards*, from where a cycle ends to where it
//! starts, while a law is found forwards. Two kinds of cycles:
//!
//! - [`Levels`]: between two visits of an empty queue, level after level from above, with matrices of
//!   phases × phases;
//! - [`Stages`]: between two visits of state 0 of an environment that goes round, state after state
//!   from the last, with matrices of levels × levels that have few entries beside their diagonals.
//!
//! Neither subtracts anything, so that means keep their relative accuracy however rare the jobs and
//! however different the rates are.
//!
//! The response time is a reward as well: an arrival meets the queue as it is (Poisson arrivals see
//! time averages), so `P(T > t)` is the mean of the probability that a job that finds q jobs in state s
//! stays longer than t; see `tagged`.

mod levels;
mod row;
mod stages;
mod tagged;

pub use levels::Levels;
pub use stages::Stages;

use super::modulated::ModulatedQueue;

/// Levels are left out that have a probability below exp(−TAIL) together.
const TAIL: f64 = 40.0;

/// The probability of levels at which arrivals are not followed.
const NEGLIGIBLE: f64 = 1e-14;

/// Where numbers that grow from level to level are scaled down.
const HUGE: f64 = 1e150;

/// What is averaged.
#[derive(Clone, Debug, PartialEq)]
pub enum Reward {
    /// The number of jobs.
    Jobs,
    /// 1 while there are more jobs than this.
    Above(u64),
    /// By state and number of jobs; 1 for more jobs than are listed.
    Listed(Vec<Vec<f64>>),
}

impl Reward {
    /// With q jobs in state s.
    fn at(&self, q: usize, s: usize) -> f64 {
        match self {
            Reward::Jobs => q as f64,
            Reward::Above(x) => f64::from(u8::from(q as u64 > *x)),
            Reward::Listed(values) => values[s].get(q).copied().unwrap_or(1.0),
        }
    }
}

/// A queue whose means can be computed.
pub enum Cycle<'a> {
    /// Cycles between visits of an empty queue.
    Levels(Box<Levels<'a>>),
    /// Cycles between visits of state 0.
    Stages(Box<Stages<'a>>),
}

fn work_by_levels(queue: &ModulatedQueue<'_>) -> f64 {
    let phases = queue.servers().len() as f64;
    Levels::work(phases, f64::from(queue.most_servers()))
}

impl<'a> Cycle<'a> {
    /// Returns the way with less work; `None` where both take more than `most`, roughly in nanoseconds, or
    /// more memory than is allowed, or none has a result.
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

    /// Levels that matter: what is above has a probability below 1e-17.
    pub fn levels(&self) -> f64 {
        match self {
            Cycle::Levels(cycle) => cycle.levels(),
            Cycle::Stages(cycle) => cycle.levels(),
        }
    }

    /// Returns the work that the means of a few rewards take, very roughly in nanoseconds.
    pub fn work(&self, queue: &ModulatedQueue<'_>) -> f64 {
        match self {
            Cycle::Levels(_) => work_by_levels(queue),
            Cycle::Stages(cycle) => cycle.work(),
        }
    }

    /// Returns the operations of [`Cycle::left`].
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

    /// `P(T > t)` for these times; `None` where that takes more than `budget` operations, or more
    /// memory than is allowed.
    pub fn left(&self, queue: &ModulatedQueue<'_>, times: &[f64], budget: f64) -> Option<Vec<f64>> {
        let staying = tagged::staying(queue, times, self.populated(), budget)?;
        let rewards: Vec<Reward> = staying.into_iter().map(Reward::Listed).collect();
        Some(self.means(&rewards))
    }

    /// Levels above which there is nearly nothing, found by halving: where jobs are rare that is far
    /// below the number of servers.
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
