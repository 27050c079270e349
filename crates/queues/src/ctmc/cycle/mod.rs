//! Long-run means of a queue as ratios of a reward per cycle to the length of a cycle. The checker
//! uses these, independently of the solvers that synthesis uses ([`super::Qbd`],
//! [`super::rounds`]).
//!
//! The two sides share [`ModulatedQueue`] (rates and servers only); in [`Levels`] also
//! [`Level`](super::Level), the block operations of `qbd`, and the subtraction-free elimination of
//! `sojourn`; in [`Stages`] bisection. A bug in these could affect both. Everything else is
//! implemented twice.
//!
//! # Theory
//! The long-run mean of a quantity is its mean integral over a regeneration cycle divided by the
//! mean length of a cycle (renewal–reward theorem). The integrals are computed *backwards*, from
//! the end of a cycle to its start, whereas stationary distributions are computed forwards. Cycles
//! are of two kinds:
//!
//! - [`Levels`]: between visits to the empty queue, from the top level down, with phases × phases
//!   matrices;
//! - [`Stages`]: between visits to state 0 of a cyclic environment, from the last state back, with
//!   banded levels × levels matrices.
//!
//! Neither subtracts anything, so means keep their relative accuracy however rare jobs are and
//! however stiff the rates.
//!
//! Response times are rewards as well, since Poisson arrivals see time averages: `P(T > t)` is the
//! mean of the probability that a job that finds q jobs in state s stays longer than t; see
//! `tagged`.

mod levels;
mod row;
mod stages;
mod tagged;

pub use levels::Levels;
pub use stages::Stages;

use super::modulated::ModulatedQueue;

/// Levels with a total probability below exp(−TAIL) are omitted.
const TAIL: f64 = 40.0;

/// Probability of the levels at which arrivals are ignored.
const NEGLIGIBLE: f64 = 1e-14;

/// Numbers that grow from level to level are rescaled above this value.
const HUGE: f64 = 1e150;

/// A function of the state whose long-run mean is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reward {
    /// The number of jobs.
    Jobs,
    /// The indicator of more than this number of jobs.
    Above(u64),
    /// Values by state and number of jobs; 1 beyond the end of a list.
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

/// A solver for long-run means of a queue.
pub enum Cycle<'a> {
    /// Cycles between visits to the empty queue.
    Levels(Box<Levels<'a>>),
    /// Cycles between visits to state 0.
    Stages(Box<Stages<'a>>),
}

fn work_by_levels(queue: &ModulatedQueue<'_>) -> f64 {
    let phases = queue.servers().len() as f64;
    Levels::work(phases, f64::from(queue.most_servers()))
}

impl<'a> Cycle<'a> {
    /// Chooses the cheaper kind of cycles with less work than `most` \[ns\] and enough memory.
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

    /// Returns the number of levels considered; those above have a probability below 1e-17.
    pub fn levels(&self) -> f64 {
        match self {
            Cycle::Levels(cycle) => cycle.levels(),
            Cycle::Stages(cycle) => cycle.levels(),
        }
    }

    /// Estimates the work of [`Cycle::means`] for a few rewards in nanoseconds.
    pub fn work(&self, queue: &ModulatedQueue<'_>) -> f64 {
        match self {
            Cycle::Levels(_) => work_by_levels(queue),
            Cycle::Stages(cycle) => cycle.work(),
        }
    }

    /// Returns the number of operations of [`Cycle::left`].
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

    /// Returns `P(T > t)`; `None` beyond `budget` operations or the memory limit.
    pub fn left(&self, queue: &ModulatedQueue<'_>, times: &[f64], budget: f64) -> Option<Vec<f64>> {
        let staying = tagged::staying(queue, times, self.populated(), budget)?;
        let rewards: Vec<Reward> = staying.into_iter().map(Reward::Listed).collect();
        Some(self.means(&rewards))
    }

    /// Returns the number of levels of non-negligible probability, by halving.
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
