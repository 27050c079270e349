//! The queues of the types, on the chain that [`super::round`] makes: solved by going round,
//! where the maker uses matrices, and the other way about where that is too large.

use std::cell::OnceCell;

use statrs::function::gamma::{gamma_ur, ln_gamma};

use super::OneServer;
use super::round::Round;
use crate::ctmc::{
    Environment, MEMORY, ModulatedQueue, PhaseType, RelativeCompletions, Stationary, Survival,
    matrix_work, rounds, staged_phases, staged_qbd,
};
use crate::multiresource::artifact::{Family, Quantity};
use crate::multiresource::workload::Workload;

/// Work (roughly in nanoseconds) that one type is worth without asking for a cheaper way.
const PATIENCE: f64 = 5e8;

/// Operations that go into the percentiles of one type, or into its law made with matrices.
const STEPS: f64 = 1e10;

/// What is derived of all types, each when it is first asked for.
pub(super) struct Queues<'a> {
    rule: &'a Family,
    workload: &'a Workload,
    round: &'a Round,
    environment: Environment,
    solved: Vec<OnceCell<Option<Solved>>>,
}

/// The law of one type.
struct Solved {
    mean: f64,
    law: Law,
    survival: OnceCell<Option<Survival>>,
}

enum Law {
    /// By state and number of jobs.
    Rounds(Vec<Vec<f64>>),
    Matrices(Box<Stationary>),
    /// Sizes have stages: only the mean is known.
    Stages,
}

impl<'a> Queues<'a> {
    pub(super) fn new(server: &OneServer<'a>, round: &'a Round) -> Option<Self> {
        let types = server.workload.types().len();
        Some(Queues {
            environment: round.environment()?,
            solved: (0..types).map(|_| OnceCell::new()).collect(),
            rule: server.rule,
            workload: server.workload,
            round,
        })
    }

    /// The stages of type i's sizes where they are followed: not on routes made of completions,
    /// nor where there are none.
    fn stages(&self, i: usize) -> Option<PhaseType> {
        let size = self.workload.types()[i].size();
        let followed = self.rule.preempts();
        (followed && !size.is_exponential()).then(|| size.phases())?
    }

    fn queue(&self, i: usize) -> ModulatedQueue<'_> {
        self.round.queue(&self.environment, self.workload, i)
    }

    fn solved(&self, i: usize) -> Option<&Solved> {
        self.solved[i].get_or_init(|| self.solve(i)).as_ref()
    }

    fn solve(&self, i: usize) -> Option<Solved> {
        let queue = self.queue(i);
        let of = |mean, law| Solved {
            mean,
            law,
            survival: OnceCell::new(),
        };
        if let Some(size) = self.stages(i) {
            if matrix_work(staged_phases(&queue, &size), 0.0) > 100.0 * PATIENCE {
                return None;
            }
            let mean = staged_qbd(&queue, &size).solve_twice().ok()?.mean();
            return Some(of(mean, Law::Stages));
        }
        let (matrices, going_round) = (queue.matrix_work(), rounds::work(&queue));
        // The maker takes the cheaper way: the other one, unless it is much more work.
        let other_way = going_round < matrices.max(PATIENCE) || going_round < 4.0 * matrices;
        if other_way && let Ok(law) = rounds::law(&queue, MEMORY as usize) {
            return Some(of(law.mean, Law::Rounds(law.law)));
        }
        if matrices.is_infinite() {
            return None;
        }
        let law = queue.qbd().solve().ok()?;
        Some(of(law.mean(), Law::Matrices(Box::new(law))))
    }

    /// Levels that were solved for by going round.
    pub(super) fn levels(&self, i: usize) -> f64 {
        match self.solved(i).map(|solved| &solved.law) {
            Some(Law::Rounds(law)) => law[0].len() as f64,
            _ => 0.0,
        }
    }

    /// `E[Q_i]`.
    pub(super) fn mean_number(&self, i: usize) -> Option<f64> {
        Some(self.solved(i)?.mean)
    }

    /// `Σ E[Q_i]`.
    pub(super) fn total(&self) -> Option<f64> {
        (0..self.solved.len()).map(|i| self.mean_number(i)).sum()
    }

    /// `Σ w_i E[T_i]`.
    pub(super) fn weighted_response(&self) -> Option<f64> {
        let shares = self.workload.load_shares();
        let types = self.workload.types().iter().enumerate();
        let response = |(i, kind): (usize, &crate::multiresource::workload::JobType)| {
            Some(shares[i] * self.mean_number(i)? / kind.arrival_rate())
        };
        types.map(response).sum()
    }

    /// `P(Q_i > x)`.
    pub(super) fn above(&self, i: usize, x: u64) -> Option<f64> {
        let x = usize::try_from(x).ok()?;
        match &self.solved(i)?.law {
            Law::Rounds(law) if x < law[0].len() => {
                Some(law.iter().flat_map(|levels| &levels[x + 1..]).rev().sum())
            }
            Law::Matrices(law) if x as f64 * (self.environment.states() as f64).powi(2) < STEPS => {
                Some(law.above(x))
            }
            _ => None,
        }
    }

    /// `P(T_i ≤ t)`.
    pub(super) fn within(&self, i: usize, time: f64) -> Option<f64> {
        if !(time > 0.0 && time < 1e30) {
            return None;
        }
        let solved = self.solved(i)?;
        let survival = solved.survival.get_or_init(|| {
            let law = match &solved.law {
                Law::Rounds(law) => law.clone(),
                Law::Matrices(law) => self.listed(law),
                Law::Stages => return None,
            };
            Survival::new(&self.queue(i), &law, STEPS)
        });
        Some(1.0 - survival.as_ref()?.above(time))
    }

    /// By state and number of jobs, as far as it matters.
    fn listed(&self, law: &Stationary) -> Vec<Vec<f64>> {
        let states = self.environment.states();
        let most = STEPS / (states * states) as f64;
        let mut listed = vec![Vec::new(); states];
        for (q, level) in law.levels().take(most as usize + 1).enumerate() {
            let into = listed.iter_mut().zip(level.iter());
            into.for_each(|(of_state, p)| of_state.push(*p));
            if q as f64 > law.mean() && level.sum() < 1e-17 {
                break;
            }
        }
        listed
    }

    /// Theorem 8's bounds and section 6.4's approximation of `E[Q_i]`.
    pub(super) fn bound(&self, i: usize, quantity: Quantity) -> f64 {
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
        match quantity {
            Quantity::MeanNumberAtLeast => least.max(offered),
            Quantity::MeanNumberAtMost => most,
            _ => {
                let servers = offered / relative.load;
                let waits = waiting_probability(servers, offered);
                let queued = relative.load * (1.0 + relative.mean_ahead) / (1.0 - relative.load);
                (waits * queued + offered).clamp(least.min(most), most)
            }
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
