//! This module computes long-run means from the cycles of a queue. It is used by the checker and is
//! independent of the solvers that are used for the synthesis ([`super::Qbd`], [`super::rounds`]).
//!
//! A bug could affect both only in the code that is shared with these solvers: [`ModulatedQueue`]
//! and its [`Environment`](super::Environment), of which only the rates and the servers are used
//! here; in [`Levels`] the type [`Level`](super::Level), the operations on blocks in `qbd`, and the
//! elimination in `sojourn`; and in [`Stages`] the bisection. All else (the levels of a queue, the
//! reductions and their equations, rounds, and response times) is implemented twice.
//!
//! # Theory
//! The long-run mean of a quantity is its mean integral over a regeneration cycle, divided by the
//! mean length of the cycle (renewal–reward theorem). The integrals are computed *backwards*:
//!
//! - [`Levels`] uses cycles between two visits to the empty queue, and phases × phases matrices.
//! - [`Stages`] uses cycles between two visits to state 0, and banded levels × levels matrices.
//!
//! Neither uses subtractions, so means are accurate even if jobs are rare or rates differ widely.
//!
//! A response time is also a reward (PASTA): `P(T > t)` is the mean probability that a job which
//! finds `q` jobs in state `s` is still present after time `t` (see `tagged`).

mod levels;
mod row;
mod stages;
mod tagged;

pub use levels::Levels;
pub use stages::Stages;

use super::modulated::ModulatedQueue;

/// The levels that are ignored have a total probability of less than `exp(−TAIL)`.
const TAIL: f64 = 40.0;

/// Response times ignore jobs that arrive at the highest levels with at most this probability.
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

type Means<'a> = dyn Fn(&[Reward]) -> Vec<f64> + 'a;

/// A solver that computes the long-run means of a queue by [`Levels`] or [`Stages`].
pub struct Cycle<'a> {
    means: Box<Means<'a>>,
    halvings: u32,
    /// The number of levels. The levels above have a total probability below `1e-17`.
    pub levels: f64,
    /// An estimate of the time \[ns\] that [`Cycle::means`] needs for a few rewards.
    pub work: f64,
}

impl<'a> Cycle<'a> {
    /// Selects the faster solver, by rough estimates. Returns `None` if both need more than `most`
    /// nanoseconds or too much memory, or if there is no result.
    pub fn new(queue: &'a ModulatedQueue<'a>, most: f64) -> Option<Self> {
        let phases = queue.servers().len() as f64;
        let work = Levels::work(phases, f64::from(queue.max_servers()));
        if let Some(mut stages) = Stages::new(queue, most.min(work))
            && stages.solve().is_some()
        {
            return Some(Cycle {
                levels: stages.levels(),
                work: stages.work(),
                halvings: 3,
                means: Box::new(move |rewards| stages.means(rewards)),
            });
        }
        if work > most {
            return None;
        }
        let levels = Levels::of_queue(queue).ok()?;
        Some(Cycle {
            levels: levels.levels(),
            work,
            halvings: 12,
            means: Box::new(move |rewards| levels.means(rewards)),
        })
    }

    /// Returns the number of operations that [`Cycle::response_tails`] needs.
    pub fn work_of_times(&self, queue: &ModulatedQueue<'_>, times: &[f64]) -> f64 {
        tagged::work(queue, times, self.levels)
    }

    /// Returns the mean of each reward.
    pub fn means(&self, rewards: &[Reward]) -> Vec<f64> {
        (self.means)(rewards)
    }

    /// Returns `P(T > t)` for each time, if it fits in memory and in `budget` operations.
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

    /// Returns a number of levels above which the probability is negligible: few if jobs are rare.
    fn populated(&self) -> f64 {
        let fewer = (1..=self.halvings).map(|k| (self.levels / f64::from(1 << k)) as u64 + 1);
        let fewer: Vec<u64> = fewer.collect();
        let rewards: Vec<Reward> = fewer.iter().map(|x| Reward::Above(*x)).collect();
        let above = self.means(&rewards);
        let mut pairs = fewer.iter().zip(above).rev();
        let enough = pairs.find(|(_, above)| *above <= NEGLIGIBLE);
        enough.map_or(self.levels, |(levels, _)| *levels as f64 + 1.0)
    }
}
