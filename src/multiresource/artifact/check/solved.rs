//! What is derived anew of one type's queue, by means over cycles ([`crate::ctmc::cycle`]): the maker
//! solves for laws, and shares no step with it.

use super::Budget;
use crate::ctmc::cycle::{Cycle, Levels, Reward};
use crate::ctmc::{ModulatedQueue, PhaseType, staged_phases, staged_qbd};

/// What is asked of one type's queue beside the mean number of jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Of these x: `P(Q > x)`.
    pub(super) numbers: Vec<u64>,
    /// Of these t: `P(T ≤ t)`.
    pub(super) times: Vec<f64>,
}

/// The answers.
pub(super) struct Solved {
    /// `E[Q]`.
    pub(super) mean: f64,
    /// What all may be wrong by, relatively, since rounding errors add up over the levels.
    pub(super) error: f64,
    above: Vec<(u64, f64)>,
    /// `None` where that was too much work.
    within: Option<Vec<(f64, f64)>>,
}

impl Solved {
    /// With sizes of these stages, or exponential ones; `None` where that takes more than the budget.
    pub(super) fn new(
        queue: &ModulatedQueue<'_>,
        stages: Option<&PhaseType>,
        asked: &Asked,
        budget: &Budget,
    ) -> Option<Self> {
        if let Some(size) = stages {
            return Self::staged(queue, size, budget);
        }
        let cycle = Cycle::new(queue, budget.left())?;
        budget.spend(cycle.work(queue));
        let numbers = asked.numbers.iter().map(|x| Reward::Above(*x));
        let rewards: Vec<Reward> = [Reward::Jobs].into_iter().chain(numbers).collect();
        let means = cycle.means(&rewards);
        let mean = means[0] / queue.arrival_rate();
        let within = times(&cycle, queue, (&asked.times, mean), budget);
        means.iter().all(|mean| mean.is_finite()).then(|| Solved {
            mean: means[0],
            error: f64::EPSILON * cycle.levels(),
            above: asked
                .numbers
                .iter()
                .copied()
                .zip(means.into_iter().skip(1))
                .collect(),
            within,
        })
    }

    /// Sizes have stages: only the mean is known.
    fn staged(queue: &ModulatedQueue<'_>, size: &PhaseType, budget: &Budget) -> Option<Self> {
        let levels = f64::from(queue.most_servers()) + 1.0;
        if !budget.affords(Levels::work(staged_phases(queue, size), levels)) {
            return None;
        }
        let process = staged_qbd(queue, size);
        let cycle = Levels::of_process(&process).ok()?;
        let means = cycle.means(&[Reward::Jobs]);
        means[0].is_finite().then(|| Solved {
            mean: means[0],
            error: f64::EPSILON * cycle.levels(),
            above: Vec::new(),
            within: Some(Vec::new()),
        })
    }

    /// `P(Q > x)` of an x that was asked for.
    pub(super) fn above(&self, x: u64) -> Option<f64> {
        let asked = self.above.iter().find(|(asked, _)| *asked == x);
        asked.map(|(_, above)| *above)
    }

    /// Whether response times were too much work to follow.
    pub(super) fn is_late(&self) -> bool {
        self.within.is_none()
    }

    /// `P(T ≤ t)` of a t that was asked for.
    pub(super) fn within(&self, time: f64) -> Option<f64> {
        let within = self.within.as_ref()?;
        let asked = within.iter().find(|(asked, _)| *asked == time);
        asked.map(|(_, within)| *within)
    }
}

/// `P(T ≤ t)` of these times t, with the mean of T; `None` where they take more than the budget. A
/// time that is a thousand times the mean is not followed: by Markov's inequality next to no job
/// stays so long, and what is then found is a lower bound.
fn times(
    cycle: &Cycle<'_>,
    queue: &ModulatedQueue<'_>,
    (asked, mean): (&[f64], f64),
    budget: &Budget,
) -> Option<Vec<(f64, f64)>> {
    /// Means.
    const LONG: f64 = 1e3;
    let (near, far): (Vec<f64>, Vec<f64>) = asked.iter().partition(|time| **time < LONG * mean);
    let mut within: Vec<(f64, f64)> = far.iter().map(|t| (*t, 1.0 - mean / t)).collect();
    if !near.is_empty() {
        let left = cycle.left(queue, &near, budget.left())?;
        budget.spend(cycle.work_of_times(queue, &near));
        within.extend(
            near.into_iter()
                .zip(left.into_iter().map(|left| 1.0 - left)),
        );
    }
    Some(within)
}
