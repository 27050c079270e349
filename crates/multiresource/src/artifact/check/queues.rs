//! The queues of the types on the chain of [`super::round`], solved by means over cycles
//! ([`synth_queues::ctmc::cycle`], whose documentation states what the maker shares with it). The
//! maker solves for distributions instead, with matrices (`qbd`) or rounds (`rounds`).

use std::cell::{Cell, OnceCell};

use statrs::function::gamma::{gamma_ur, ln_gamma};

use super::round::Round;
use super::{Document, staged};
use crate::artifact::{Claim, Quantity};
use synth_core::artifact::Quantity as _;
use synth_queues::ctmc::cycle::{Cycle, Levels, Reward};
use synth_queues::ctmc::{Environment, ModulatedQueue, PhaseType, staged_phases};

pub(super) struct Queues<'a> {
    document: &'a Document<'a>,
    round: &'a Round,
    environment: Environment,
    types: Vec<OfType>,
}

#[derive(Default)]
struct OfType {
    numbers: Vec<u64>,
    times: Vec<f64>,
    solved: OnceCell<Option<Solved>>,
    bounds: OnceCell<Bounds>,
}

impl<'a> Queues<'a> {
    pub(super) fn new(document: &'a Document<'a>, round: &'a Round) -> Option<Self> {
        let mut queues = Queues {
            document,
            round,
            environment: round.environment()?,
            types: Vec::new(),
        };
        for kind in document.workload.types() {
            let mut own = OfType::default();
            let is_own = |claim: &&Claim| claim.job_type.as_deref() == Some(kind.name());
            for claim in document.claims.iter().filter(is_own) {
                own.numbers.extend(claim.at);
                let is_time = claim.quantity.row().measure.percentile().is_some();
                if is_time && (1e-30..1e30).contains(&claim.value) {
                    own.times.push(claim.value);
                }
            }
            queues.types.push(own);
        }
        Some(queues)
    }

    /// Returns the stages of the sizes of type i, if any, unless the routes wait for completions.
    fn stages(&self, i: usize) -> Option<PhaseType> {
        let size = self.document.workload.types()[i].holding_time();
        let followed = self.document.rule.preempts() && !size.is_exponential();
        followed.then(|| size.phases())?
    }

    fn queue(&self, i: usize) -> ModulatedQueue<'_> {
        let workload = self.document.workload;
        self.round.queue(&self.environment, workload, i)
    }

    pub(super) fn solved(&self, i: usize) -> Option<&Solved> {
        let (own, budget) = (&self.types[i], self.document.budget);
        let solve = || match self.stages(i) {
            Some(size) => Solved::staged(&self.queue(i), &size, budget),
            None => Solved::new(&self.queue(i), own, budget),
        };
        own.solved.get_or_init(solve).as_ref()
    }

    /// Returns the relative rounding error of the results for type i or all types, at most 1e-6.
    pub(super) fn error(&self, subject: Option<usize>, solved: bool) -> f64 {
        let of_type = |i: usize| match solved {
            true => self.solved(i).map_or(0.0, |own| own.error),
            false => self.bounds(i).error,
        };
        let types = subject.map_or(0..self.types.len(), |i| i..i + 1);
        let errors = types.map(|i| of_type(i).min(MOST_ROUNDING));
        errors.fold(0.0, f64::max)
    }

    pub(super) fn above(&self, i: usize, x: u64) -> Option<f64> {
        at(&self.solved(i)?.above, x)
    }

    pub(super) fn within(&self, i: usize, time: f64) -> Option<f64> {
        at(self.solved(i)?.within.as_ref()?, time)
    }

    /// Returns one of the bounds of theorem 8, or the approximation of section 6.4, for `E[Q_i]`.
    pub(super) fn bound(&self, i: usize, quantity: Quantity) -> f64 {
        let bounds = self.bounds(i);
        match quantity {
            Quantity::MeanNumberAtLeast => bounds.least,
            Quantity::MeanNumberAtMost => bounds.most,
            _ => bounds.approximation,
        }
    }

    fn bounds(&self, i: usize) -> &Bounds {
        let own = &self.types[i].bounds;
        own.get_or_init(|| self.derive_bounds(i))
    }

    fn derive_bounds(&self, i: usize) -> Bounds {
        let ahead = self.round.ahead(self.document.workload, i);
        let kind = &self.document.workload.types()[i];
        let (offered, load) = (kind.offered_load(), kind.arrival_rate() / ahead.capacity);
        let servers = self.round.serving.iter().map(|slots| slots[i]).max();
        let primary = (load + ahead.after_completion) / (1.0 - load);
        let least = primary - ahead.most;
        let most = primary - ahead.least + f64::from(servers.unwrap_or(0));
        let waits = waiting_probability(offered / load, offered);
        let queued = load * (1.0 + ahead.after_completion) / (1.0 - load);
        Bounds {
            least: least.max(offered),
            most,
            approximation: (waits * queued + offered).max(least).min(most),
            error: ahead.error * (1.0 + 1.0 / (1.0 - load)) / least.max(offered),
        }
    }
}

const MOST_ROUNDING: f64 = 1e-6;

struct Bounds {
    least: f64,
    most: f64,
    approximation: f64,
    error: f64,
}

pub(super) struct Solved {
    pub(super) mean: f64,
    error: f64,
    /// `(x, P(Q > x))`.
    above: Vec<(u64, f64)>,
    /// `(t, P(T ≤ t))`; `None` if it exceeds the budget.
    pub(super) within: Option<Vec<(f64, f64)>>,
}

impl Solved {
    fn new(queue: &ModulatedQueue<'_>, points: &OfType, budget: &Cell<f64>) -> Option<Self> {
        let cycle = Cycle::new(queue, budget.get())?;
        budget.set(budget.get() - cycle.work);
        let numbers = points.numbers.iter().map(|x| Reward::Above(*x));
        let rewards: Vec<Reward> = [Reward::Jobs].into_iter().chain(numbers).collect();
        let means = cycle.means(&rewards);
        let mean = means[0] / queue.arrival_rate();
        let within = times(&cycle, queue, (&points.times, mean), budget);
        means.iter().all(|mean| mean.is_finite()).then(|| Solved {
            mean: means[0],
            error: f64::EPSILON * cycle.levels,
            above: pairs(&points.numbers, means[1..].iter().copied()),
            within,
        })
    }

    fn staged(queue: &ModulatedQueue<'_>, size: &PhaseType, budget: &Cell<f64>) -> Option<Self> {
        let levels = f64::from(queue.max_servers()) + 1.0;
        let work = Levels::work(staged_phases(queue, size), levels);
        if work > budget.get() {
            return None;
        }
        budget.set(budget.get() - work);
        let process = staged::chain(queue, size);
        let cycle = Levels::of_process(&process).ok()?;
        let means = cycle.means(&[Reward::Jobs]);
        means[0].is_finite().then(|| Solved {
            mean: means[0],
            error: f64::EPSILON * cycle.levels(),
            above: Vec::new(),
            within: Some(Vec::new()),
        })
    }
}

fn pairs<T: Copy>(points: &[T], values: impl Iterator<Item = f64>) -> Vec<(T, f64)> {
    points.iter().copied().zip(values).collect()
}

fn at<T: Copy + PartialEq>(known: &[(T, f64)], point: T) -> Option<f64> {
    let pair = known.iter().find(|(own, _)| *own == point);
    pair.map(|(_, value)| *value)
}

/// Returns `P(T ≤ t)` for these times, or a lower bound by Markov's inequality from a thousand
/// times the mean on. `None` if they exceed the budget.
fn times(
    cycle: &Cycle<'_>,
    queue: &ModulatedQueue<'_>,
    (points, mean): (&[f64], f64),
    budget: &Cell<f64>,
) -> Option<Vec<(f64, f64)>> {
    const LONG: f64 = 1e3;
    let (near, far): (Vec<f64>, Vec<f64>) = points.iter().partition(|time| **time < LONG * mean);
    let mut within: Vec<(f64, f64)> = far.iter().map(|t| (*t, 1.0 - mean / t)).collect();
    if !near.is_empty() {
        let left = cycle.response_tails(queue, &near, budget.get())?;
        budget.set(budget.get() - cycle.work_of_times(queue, &near));
        within.extend(pairs(&near, left.into_iter().map(|left| 1.0 - left)));
    }
    Some(within)
}

/// Erlang C for a real number of servers: Jagerman's integral for its fraction, then the recursion
/// `B(k + 1) = a B / (k + 1 + a B)`, which is stable while k < a.
fn waiting_probability(servers: f64, offered: f64) -> f64 {
    let mut k = servers.fract();
    let mut blocking = if offered < 100.0 {
        let rest = gamma_ur(k + 1.0, offered).max(f64::MIN_POSITIVE);
        (k * offered.ln() - offered - ln_gamma(k + 1.0)).exp() / rest
    } else {
        offered / (offered + k)
    };
    while k + 0.5 < servers {
        k += 1.0;
        blocking = offered * blocking / (k + offered * blocking);
    }
    blocking / (1.0 - offered / servers * (1.0 - blocking))
}
