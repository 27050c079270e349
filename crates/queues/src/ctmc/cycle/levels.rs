//! This module uses the cycles between two visits to the lowest level of a process.
//!
//! # Theory
//! Let `U`, `L` and `D` be the rates to the level above, within the level, and to the level below.
//! Let `G_q` be the distribution of the phase in which level `q − 1` is first reached from level
//! `q`, and let `m_q` be the mean integral of a reward `f` until then. The sojourn times on level
//! `q` until then are `K_q = (diag − L_q − U_q G_{q+1})^{-1}`, and
//!
//! ```text
//! G_q = K_q D_q,      m_q = K_q (f_q + U_q m_{q+1})
//! ```
//!
//! These are computed from the repeating levels down to level 1. On the repeating levels, `G` is
//! computed by *logarithmic reduction* (Latouche, Ramaswami, Journal of Applied Probability 30,
//! 1993). With `P = K U` and a reward `a + b q`, the sums are computed by doubling:
//!
//! ```text
//! m_q = (a + b q) Σ_k P^k K 1 + b Σ_k k P^k K 1
//! ```
//!
//! The weight of a cycle is the stationary distribution of the rates `L_0 + U_0 G_1` on level 0.

use nalgebra::{DMatrix, DVector};

use super::{HUGE, Reward, TAIL};
use crate::ctmc::SolverError;
use crate::ctmc::modulated::{MEMORY_LIMIT, ModulatedQueue};
use crate::ctmc::qbd::{Block, ITERATIONS, Level, Qbd, add_product, dense, exits, returns};
use crate::ctmc::sojourn::{Excursions, sojourns};

/// Beyond this number of levels per phase, the powers of `P` are squared.
const STEPS: u64 = 64;

/// A process and its solution on the repeating levels.
pub struct Levels<'a> {
    level: Box<dyn Fn(usize) -> Level + 'a>,
    repeats: usize,
    /// The matrices `K`, `P` and `G`, and the sums `Σ_k P^k K 1` and `Σ_k k P^k K 1`.
    stay: DMatrix<f64>,
    rise: DMatrix<f64>,
    fall: DMatrix<f64>,
    sums: [DVector<f64>; 2],
    levels: f64,
}

impl<'a> Levels<'a> {
    /// Estimates the time \[ns\] for this number of phases and of levels below the repeating ones.
    /// It is infinite if there is not enough memory.
    pub fn work(phases: f64, levels: f64) -> f64 {
        if 40.0 * phases * phases <= MEMORY_LIMIT {
            (5.0 + 0.15 * levels) * phases.powi(3) + 1e3 * (levels + phases) + 2e4
        } else {
            f64::INFINITY
        }
    }

    /// Creates the solution of a queue, where the level is the number of jobs. Returns an error if
    /// the reduction does not converge, or if the sums are not finite.
    pub fn of_queue(queue: &'a ModulatedQueue<'a>) -> Result<Self, SolverError> {
        let most = queue.max_servers().max(1) as usize;
        Self::new(Box::new(move |q| of_jobs(queue, q.min(most))), most)
    }

    /// Creates the solution of a process. The errors are the same as for [`Levels::of_queue`].
    pub fn of_process(process: &'a Qbd) -> Result<Self, SolverError> {
        let (boundary, far) = (&process.boundary, &process.repeating);
        let level = |q: usize| boundary.get(q).unwrap_or(far).clone();
        Self::new(Box::new(level), boundary.len())
    }

    fn new(level: Box<dyn Fn(usize) -> Level + 'a>, repeats: usize) -> Result<Self, SolverError> {
        let far = level(repeats);
        let n = far.phases;
        let [up, local, down] = [&far.up, &far.local, &far.down].map(|block| dense(block, n));
        let fall = logarithmic_reduction(&up, &local, &down)?;
        let stay = sojourns(&(local + &up * &fall), &down.column_sum());
        let rise = &stay * &up;
        let (sums, levels) = doubled(&rise, stay.column_sum())?;
        Ok(Levels {
            level,
            repeats,
            stay,
            rise,
            fall,
            sums,
            levels: repeats as f64 + levels,
        })
    }

    /// Returns the number of levels whose probability is not negligible.
    pub fn levels(&self) -> f64 {
        self.levels
    }

    /// Returns the long-run mean of each reward.
    pub fn means(&self, rewards: &[Reward]) -> Vec<f64> {
        let mut gains = DMatrix::zeros(self.stay.nrows(), rewards.len() + 1);
        gains.set_column(0, &self.sums[0]);
        for (k, reward) in rewards.iter().enumerate() {
            gains.set_column(k + 1, &self.far(reward));
        }
        let own = |q: usize, phases: usize, unit: f64| {
            let at = |s: usize, k: usize| match k {
                0 => 1.0,
                _ => rewards[k - 1].at(q, s),
            };
            DMatrix::from_fn(phases, rewards.len() + 1, |s, k| unit * at(s, k))
        };
        let mut fall = self.fall.clone();
        let mut unit = 1.0;
        let mut above = self.repeats;
        let mut level = (self.level)(above - 1);
        while above > 1 {
            let below = (self.level)(above - 2);
            let rates = dense(&level.local, level.phases) + product(&level.up, &fall, level.phases);
            let stay = sojourns(&rates, &exits(&level.down, level.phases));
            let own = own(above - 1, level.phases, unit);
            gains = &stay * (own + product(&level.up, &gains, level.phases));
            fall = returns(&stay, &level.down, below.phases);
            let most = gains.amax();
            if most > HUGE {
                (gains, unit) = (gains / most, unit / most);
            }
            (level, above) = (below, above - 1);
        }
        let rates = dense(&level.local, level.phases) + product(&level.up, &fall, level.phases);
        let own = own(0, level.phases, unit);
        let cycle = Excursions::new(&rates).law * (own + product(&level.up, &gains, level.phases));
        (1..cycle.len()).map(|k| cycle[k] / cycle[0]).collect()
    }

    fn far(&self, reward: &Reward) -> DVector<f64> {
        let [time, further] = &self.sums;
        match reward {
            Reward::Jobs => self.repeats as f64 * time + further,
            Reward::Above(x) => self.risen((x + 1).saturating_sub(self.repeats as u64), time),
            Reward::Listed(values) => {
                let listed = values.iter().map(Vec::len).max().unwrap_or(0);
                let mut gain = time.clone();
                for q in (self.repeats..listed).rev() {
                    let own = DVector::from_fn(gain.len(), |s, _| reward.at(q, s));
                    gain = &self.stay * own + &self.rise * gain;
                }
                gain
            }
        }
    }

    fn risen(&self, levels: u64, x: &DVector<f64>) -> DVector<f64> {
        let mut risen = x.clone();
        if levels <= STEPS * x.len() as u64 {
            (0..levels).for_each(|_| risen = &self.rise * &risen);
            return risen;
        }
        let (mut power, mut rest) = (self.rise.clone(), levels);
        while rest > 0 {
            if rest % 2 == 1 {
                risen = &power * risen;
            }
            power = &power * &power;
            rest /= 2;
        }
        risen
    }
}

/// Returns `Σ_k P^k x`, `Σ_k k P^k x`, and the number of levels until `P^k < exp(−TAIL)`.
fn doubled(p: &DMatrix<f64>, x: DVector<f64>) -> Result<([DVector<f64>; 2], f64), SolverError> {
    let (mut sum, mut moment) = (x, DVector::zeros(p.nrows()));
    let (mut power, mut count) = (p.clone(), 1.0);
    for _ in 0..ITERATIONS {
        let further = &power * &sum;
        let gain = &power * &moment + count * &further;
        let negligible = gain.sum() <= f64::EPSILON / 16.0 * moment.sum();
        sum += further;
        moment += gain;
        let left = power.column_sum().amax();
        if negligible || left == 0.0 {
            let levels = count * TAIL / -left.max(f64::MIN_POSITIVE).ln();
            return Ok(([sum, moment], levels));
        }
        if !moment.sum().is_finite() {
            break;
        }
        power = &power * &power;
        count *= 2.0;
    }
    Err(SolverError::no_digit(moment.sum()))
}

fn logarithmic_reduction(
    up: &DMatrix<f64>,
    local: &DMatrix<f64>,
    down: &DMatrix<f64>,
) -> Result<DMatrix<f64>, SolverError> {
    let stay = sojourns(local, &(up.column_sum() + down.column_sum()));
    let (mut rise, mut fall) = (&stay * up, stay * down);
    let (mut passage, mut risen) = (fall.clone(), rise.clone());
    for _ in 0..ITERATIONS {
        let turns = &rise * &fall + &fall * &rise;
        let (twice_up, twice_down) = (&rise * &rise, &fall * &fall);
        let stay = sojourns(&turns, &(twice_up.column_sum() + twice_down.column_sum()));
        (rise, fall) = (&stay * twice_up, stay * twice_down);
        passage += &risen * &fall;
        risen *= &rise;
        if risen.amax() <= f64::EPSILON / 16.0 {
            return Ok(passage);
        }
    }
    Err(SolverError::not_converged("logarithmic reduction"))
}

/// If an edge is a completion, it removes a job only if the server that ends is busy.
fn of_jobs(queue: &ModulatedQueue<'_>, q: usize) -> Level {
    let servers = queue.servers();
    let mut level = Level {
        phases: servers.len(),
        ..Level::default()
    };
    let busy = |s: usize| (q as f64).min(f64::from(servers[s]));
    for s in 0..servers.len() {
        level.up.push((s, s, queue.arrival_rate()));
        if !queue.drains(s) && busy(s) > 0.0 {
            level.down.push((s, s, busy(s) * queue.service_rate()));
        }
    }
    for (edge, serves) in queue.edges() {
        let (s, t) = (edge.from, edge.to);
        let idle = f64::from(servers[s]) - busy(s);
        let (taken, stays) = match serves {
            true => (busy(s) * queue.service_rate(), idle * queue.service_rate()),
            false => (0.0, edge.rate),
        };
        if taken > 0.0 {
            level.down.push((s, t, taken));
        }
        if stays > 0.0 && s != t {
            level.local.push((s, t, stays));
        }
    }
    level
}

fn product(block: &Block, matrix: &DMatrix<f64>, rows: usize) -> DMatrix<f64> {
    let mut product = DMatrix::zeros(rows, matrix.ncols());
    add_product(&mut product, block, matrix);
    product
}
