//! The law of a modulated queue by rounds of its environment: the maker's second way beside the QBD, and the
//! faster one where the environment has many states.
//!
//! # Theory
//! A *round* is the time between two visits of state 0. In each state on the way the number of jobs
//! is a birth-and-death process that runs for an exponential time: one tridiagonal solve without a
//! subtraction. A round costs O(edges × levels). From a law a of the number of jobs where a round
//! starts it gives the times `v_s(q)` spent in state s with q jobs, and with them how many jobs pass
//! from each level to the next one, net:
//!
//! ```text
//! D_q(a) = Σ_s [λ v_s(q) − μ min(q + 1, c_s) v_s(q + 1)]
//! ```
//!
//! The law is the one with `D(a) = 0`: in balance nothing is moved across any level. The same says
//! that a round reproduces a; but the change of a from round to round is a difference of differences
//! of these flows, and rounding hides it where a round is short, or where the law falls slowly. The
//! flows have a relative error each, and what that does to the law is known: see `Smoother::error`.
//!
//! # Practice
//! `D(a) = 0` is solved by GMRES (Saad, Schultz, SIAM Journal on Scientific and Statistical Computing
//! 7, 1986), preconditioned by the birth-and-death process with the round's mean drift and its exact
//! rate of decay, and again for what is left, until that is rounding alone. Levels end where what is
//! above has a probability below 1e-17: it falls like `z^{−q}`, where z > 1 is the root of the
//! round's generating function of net arrivals, as in Cramér and Lundberg.

use super::bisection::bisected;
use super::gmres::{STEPS, gmres};
use super::modulated::{Edge, MEMORY, ModulatedQueue};

/// The probability of the levels left out is exp(−TAIL).
const TAIL: f64 = 40.0;

/// The precision of a rate of decay from which work is estimated beforehand.
const ROUGHLY: f64 = 1e-2;

/// Solves at most.
const PASSES: usize = 8;

/// The largest relative error of a mean that is returned.
const MEAN_ERROR: f64 = 1e-8;

/// Why there is no law.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct RoundsError(String);

/// The law of the number of jobs and the state.
pub struct RoundLaw {
    /// Mean number of jobs.
    pub mean: f64,
    /// `law[s][q]`: probability of state s with q jobs.
    pub law: Vec<Vec<f64>>,
    /// By q: what `P(more than q jobs)` may be wrong by.
    above_error: Vec<f64>,
}

impl RoundLaw {
    /// Returns the least q with `P(more than q jobs) ≤ p`, that probability, and what it may be wrong by.
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

    /// Returns what any probability of the law may be wrong by.
    pub fn error(&self) -> f64 {
        self.above_error[0]
    }
}

/// Levels that the law of a queue needs; `None` where it does not go round or is not stable.
pub fn levels(queue: &ModulatedQueue<'_>) -> Option<f64> {
    let rounds = Rounds::new(queue)?;
    Some(rounds.levels(rounds.decay(ROUGHLY)?))
}

/// Returns the work of [`law`], very roughly in nanoseconds; infinite where it does not apply, or memory
/// does not suffice.
pub fn work(queue: &ModulatedQueue<'_>) -> f64 {
    let levels = levels(queue).unwrap_or(f64::INFINITY);
    let states = queue.servers().len();
    if numbers(levels, states) <= MEMORY {
        130.0 * levels * states as f64
    } else {
        f64::INFINITY
    }
}

/// Numbers that are kept by [`law`], at most.
pub fn memory(queue: &ModulatedQueue<'_>) -> f64 {
    let levels = levels(queue).unwrap_or(f64::INFINITY);
    numbers(levels, queue.servers().len())
}

/// Numbers that are kept at most: the law, what is on its way, and the basis of GMRES.
fn numbers(levels: f64, states: usize) -> f64 {
    levels * (2 * states + STEPS + 10) as f64
}

/// Solves for the law.
///
/// # Errors
/// See [`RoundsError`].
pub fn law(queue: &ModulatedQueue<'_>) -> Result<RoundLaw, RoundsError> {
    let mut law = Vec::new();
    let (mean, above_error) = visited(queue, |of_state| law.push(of_state))?;
    Ok(RoundLaw {
        mean,
        law,
        above_error,
    })
}

/// Returns the mean number of jobs.
///
/// # Errors
/// See [`RoundsError`].
pub fn mean(queue: &ModulatedQueue<'_>) -> Result<f64, RoundsError> {
    Ok(visited(queue, |_| ())?.0)
}

/// Returns the mean number of jobs, and by q what `P(more than q jobs)` may be wrong by; `visit` gets the law
/// of state after state.
fn visited(
    queue: &ModulatedQueue<'_>,
    mut visit: impl FnMut(Vec<f64>),
) -> Result<(f64, Vec<f64>), RoundsError> {
    let Some(rounds) = Rounds::new(queue) else {
        return Err(RoundsError("the environment does not go round".into()));
    };
    let Some(decay) = rounds.decay(0.0) else {
        let load = queue.arrival_rate() / queue.capacity();
        let why = format!("the queue is not stable: its load is {load}");
        return Err(RoundsError(why));
    };
    let (levels, states) = (rounds.levels(decay), rounds.stages.len());
    if numbers(levels, states) > MEMORY {
        let why = format!("{levels} levels of {states} states are more than memory allows");
        return Err(RoundsError(why));
    }
    let (entries, above_error) = rounds.balanced(levels as usize, decay)?;
    // Rounds per time.
    let frequency = queue.environment().law()[0] * rounds.stages[0].leaving;
    let mut jobs = 0.0;
    rounds.round(&entries, |_, mut law| {
        law.iter_mut().for_each(|p| *p *= frequency);
        jobs += moment(&law);
        visit(law);
    });
    Ok((jobs, above_error))
}

/// A state of the environment with its exits.
struct Stage {
    servers: usize,
    drains: bool,
    /// Services that leave the environment as it is \[1/time\].
    speed: f64,
    /// Rate at which it is left.
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
            drains: queue.drains(s),
            speed: queue.speed(s),
            leaving: 0.0,
            exits: Vec::new(),
        };
        let mut stages: Vec<Stage> = (0..environment.states()).map(stage).collect();
        for (edge, serves) in queue.edges() {
            stages[edge.from].leaving += edge.rate;
            stages[edge.from].exits.push((*edge, serves));
        }
        // A single state is never left: a round of it is any time, here a service.
        if let [only] = &mut stages[..] {
            only.leaving = queue.service_rate();
            let (from, to, rate) = (0, 0, only.leaving);
            only.exits = vec![(Edge { from, to, rate }, false)];
        }
        environment.goes_round().then_some(Rounds { queue, stages })
    }

    /// Levels that matter where the law falls at this rate.
    fn levels(&self, decay: f64) -> f64 {
        f64::from(self.queue.most_servers()) + TAIL / decay + 2.0
    }

    /// `ln z`, z > 1 with `F(z) = 1`: the rate at which the law of the levels decays; at most so much below it,
    /// relatively.
    fn decay(&self, within: f64) -> Option<f64> {
        if self.queue.arrival_rate() >= self.queue.capacity() {
            return None;
        }
        // Where the generating function of a stage ends: the larger root of r + λ(1 − z) + d(1 − 1/z) = 0.
        let lambda = self.queue.arrival_rate();
        let poles = self.stages.iter().map(|stage| {
            let half = 0.5 * (stage.leaving + lambda + stage.speed);
            (half + (half * half - lambda * stage.speed).max(0.0).sqrt()) / lambda
        });
        let pole = poles.fold(f64::INFINITY, f64::min) - 1.0;
        // F < 1 between 1 and the root, and > 1 from there to the pole.
        let range = [pole.ln() - 300.0, pole.ln()];
        let [root, _] = bisected(within, range, |x| self.growth(x.exp()) < 0.0);
        Some(root.exp().ln_1p())
    }

    /// `(F(z) − 1)/(z − 1)`, F the generating function of the net arrivals of a round in which the
    /// queue is never empty. The part of the weights that is in proportion to `z − 1` is carried
    /// along by itself, since next to z = 1 the difference would be rounding alone.
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
                let then = if *serves {
                    (excess - visits) / z
                } else {
                    excess
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

    /// One round, from the law of the number of jobs where it starts: `visit` gets the times spent
    /// in state after state, by number of jobs.
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
                    into.iter_mut()
                        .zip(&law)
                        .for_each(|(i, p)| *i += edge.rate * p);
                }
            }
            visit(stage, law);
        }
    }

    /// `D(a)`, the net flow from each level to the next one in a round, and its rounding error.
    fn net_flow(&self, entries: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (lambda, rate) = (self.queue.arrival_rate(), self.queue.service_rate());
        let levels = entries.len() - 1;
        let (mut net, mut rounding) = (vec![0.0; levels], vec![0.0; levels]);
        // Each state on the way adds a few errors, which are as often up as down.
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

    /// The flow of a serving edge: one of c servers ends, busy or not.
    fn serve(&self, servers: usize, law: &[f64], into: &mut [f64]) {
        let rate = self.queue.service_rate();
        for q in 0..servers.min(law.len()) {
            into[q] += (servers - q) as f64 * rate * law[q];
        }
        for q in 1..law.len() {
            into[q - 1] += q.min(servers) as f64 * rate * law[q];
        }
    }

    /// From the flow into a stage to the time spent there: `v (r − Q) = inflow`, Q the generator of the
    /// birth-and-death process. It continues above the levels kept, and what is there counts as the
    /// highest one: jobs must not be lost, or a law of jobs that are about to be would move nothing
    /// across any level.
    fn stay(&self, stage: &Stage, law: &mut [f64]) {
        let lambda = self.queue.arrival_rate();
        let full = stage.speed;
        let rate = if stage.drains {
            0.0
        } else {
            self.queue.service_rate()
        };
        // A pivot is d_q + e_q, with e_q = r + λ e_{q+1}/(d_{q+1} + e_{q+1}): nothing is subtracted.
        let half = 0.5 * (full - stage.leaving - lambda);
        let root = (half * half + stage.leaving * full).sqrt();
        let mut excess = if half > 0.0 {
            stage.leaving * full / (half + root)
        } else {
            root - half
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
        // Where the pivots depend on the level.
        let mut rises = vec![0.0; servers];
        for q in (0..servers).rev() {
            let [serves, served] = [q, q + 1].map(|q| q as f64 * rate);
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

    /// Returns the law of the number of jobs where a round starts.
    fn balanced(&self, levels: usize, decay: f64) -> Result<Entries, RoundsError> {
        // Mean net loss of jobs in a round of a queue that is never empty.
        let visits = self.queue.environment().law()[0] * self.stages[0].leaving;
        let drift = (self.queue.capacity() - self.queue.arrival_rate()) / visits;
        let smoother = Smoother {
            ratio: (-decay).exp(),
            less: -(-decay).exp_m1(),
            down: drift / -(-decay).exp_m1(),
        };
        let total = -1.0 / (-decay).exp_m1();
        let geometric = (0..levels).map(|q| (-decay * q as f64).exp() / total);
        let mut law: Vec<f64> = geometric.collect();
        let mut before = f64::INFINITY;
        for _ in 0..PASSES {
            let (net, rounding) = self.net_flow(&law);
            let left = moment(&smoother.error(&net, &law));
            // Until the rest is rounding.
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
        self.judged(law, &smoother)
    }

    /// Returns the law with what it may be wrong by; refused where that is too much of its mean.
    fn judged(&self, law: Vec<f64>, smoother: &Smoother) -> Result<Entries, RoundsError> {
        let (net, rounding) = self.net_flow(&law);
        let pairs = net.iter().zip(&rounding);
        let flow: Vec<f64> = pairs.map(|(net, rounding)| net.abs() + rounding).collect();
        let mut error = smoother.error(&flow, &law);
        // The highest level stands for all above it, of which nothing moves on: it is noise.
        if let (Some(error), Some(top)) = (error.last_mut(), law.last()) {
            *error += top.abs();
        }
        let relative = moment(&error) / moment(&law);
        let mut pairs = law.iter().zip(&error);
        let is_law = pairs.all(|(p, error)| *p >= -error - f64::MIN_POSITIVE);
        if relative.is_nan() || relative > MEAN_ERROR || !is_law {
            let relative = if is_law { relative } else { 1.0 };
            return Err(RoundsError(format!(
                "going round leaves a relative error of {relative:e} in the mean"
            )));
        }
        let mut above = 0.0;
        for e in error.iter_mut().rev() {
            (*e, above) = (above, above + *e);
        }
        Ok((law, error))
    }
}

/// The law of the number of jobs where a round starts; by q what the probability of more than q jobs may be wrong by.
type Entries = (Vec<f64>, Vec<f64>);

/// `Σ q x_q`.
fn moment(law: &[f64]) -> f64 {
    let numbered = law.iter().enumerate().rev();
    numbered.map(|(q, p)| q as f64 * p).sum()
}

/// A law that moves jobs across the levels as given, but for high frequencies: the birth-and-death
/// process with the mean drift of a round, and for what a round forgets at once the difference.
struct Smoother {
    /// Births over deaths.
    ratio: f64,
    /// 1 − ratio.
    less: f64,
    /// Deaths a round.
    down: f64,
}

impl Smoother {
    /// Returns the law, of sum 0, for these net flows from each level to the next one.
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

    /// By level what a law may be wrong by, at most, that moves jobs across the levels in place of
    /// none.
    fn error(&self, flow: &[f64], law: &[f64]) -> Vec<f64> {
        let (mut level, mut total, mut before) = (0.0, 0.0, 0.0);
        let mut error = Vec::with_capacity(law.len());
        for v in flow.iter().map(|v| v.abs()).chain([0.0]) {
            error.push(level + v + before);
            total += level;
            level = self.ratio * level + v / self.down;
            before = v;
        }
        // A law of sum 1.
        let pairs = error.iter_mut().zip(law);
        pairs.for_each(|(e, p)| *e += total * p.abs());
        error
    }
}
