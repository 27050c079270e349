//! This module computes the stationary distribution of a modulated queue in a cyclic environment.
//! It is an alternative to the QBD that is faster if the environment has many states.
//!
//! # Theory
//! A *round* is the time between two visits to state 0. In each state of a round, the number of
//! jobs is a birth-and-death process for an exponential time. Each state needs one tridiagonal
//! solve without subtractions, so a round takes `O(edges × levels)` operations. Let `a` be the
//! distribution of the number of jobs at the start of a round. It determines the time `v_s(q)` that
//! is spent in state `s` with `q` jobs, and the net flow from each level to the next:
//!
//! ```text
//! D_q(a) = Σ_s [λ v_s(q) − μ min(q + 1, c_s) v_s(q + 1)]
//! ```
//!
//! The stationary distribution is the solution of `D(a) = 0`. The change of `a` in a round would be
//! lost to rounding if rounds are short or the distribution decays slowly, but the effect of
//! relative errors of the flows can be bounded: see `Smoother::error`.
//!
//! # Practice
//! `D(a) = 0` is solved by GMRES. The preconditioner is a birth-and-death process with the mean
//! drift and the exact decay rate of a round. This is repeated until the residual is within the
//! rounding error. Levels are truncated where the tail has a probability below `1e-17`. It decays
//! like `z^{−q}`, where `z > 1` is the root of the generating function of the net arrivals in a
//! round (Cramér–Lundberg).

use super::SolverError;
use super::bisection::bisected;
use super::gmres::{STEPS, gmres};
use super::modulated::{Edge, MEMORY_LIMIT, ModulatedQueue};

/// The levels that are ignored have a total probability of `exp(−TAIL)`.
const TAIL: f64 = 40.0;

/// The relative precision of the decay rate from which the work is estimated.
const ROUGHLY: f64 = 1e-2;

const PASSES: usize = 8;

/// The maximum relative error of the mean. If the error is larger, no result is returned.
const MEAN_ERROR: f64 = 1e-8;

/// The stationary distribution of the number of jobs and the state.
pub struct StationaryDistribution {
    /// The mean number of jobs.
    pub mean: f64,
    /// The probability `law[s][q]` of state `s` with `q` jobs.
    pub law: Vec<Vec<f64>>,
    /// For each `q`, an upper bound on the error of `P(more than q jobs)`.
    above_error: Vec<f64>,
}

impl StationaryDistribution {
    /// Returns the smallest `q` with `P(more than q jobs) ≤ p`, this value, and its error bound.
    pub fn rarely_above(&self, p: f64) -> (u64, f64, f64) {
        let levels = self.above_error.len();
        let mass = |q: usize| self.law.iter().map(|of_state| of_state[q]).sum::<f64>();
        let (mut q, mut above) = (levels - 1, 0.0);
        while q > 0 {
            let more = above + mass(q);
            if more > p {
                break;
            }
            (above, q) = (more, q - 1);
        }
        (q as u64, above, self.above_error[q])
    }

    /// Returns a bound on the error of each probability.
    pub fn error(&self) -> f64 {
        self.above_error[0]
    }
}

/// Estimates the number of levels, or returns `None` if the queue is unstable or not cyclic.
pub fn levels(queue: &ModulatedQueue<'_>) -> Option<f64> {
    let rounds = Rounds::new(queue)?;
    Some(rounds.levels(rounds.decay(ROUGHLY)?))
}

/// Estimates the time \[ns\] of the solution. It is infinite without [`levels`] or enough memory.
pub fn work(queue: &ModulatedQueue<'_>) -> f64 {
    let levels = levels(queue).unwrap_or(f64::INFINITY);
    let states = queue.servers().len();
    match numbers(levels, states) <= MEMORY_LIMIT {
        true => 130.0 * levels * states as f64,
        false => f64::INFINITY,
    }
}

/// Returns an upper bound on the number of values that are stored by [`stationary_distribution`].
pub fn memory(queue: &ModulatedQueue<'_>) -> f64 {
    let levels = levels(queue).unwrap_or(f64::INFINITY);
    numbers(levels, queue.servers().len())
}

fn numbers(levels: f64, states: usize) -> f64 {
    levels * (2 * states + STEPS + 10) as f64
}

/// Computes the stationary distribution.
///
/// # Errors
/// Returns an error if the environment is not cyclic, the queue is not stable, there is not enough
/// memory, or the relative error of the mean may be larger than `1e-8`.
pub fn stationary_distribution(
    queue: &ModulatedQueue<'_>,
) -> Result<StationaryDistribution, SolverError> {
    let mut law = Vec::new();
    let (mean, above_error) = visited(queue, |of_state| law.push(of_state))?;
    Ok(StationaryDistribution {
        mean,
        law,
        above_error,
    })
}

/// Returns the mean number of jobs. The errors are the same as for [`stationary_distribution`].
pub fn mean(queue: &ModulatedQueue<'_>) -> Result<f64, SolverError> {
    Ok(visited(queue, |_| ())?.0)
}

/// Calls `visit` with the distribution of each state. Returns the mean and the error bounds by `q`.
fn visited(
    queue: &ModulatedQueue<'_>,
    mut visit: impl FnMut(Vec<f64>),
) -> Result<(f64, Vec<f64>), SolverError> {
    let not_cyclic = || SolverError("the environment is not cyclic".into());
    let rounds = Rounds::new(queue).ok_or_else(not_cyclic)?;
    let not_stable = || {
        let load = queue.arrival_rate() / queue.capacity();
        SolverError(format!("the queue is not stable: its load is {load}"))
    };
    let decay = rounds.decay(0.0).ok_or_else(not_stable)?;
    let (levels, states) = (rounds.levels(decay), rounds.stages.len());
    if numbers(levels, states) > MEMORY_LIMIT {
        let why = format!("{levels} levels of {states} states exceed the memory limit");
        return Err(SolverError(why));
    }
    let (entries, above_error) = rounds.balanced(levels as usize, decay)?;
    let frequency = queue.environment().stationary_distribution()[0] * rounds.stages[0].leaving;
    let mut jobs = 0.0;
    rounds.round(&entries, |_, mut law| {
        law.iter_mut().for_each(|p| *p *= frequency);
        jobs += moment(&law);
        visit(law);
    });
    Ok((jobs, above_error))
}

struct Stage {
    servers: usize,
    /// The rate \[1/time\] at which a server completes jobs without a change of the environment.
    service: f64,
    speed: f64,
    leaving: f64,
    exits: Vec<(Edge, bool)>,
}

struct Rounds<'a, 'b> {
    queue: &'a ModulatedQueue<'b>,
    stages: Vec<Stage>,
}

impl<'a, 'b> Rounds<'a, 'b> {
    fn new(queue: &'a ModulatedQueue<'b>) -> Option<Self> {
        let environment = queue.environment();
        let stage = |s: usize| Stage {
            servers: queue.servers()[s] as usize,
            service: queue.independent_rate_of_server(s),
            speed: queue.independent_service_rate(s),
            leaving: 0.0,
            exits: Vec::new(),
        };
        let mut stages: Vec<Stage> = (0..queue.servers().len()).map(stage).collect();
        for (edge, serves) in queue.edges() {
            stages[edge.from].leaving += edge.rate;
            stages[edge.from].exits.push((*edge, serves));
        }
        // A single state is never left, so its rounds can end at any rate.
        if let [only] = &mut stages[..] {
            only.leaving = queue.service_rate();
            let (from, to, rate) = (0, 0, only.leaving);
            only.exits = vec![(Edge { from, to, rate }, false)];
        }
        environment.goes_round().then_some(Rounds { queue, stages })
    }

    fn levels(&self, decay: f64) -> f64 {
        f64::from(self.queue.max_servers()) + TAIL / decay + 2.0
    }

    /// Returns the rate `ln z` at which the distribution of the levels decays, if the queue is
    /// stable, where `z > 1` and `F(z) = 1`. It is too small by at most `within` (relative).
    fn decay(&self, within: f64) -> Option<f64> {
        if self.queue.arrival_rate() >= self.queue.capacity() {
            return None;
        }
        // The generating function has a pole at the larger root of `r + λ(1 − z) + d(1 − 1/z) = 0`.
        let lambda = self.queue.arrival_rate();
        let poles = self.stages.iter().map(|stage| {
            let half = 0.5 * (stage.leaving + lambda + stage.speed);
            (half + (half * half - lambda * stage.speed).max(0.0).sqrt()) / lambda
        });
        let pole = poles.fold(f64::INFINITY, f64::min) - 1.0;
        // `F` is less than 1 between 1 and the root, and greater than 1 from there to the pole.
        let range = [pole.ln() - 300.0, pole.ln()];
        let [root, _] = bisected(within, range, |x| self.growth(x.exp()) < 0.0);
        Some(root.exp().ln_1p())
    }

    /// Returns `(F(z) − 1)/(z − 1)` for the function `F` of a queue that is never empty. The terms
    /// proportional to `z − 1` are separate, because they would be lost to rounding at `z ≈ 1`.
    fn growth(&self, above_one: f64) -> f64 {
        let z = 1.0 + above_one;
        let mut weight = vec![(0.0, 0.0); self.stages.len()];
        weight[0] = (1.0, 0.0);
        let mut back = 0.0;
        for (s, stage) in self.stages.iter().enumerate() {
            let growth = self.queue.arrival_rate() - stage.speed / z;
            let room = stage.leaving - above_one * growth;
            if room <= 0.0 || room.is_nan() {
                return f64::INFINITY;
            }
            let (visits, excess) = weight[s];
            let excess = excess + (visits + above_one * excess) * (growth / room);
            for (edge, serves) in &stage.exits {
                let share = edge.rate / stage.leaving;
                let then = match serves {
                    true => (excess - visits) / z,
                    false => excess,
                };
                let onward = share * then;
                if edge.to == 0 {
                    back += onward;
                } else {
                    weight[edge.to].0 += share * visits;
                    weight[edge.to].1 += onward;
                }
            }
        }
        back
    }

    fn round(&self, entries: &[f64], mut visit: impl FnMut(&Stage, Vec<f64>)) {
        let mut inflow: Vec<Vec<f64>> = vec![Vec::new(); self.stages.len()];
        inflow[0] = entries.to_vec();
        for (s, stage) in self.stages.iter().enumerate() {
            let mut law = std::mem::take(&mut inflow[s]);
            self.stay(stage, &mut law);
            for (edge, serves) in stage.exits.iter().filter(|(edge, _)| edge.to > 0) {
                let into = &mut inflow[edge.to];
                into.resize(law.len(), 0.0);
                if *serves {
                    self.serve(stage.servers, &law, into);
                } else {
                    let pairs = into.iter_mut().zip(&law);
                    pairs.for_each(|(i, p)| *i += edge.rate * p);
                }
            }
            visit(stage, law);
        }
    }

    /// Returns the net flow `D(a)` from each level to the next in a round, and its rounding error.
    fn net_flow(&self, entries: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (lambda, rate) = (self.queue.arrival_rate(), self.queue.service_rate());
        let levels = entries.len() - 1;
        let (mut net, mut rounding) = (vec![0.0; levels], vec![0.0; levels]);
        // Each state adds a few errors with a random sign.
        let unit = 2.0 * f64::EPSILON * (self.stages.len() as f64).sqrt();
        self.round(entries, |stage, law| {
            let busy = (1..=levels).map(|q| q.min(stage.servers) as f64);
            let pairs = law.iter().zip(&law[1..]).zip(busy);
            let into = net.iter_mut().zip(&mut rounding);
            for ((net, rounding), ((p, next), busy)) in into.zip(pairs) {
                let (up, down) = (lambda * p, busy * rate * next);
                *net += up - down;
                *rounding += unit * (up.abs() + down.abs());
            }
        });
        (net, rounding)
    }

    fn serve(&self, servers: usize, law: &[f64], into: &mut [f64]) {
        let rate = self.queue.service_rate();
        for q in 0..servers.min(law.len()) {
            into[q] += (servers - q) as f64 * rate * law[q];
        }
        for q in 1..law.len() {
            into[q - 1] += q.min(servers) as f64 * rate * law[q];
        }
    }

    /// Computes the time that is spent in a stage from the flow into it: `v (r − Q) = inflow` for
    /// the generator `Q` of the birth-and-death process. The time above the highest level is added
    /// to the highest level, so that no job is lost.
    fn stay(&self, stage: &Stage, law: &mut [f64]) {
        let lambda = self.queue.arrival_rate();
        let full = stage.speed;
        // Each pivot is `d_q + e_q`, where `e_q = r + λ e_{q+1}/(d_{q+1} + e_{q+1})`.
        let half = 0.5 * (full - stage.leaving - lambda);
        let root = (half * half + stage.leaving * full).sqrt();
        let mut excess = match half > 0.0 {
            true => stage.leaving * full / (half + root),
            false => root - half,
        };
        let mut pivot = full + excess;
        let lifted = lambda * excess / (pivot * stage.leaving);
        let servers = stage.servers.min(law.len());
        let (inverse, fall, rise) = (1.0 / pivot, full / pivot, lambda / pivot);
        let mut above = 0.0;
        for v in law[servers..].iter_mut().rev() {
            above = *v * inverse + fall * above;
            *v = above;
        }
        let mut rises = vec![0.0; servers];
        for q in (0..servers).rev() {
            let [serves, served] = [q, q + 1].map(|q| q as f64 * stage.service);
            excess = stage.leaving + lambda * excess / pivot;
            pivot = serves + excess;
            above = (law[q] + served * above) / pivot;
            law[q] = above;
            rises[q] = lambda / pivot;
        }
        let mut below = 0.0;
        for (v, rise) in law.iter_mut().zip(&rises) {
            below = *v + rise * below;
            *v = below;
        }
        for v in &mut law[servers..] {
            below = *v + rise * below;
            *v = below;
        }
        if let Some(top) = law.last_mut() {
            *top += lifted * *top;
        }
    }

    /// Returns the distribution at the start of a round, and the bounds on the error by `q`.
    fn balanced(&self, levels: usize, decay: f64) -> Result<(Vec<f64>, Vec<f64>), SolverError> {
        // `drift` is the mean net loss of jobs in a round of a queue that is never empty.
        let visits = self.queue.environment().stationary_distribution()[0] * self.stages[0].leaving;
        let drift = (self.queue.capacity() - self.queue.arrival_rate()) / visits;
        let (ratio, less) = ((-decay).exp(), -(-decay).exp_m1());
        let down = drift / less;
        let smoother = Smoother { ratio, less, down };
        let total = 1.0 / less;
        let geometric = (0..levels).map(|q| (-decay * q as f64).exp() / total);
        let mut law: Vec<f64> = geometric.collect();
        let mut before = f64::INFINITY;
        for _ in 0..PASSES {
            let (net, rounding) = self.net_flow(&law);
            let left = moment(&smoother.error(&net, &law));
            // Stop if the residual is within rounding, or if it does not decrease fast enough.
            if left <= moment(&smoother.error(&rounding, &law)) || left > 0.5 * before {
                break;
            }
            before = left;
            let correction = gmres(&net, |v| self.net_flow(&smoother.apply(v)).0);
            let correction = smoother.apply(&correction);
            law.iter_mut().zip(&correction).for_each(|(p, c)| *p -= c);
            let total: f64 = law.iter().sum();
            law.iter_mut().for_each(|p| *p /= total);
        }
        let (net, rounding) = self.net_flow(&law);
        let pairs = net.iter().zip(&rounding);
        let flow: Vec<f64> = pairs.map(|(net, rounding)| net.abs() + rounding).collect();
        let mut error = smoother.error(&flow, &law);
        // The highest level is noise, because it represents all levels above.
        if let (Some(error), Some(top)) = (error.last_mut(), law.last()) {
            *error += top.abs();
        }
        let relative = moment(&error) / moment(&law);
        let mut pairs = law.iter().zip(&error);
        let is_law = pairs.all(|(p, error)| *p >= -error - f64::MIN_POSITIVE);
        if relative.is_nan() || relative > MEAN_ERROR || !is_law {
            let relative = if is_law { relative } else { 1.0 };
            let why =
                format!("the solution by rounds has a relative error of {relative:e} in the mean");
            return Err(SolverError(why));
        }
        let mut above = 0.0;
        for e in error.iter_mut().rev() {
            (*e, above) = (above, above + *e);
        }
        Ok((law, error))
    }
}

fn moment(law: &[f64]) -> f64 {
    let numbered = law.iter().enumerate().rev();
    numbered.map(|(q, p)| q as f64 * p).sum()
}

/// The preconditioner, an approximate inverse of `D`: a birth-and-death process with the mean drift
/// of a round and, for high frequencies, the differences.
struct Smoother {
    /// Births divided by deaths.
    ratio: f64,
    less: f64,
    /// The mean number of deaths in a round.
    down: f64,
}

impl Smoother {
    /// Returns values with sum 0 that have this net flow from each level to the next.
    fn apply(&self, flow: &[f64]) -> Vec<f64> {
        let (mut level, mut total, mut before) = (0.0, 0.0, 0.0);
        let mut law = Vec::with_capacity(flow.len() + 1);
        for v in flow.iter().chain([&0.0]) {
            law.push(level + v - before);
            total += level;
            level = self.ratio * level - v / self.down;
            before = *v;
        }
        let mut stationary = -total * self.less;
        for p in &mut law {
            *p += stationary;
            stationary *= self.ratio;
        }
        law
    }

    /// Returns a bound on the error of each level, if the net flow from each level to the next is
    /// `flow` and should be 0. The term with `total` is due to the normalization to sum 1.
    fn error(&self, flow: &[f64], law: &[f64]) -> Vec<f64> {
        let (mut level, mut total, mut before) = (0.0, 0.0, 0.0);
        let mut error = Vec::with_capacity(law.len());
        for v in flow.iter().map(|v| v.abs()).chain([0.0]) {
            error.push(level + v + before);
            total += level;
            level = self.ratio * level + v / self.down;
            before = v;
        }
        let pairs = error.iter_mut().zip(law);
        pairs.for_each(|(e, p)| *e += total * p.abs());
        error
    }
}
