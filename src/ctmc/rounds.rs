//! The law of a modulated queue by rounds of its environment: a second way beside the QBD, and the
//! faster one where the environment has many states.
//!
//! A *round* is the time between two visits of state 0. In each state on the way the number of jobs
//! is a birth-and-death process that runs for an exponential time: one tridiagonal solve. A round
//! costs O(edges × levels), and the law of the number of jobs in state 0 is the fixed point of a
//! round. It is found by GMRES (Saad, Schultz, SIAM Journal on Scientific and
//! Statistical Computing 7, 1986), preconditioned by the birth-and-death process with the round's
//! mean drift and its exact rate of decay.
//!
//! Levels end where what is above has a probability below 1e-16: it falls like `z^{−q}`, where
//! z > 1 is the root of the round's generating function of net arrivals, as in Cramér and Lundberg.

use nalgebra::{DMatrix, DVector};

use super::bisection::bisected;
use super::modulated::{Edge, MEMORY, ModulatedQueue};
use super::relative::RelativeCompletions;

/// The probability of the levels left out is exp(−TAIL).
const TAIL: f64 = 38.0;

/// Residual of the fixed point, in total variation.
const RESIDUAL: f64 = 1e-14;

/// GMRES steps; with its preconditioner it needs 10 to 40.
const STEPS: usize = 120;

/// The least mean change of the number of jobs in a round.
const LEAST_CHANGE: f64 = 1e-4;

/// The least mean number of jobs: the law is accurate in absolute terms, so less has too few digits.
const RARE: f64 = 1e-5;

/// Why there is no law.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RoundsError {
    /// Not every way out of state 0 goes round.
    #[error("the environment does not go round")]
    NoRound,
    /// The load is 1 or more.
    #[error("the queue is not stable: its load is {0}")]
    Unstable(f64),
    /// More numbers than allowed.
    #[error("{levels} levels of {states} states are more than the {limit} numbers allowed")]
    TooLarge {
        /// Levels that are needed.
        levels: f64,
        /// States of the environment.
        states: usize,
        /// Numbers allowed.
        limit: usize,
    },
    /// The iteration did not reach its residual.
    #[error("the law of a round did not converge: residual {0:e}")]
    NotConverged(f64),
    /// So little happens in a round that its fixed point is lost in rounding.
    #[error("a round changes the queue by {0:e} jobs, too little for this solver")]
    ShortRound(f64),
    /// So few jobs that rounding errors of the law hide them.
    #[error("the mean number of jobs, about {0:e}, is too small for this solver")]
    TooRare(f64),
}

/// The law of the number of jobs and the state.
pub struct RoundLaw {
    /// Mean number of jobs.
    pub mean: f64,
    /// `law[s][q]`: probability of state s with q jobs.
    pub law: Vec<Vec<f64>>,
}

/// Levels that the law of a queue needs; `None` where it does not go round or is not stable.
pub fn levels(queue: &ModulatedQueue<'_>) -> Option<f64> {
    let rounds = Rounds::new(queue)?;
    Some(rounds.levels(rounds.decay()?))
}

/// The work of [`law`], very roughly in nanoseconds; infinite where it does not apply, or memory
/// does not suffice.
pub fn work(queue: &ModulatedQueue<'_>) -> f64 {
    let levels = levels(queue).unwrap_or(f64::INFINITY);
    let states = queue.servers().len();
    match numbers(levels, states) <= MEMORY {
        true => 130.0 * levels * states as f64,
        false => f64::INFINITY,
    }
}

/// Numbers that are kept: the law, and the basis of GMRES.
fn numbers(levels: f64, states: usize) -> f64 {
    levels * (states + STEPS) as f64
}

/// Solves for the law, with at most `limit` numbers in it.
///
/// # Errors
/// See [`RoundsError`].
pub fn law(queue: &ModulatedQueue<'_>, limit: usize) -> Result<RoundLaw, RoundsError> {
    let rounds = Rounds::new(queue).ok_or(RoundsError::NoRound)?;
    let load = queue.arrival_rate() / queue.capacity();
    let decay = rounds.decay().ok_or(RoundsError::Unstable(load))?;
    let states = rounds.stages.len();
    let levels = rounds.levels(decay);
    if numbers(levels, states) > limit as f64 {
        return Err(RoundsError::TooLarge {
            levels,
            states,
            limit,
        });
    }
    let start = rounds.fixed_point(levels as usize, decay)?;
    rounds.law(start)
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
            let edge = Edge {
                from: 0,
                to: 0,
                rate: only.leaving,
            };
            only.exits = vec![(edge, false)];
        }
        environment.goes_round().then_some(Rounds { queue, stages })
    }

    /// Levels that matter where the law falls at this rate.
    fn levels(&self, decay: f64) -> f64 {
        f64::from(self.queue.most_servers()) + TAIL / decay + 2.0
    }

    /// `ln z`, z > 1 with `F(z) = 1`: the rate at which the law of the levels decays.
    fn decay(&self) -> Option<f64> {
        if self.queue.arrival_rate() >= self.queue.capacity() {
            return None;
        }
        let poles = self.stages.iter().map(|stage| self.pole(stage));
        let pole = poles.fold(f64::INFINITY, f64::min) - 1.0;
        // F < 1 between 1 and the root, and > 1 from there to the pole.
        let range = [pole.ln() - 25.0, pole.ln()];
        let [root, _] = bisected(range, |x| self.growth(1.0 + x.exp()) < 1.0);
        Some(root.exp().ln_1p())
    }

    /// Where the generating function of one stage ends: the larger root of
    /// `r + λ(1 − z) + d(1 − 1/z) = 0`.
    fn pole(&self, stage: &Stage) -> f64 {
        let (lambda, d) = (self.queue.arrival_rate(), stage.speed);
        let half = 0.5 * (stage.leaving + lambda + d);
        (half + (half * half - lambda * d).max(0.0).sqrt()) / lambda
    }

    /// `F(z)`: the generating function of the net arrivals of a round in which the queue is never empty.
    fn growth(&self, z: f64) -> f64 {
        let mut weight = vec![0.0; self.stages.len() + 1];
        weight[0] = 1.0;
        let mut back = 0.0;
        for (s, stage) in self.stages.iter().enumerate() {
            let (lambda, d) = (self.queue.arrival_rate(), stage.speed);
            let stay = weight[s] / (stage.leaving - (z - 1.0) * (lambda - d / z));
            if stay < 0.0 || stay.is_nan() {
                return f64::INFINITY;
            }
            for (edge, serves) in &stage.exits {
                let taken = stay * edge.rate / if *serves { z } else { 1.0 };
                if edge.to == 0 {
                    back += taken
                } else {
                    weight[edge.to] += taken
                }
            }
        }
        back
    }

    /// One round: from the law at state 0 (time spent, by level) to the law when it is back.
    /// `visit` gets each stage with its law.
    fn round(&self, start: &[f64], mut visit: impl FnMut(usize, &[f64])) -> Vec<f64> {
        let top = start.len();
        let mut inflow: Vec<Vec<f64>> = vec![Vec::new(); self.stages.len()];
        let mut back = vec![0.0; top];
        let mut law = start.to_vec();
        for (s, stage) in self.stages.iter().enumerate() {
            if s > 0 {
                law = std::mem::take(&mut inflow[s]);
                self.stay(stage, &mut law);
            }
            visit(s, &law);
            for (edge, serves) in &stage.exits {
                let into = match edge.to {
                    0 => &mut back,
                    to => &mut inflow[to],
                };
                into.resize(top, 0.0);
                match serves {
                    true => self.serve(stage.servers, &law, into),
                    false => into
                        .iter_mut()
                        .zip(&law)
                        .for_each(|(i, p)| *i += edge.rate * p),
                }
            }
        }
        self.stay(&self.stages[0], &mut back);
        back
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
    /// birth-and-death process, which continues above the levels kept.
    fn stay(&self, stage: &Stage, law: &mut [f64]) {
        let lambda = self.queue.arrival_rate();
        let (rate, full) = (self.queue.service_rate(), stage.speed);
        // A pivot is d_q + e_q, with e_q = r + λ e_{q+1}/(d_{q+1} + e_{q+1}): nothing is subtracted.
        let half = 0.5 * (full - stage.leaving - lambda);
        let root = (half * half + stage.leaving * full).sqrt();
        let mut excess = match half > 0.0 {
            true => stage.leaving * full / (half + root),
            false => root - half,
        };
        let mut pivot = full + excess;
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
            let served = if stage.drains {
                0.0
            } else {
                (q + 1) as f64 * rate
            };
            let serves = if stage.drains { 0.0 } else { q as f64 * rate };
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
    }

    /// The law at state 0 that a round reproduces, of sum 1.
    fn fixed_point(&self, levels: usize, decay: f64) -> Result<Vec<f64>, RoundsError> {
        let smoother = Smoother {
            ratio: (-decay).exp(),
            down: self.drift() / -(-decay).exp_m1(),
        };
        if smoother.down < LEAST_CHANGE {
            return Err(RoundsError::ShortRound(smoother.down));
        }
        // A short round changes little: its defect must be smaller in proportion.
        let tolerance = (RESIDUAL * smoother.down.min(1.0)).max(2.0 * f64::EPSILON);
        let mut law = self.geometric(levels, decay);
        let mut residual = f64::INFINITY;
        for _ in 0..4 {
            let defect = self.defect(&law);
            residual = defect.iter().map(|d| d.abs()).sum::<f64>();
            if residual <= tolerance {
                return Ok(law);
            }
            let correction = gmres(&defect, tolerance / 4.0, |v| {
                let smooth = smoother.apply(v);
                let moved = self.defect(&smooth);
                moved.into_iter().map(|m| -m).collect()
            });
            let correction = smoother.apply(&correction);
            law.iter_mut().zip(&correction).for_each(|(p, c)| *p += c);
            let total: f64 = law.iter().sum();
            law.iter_mut().for_each(|p| *p /= total);
        }
        // Rounding leaves a few units in the last place of each round.
        match residual <= 1000.0 * RESIDUAL {
            true => Ok(law),
            false => Err(RoundsError::NotConverged(residual)),
        }
    }

    /// What a round adds to a law.
    fn defect(&self, law: &[f64]) -> Vec<f64> {
        let after = self.round(law, |_, _| {});
        after.iter().zip(law).map(|(a, p)| a - p).collect()
    }

    /// Mean net loss of jobs in a round of a queue that is never empty.
    fn drift(&self) -> f64 {
        let visits = self.queue.environment().law()[0] * self.stages[0].leaving;
        (self.queue.capacity() - self.queue.arrival_rate()) / visits
    }

    fn geometric(&self, levels: usize, decay: f64) -> Vec<f64> {
        let total = -1.0 / (-decay).exp_m1();
        (0..levels)
            .map(|q| (-decay * q as f64).exp() / total)
            .collect()
    }

    /// The law of all states, and its mean.
    fn law(&self, start: Vec<f64>) -> Result<RoundLaw, RoundsError> {
        let share = self.queue.environment().law()[0];
        let start: Vec<f64> = start.iter().map(|p| p * share).collect();
        let mut law = Vec::with_capacity(self.stages.len());
        let mut unused = vec![0.0; self.stages.len()];
        let (mut unused_jobs, mut jobs) = (0.0, 0.0);
        let rate = self.queue.service_rate();
        self.round(&start, |s, of_stage| {
            let stage = &self.stages[s];
            let serving = stage.exits.iter().find(|(_, serves)| *serves);
            // Without a serving edge services leave the environment as it is.
            let after = serving.map_or(s, |(edge, _)| edge.to);
            for (q, p) in of_stage.iter().enumerate().take(stage.servers) {
                let missed = (stage.servers - q) as f64 * rate * p;
                unused[after] += missed;
                unused_jobs += q as f64 * missed;
            }
            let numbered = of_stage.iter().enumerate();
            jobs += numbered.map(|(q, p)| q as f64 * p).sum::<f64>();
            law.push(of_stage.to_vec());
        });
        if jobs < RARE {
            return Err(RoundsError::TooRare(jobs));
        }
        let relative = RelativeCompletions::new(self.queue);
        let ahead = relative.ahead.iter();
        let furthest = ahead.fold(0.0, |most, a| f64::max(most, a.abs()));
        // The mean from the moments of unused service keeps its digits in heavy traffic, where the
        // sum loses them; where Δ is much larger than the mean, the sum is the accurate one.
        let mean = match furthest * f64::EPSILON < 1e-11 * jobs {
            true => relative.mean_number(&unused, unused_jobs),
            false => jobs,
        };
        Ok(RoundLaw { mean, law })
    }
}

/// `I + B⁻¹`, B the birth-and-death process with the mean drift of a round.
struct Smoother {
    /// Births over deaths.
    ratio: f64,
    /// Deaths a round.
    down: f64,
}

impl Smoother {
    /// For a vector of sum 0; so is the result.
    fn apply(&self, vector: &[f64]) -> Vec<f64> {
        let mut below = 0.0;
        let (mut level, mut total) = (0.0, 0.0);
        let mut solved = Vec::with_capacity(vector.len());
        for v in vector {
            solved.push(level);
            total += level;
            below += v;
            level = self.ratio * level - below / self.down;
        }
        let mut stationary = -total * (1.0 - self.ratio);
        for (s, v) in solved.iter_mut().zip(vector) {
            *s += stationary + v;
            stationary *= self.ratio;
        }
        solved
    }
}

/// Solves `operator(x) = right` from 0 by GMRES, to a residual of 2-norm `tolerance` or for
/// [`STEPS`] steps.
fn gmres(right: &[f64], tolerance: f64, operator: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let right = DVector::from_column_slice(right);
    let norm = right.norm();
    let mut basis = vec![right / norm];
    let mut hessenberg = DMatrix::<f64>::zeros(STEPS + 1, STEPS);
    let mut rotations: Vec<(f64, f64)> = Vec::new();
    let mut target = DVector::zeros(STEPS + 1);
    target[0] = norm;
    for k in 0..STEPS {
        let mut next = DVector::from_vec(operator(basis[k].as_slice()));
        // Orthogonalized twice, against rounding.
        for _ in 0..2 {
            for (j, v) in basis.iter().enumerate() {
                let along = v.dot(&next);
                hessenberg[(j, k)] += along;
                next.axpy(-along, v, 1.0);
            }
        }
        let length = next.norm();
        for (j, (c, s)) in rotations.iter().enumerate() {
            let (a, b) = (hessenberg[(j, k)], hessenberg[(j + 1, k)]);
            hessenberg[(j, k)] = c * a + s * b;
            hessenberg[(j + 1, k)] = c * b - s * a;
        }
        let a = hessenberg[(k, k)];
        let radius = a.hypot(length);
        let (c, s) = if radius > 0.0 {
            (a / radius, length / radius)
        } else {
            (1.0, 0.0)
        };
        rotations.push((c, s));
        hessenberg[(k, k)] = radius;
        target[k + 1] = -s * target[k];
        target[k] *= c;
        if target[k + 1].abs() <= tolerance || length <= f64::EPSILON * norm {
            break;
        }
        basis.push(next / length);
    }
    combination(&basis, &hessenberg, &target, rotations.len())
}

/// Back substitution in the triangle gives the weights of the basis; their sum.
fn combination(
    basis: &[DVector<f64>],
    triangle: &DMatrix<f64>,
    target: &DVector<f64>,
    size: usize,
) -> Vec<f64> {
    let mut weights = vec![0.0; size];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|j| triangle[(k, j)] * weights[j]).sum();
        let pivot = triangle[(k, k)];
        weights[k] = if pivot == 0.0 {
            0.0
        } else {
            (target[k] - known) / pivot
        };
    }
    let mut sum = DVector::zeros(basis[0].len());
    for (v, w) in basis.iter().zip(&weights) {
        sum.axpy(*w, v, 1.0);
    }
    sum.as_slice().to_vec()
}
