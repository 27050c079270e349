//! The queues of the types, on the chain that [`super::round`] makes.

use std::cell::OnceCell;

use statrs::function::gamma::{gamma_ur, ln_gamma};

use super::Budget;
use super::round::Round;
use super::solved::{Asked, Solved};
use crate::ctmc::{Environment, ModulatedQueue, PhaseType, RelativeCompletions};
use crate::multiresource::artifact::{Family, Quantity};
use crate::multiresource::workload::Workload;

/// What is derived of all types, each when it is first asked for.
pub(super) struct Queues<'a> {
    rule: &'a Family,
    workload: &'a Workload,
    round: &'a Round,
    environment: Environment,
    asked: Vec<Asked>,
    solved: Vec<OnceCell<Option<Solved>>>,
    bounds: Vec<OnceCell<Bounds>>,
    budget: &'a Budget,
}

/// Theorem 8's bounds and section 6.4's approximation of a mean number.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    least: f64,
    most: f64,
    approximation: f64,
}

impl<'a> Queues<'a> {
    /// Those of the types under a rule of this round, as far as the budget goes; `asked` is what
    /// is asked of each beside its mean.
    pub(super) fn new(
        (rule, round): (&'a Family, &'a Round),
        workload: &'a Workload,
        asked: Vec<Asked>,
        budget: &'a Budget,
    ) -> Option<Self> {
        Some(Queues {
            budget,
            environment: round.environment()?,
            solved: asked.iter().map(|_| OnceCell::new()).collect(),
            bounds: asked.iter().map(|_| OnceCell::new()).collect(),
            asked,
            rule,
            workload,
            round,
        })
    }

    /// The stages of type i's sizes where they are followed: not on routes made of completions,
    /// nor where there are none.
    fn stages(&self, i: usize) -> Option<PhaseType> {
        let size = self.workload.types()[i].holding();
        let followed = self.rule.preempts();
        (followed && !size.is_exponential()).then(|| size.phases())?
    }

    fn queue(&self, i: usize) -> ModulatedQueue<'_> {
        self.round.queue(&self.environment, self.workload, i)
    }

    fn solved(&self, i: usize) -> Option<&Solved> {
        let solve = || {
            let queue = self.queue(i);
            Solved::new(&queue, self.stages(i).as_ref(), &self.asked[i], self.budget)
        };
        self.solved[i].get_or_init(solve).as_ref()
    }

    /// Whether the queue of type i could be solved within the budget; of all types, where none is
    /// named.
    pub(super) fn affords(&self, subject: Option<usize>) -> bool {
        match subject {
            Some(i) => self.solved(i).is_some(),
            None => (0..self.solved.len()).all(|i| self.solved(i).is_some()),
        }
    }

    /// Whether response times of type i were too much work to follow.
    pub(super) fn is_late(&self, i: usize) -> bool {
        self.solved(i).is_some_and(Solved::is_late)
    }

    /// `E[Q_i]`.
    pub(super) fn mean_number(&self, i: usize) -> Option<f64> {
        Some(self.solved(i)?.mean)
    }

    /// What is derived of type i, or of all types, may be wrong by this, relatively, since rounding
    /// errors add up over the levels: at most 1e-6, beyond which nothing is claimed.
    pub(super) fn rounding(&self, subject: Option<usize>) -> f64 {
        let of_type = |i: usize| self.solved(i).map_or(0.0, |solved| solved.error.min(1e-6));
        match subject {
            Some(i) => of_type(i),
            None => (0..self.solved.len()).map(of_type).fold(0.0, f64::max),
        }
    }

    /// `P(Q_i > x)`, where that was asked.
    pub(super) fn above(&self, i: usize, x: u64) -> Option<f64> {
        self.solved(i)?.above(x)
    }

    /// `P(T_i ≤ t)`, where that was asked, as far as the budget goes.
    pub(super) fn within(&self, i: usize, time: f64) -> Option<f64> {
        self.solved(i)?.within(time)
    }

    /// Theorem 8's bounds and section 6.4's approximation of `E[Q_i]`.
    pub(super) fn bound(&self, i: usize, quantity: Quantity) -> f64 {
        let bounds = self.bounds[i].get_or_init(|| self.bounds(i));
        match quantity {
            Quantity::MeanNumberAtLeast => bounds.least,
            Quantity::MeanNumberAtMost => bounds.most,
            _ => bounds.approximation,
        }
    }

    fn bounds(&self, i: usize) -> Bounds {
        let queue = self.queue(i);
        let relative = RelativeCompletions::new(&queue);
        let offered = self.workload.types()[i].offered_load();
        let furthest = |sign: f64| {
            relative
                .ahead
                .iter()
                .map(|a| sign * a)
                .fold(f64::MIN, f64::max)
        };
        let least = relative.primary_term() - furthest(1.0);
        let most = relative.primary_term() + furthest(-1.0) + f64::from(queue.most_servers());
        let servers = offered / relative.load;
        let waits = waiting_probability(servers, offered);
        let queued = relative.load * (1.0 + relative.mean_ahead) / (1.0 - relative.load);
        Bounds {
            least: least.max(offered),
            most,
            approximation: (waits * queued + offered).max(least).min(most),
        }
    }
}

/// Erlang C for real numbers of servers: Jagerman's integral for their fraction, and the recursion
/// `B(k + 1) = a B / (k + 1 + a B)` from there, which forgets where it came from as long as k < a.
fn waiting_probability(servers: f64, offered: f64) -> f64 {
    let mut k = servers.fract();
    let mut blocking = match offered < 100.0 {
        true => {
            let rest = gamma_ur(k + 1.0, offered).max(f64::MIN_POSITIVE);
            (k * offered.ln() - offered - ln_gamma(k + 1.0)).exp() / rest
        }
        false => offered / (offered + k),
    };
    while k + 0.5 < servers {
        k += 1.0;
        blocking = offered * blocking / (k + offered * blocking);
    }
    blocking / (1.0 - offered / servers * (1.0 - blocking))
}
