//! Quasi-birth-death processes: chains on (level, phase) that move at most one level at a time,
//! depend on the level up to some level, and repeat from there on.
//!
//! # Theory
//! With rates `U` up, `L` on the level, `D` down (n × n each), `G_st` is the probability that
//! the first visit to the level below, from phase s, is in phase t. It solves
//! `D + (L − diag) G + U G² = 0`. It is found by *cyclic reduction* (Bini, Meini, SIAM Journal on Matrix Analysis 17, 1996),
//! without a single subtraction (see [`super::sojourn`]), so that G stays accurate where the drift vanishes, and no shift is
//! needed. The checker finds it by logarithmic reduction, in [`super::cycle::Levels`].
//!
//! The law of the levels falls like the powers of `R = U (−L − U G)^{-1}`, but `(I − R)^{-1}` is
//! not formed: in heavy traffic its square loses `1/drift²`. Sums over the levels solve Poisson
//! equations of the phase process instead, with one division by the drift each. For
//! `x = Σ π_q` and `y = Σ (q − b) π_q` over `q ≥ b`, and the generator `A = U + L + D − diag`
//! with law θ:
//!
//! ```text
//! x A = π_b D − π_{b−1} U,      x (D − U) 1 = π_b D 1
//! y A = (x − π_b) D − x U,      y (D − U) 1 = (x − π_b) D 1
//! ```
//!
//! These equations are differences of flows, which cancel where phases change much more slowly than
//! jobs arrive. Then the sums themselves are taken, by doubling: `Σ_{k<2m} R^k` is
//! `(I + R^m) Σ_{k<m} R^k`, and again nothing is subtracted.
//!
//! # Practice
//! Every solve checks the residual of G. An iteration that does not converge is an error.

use nalgebra::{DMatrix, DVector, RowDVector};

use super::sojourn::{Excursions, sojourns};

/// A block of rates: (row, column, rate), rates positive. Entries at one place add up.
pub type Block = Vec<(usize, usize, f64)>;

/// One level's rates [1/time].
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Phases of this level.
    pub phases: usize,
    /// To the level above.
    pub up: Block,
    /// Within the level, from a phase to another.
    pub local: Block,
    /// To the level below; empty on level 0.
    pub down: Block,
}

/// A level-dependent QBD: levels of their own, at least one, then one that repeats for ever.
///
/// The last level of its own has as many phases as the repeating one.
#[derive(Clone, Debug)]
pub struct Qbd {
    /// Levels 0, 1, … of their own.
    pub boundary: Vec<Level>,
    /// All levels above.
    pub repeating: Level,
}

/// Why a QBD has no usable law.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct QbdError(String);

impl QbdError {
    /// An iteration of this name did not converge.
    pub(super) fn not_converged(name: &str) -> Self {
        QbdError(format!(
            "{name} did not converge within {ITERATIONS} iterations"
        ))
    }

    /// The mean that was computed is impossible.
    pub fn no_digit(mean: f64) -> Self {
        QbdError(format!("cancellation left no digit of the mean: {mean}"))
    }

    /// Rounding errors add up over the levels.
    pub fn deep(error: f64) -> Self {
        QbdError(format!(
            "the queue becomes so long at times that rounding leaves a relative error of {error:.1e} in its mean"
        ))
    }
}

/// Residual allowed, relative to the largest rate.
const RESIDUAL: f64 = 1e-13;

/// Above this much cancellation the levels are added up.
const CANCELLED: f64 = 1e5;

/// So many times the mean number of levels beyond the boundary matter.
const DEEP: f64 = 40.0;

/// Laws of levels are kept below this, so that none overflows.
const HUGE: f64 = 1e150;

/// This reduction and that of [`super::cycle::Levels`] double the number of levels in each iteration: 2^100 is beyond any queue.
pub(super) const ITERATIONS: usize = 100;

/// The rates of the repeating level as matrices.
struct Rates {
    up: DMatrix<f64>,
    local: DMatrix<f64>,
    down: DMatrix<f64>,
}

impl Rates {
    fn new(level: &Level) -> Self {
        let blocks = [&level.up, &level.local, &level.down];
        let [up, local, down] = blocks.map(|block| dense(block, level.phases));
        Rates { up, local, down }
    }

    /// First passage one level down, by cyclic reduction.
    fn cyclic_reduction(&self) -> Result<DMatrix<f64>, QbdError> {
        let (mut up, mut local, mut down) =
            (self.up.clone(), self.local.clone(), self.down.clone());
        let mut first = self.local.clone();
        for _ in 0..ITERATIONS {
            let stay = sojourns(&local, &(up.column_sum() + down.column_sum()));
            let (rise, fall) = (&stay * &up, stay * &down);
            // The probability to leave upwards: rates of different phases may be of different orders.
            if rise.amax() <= f64::EPSILON / 16.0 {
                let exits = self.down.column_sum() + up.column_sum();
                return Ok(sojourns(&first, &exits) * &self.down);
            }
            let turn_above = &up * &fall;
            local += &turn_above + &down * &rise;
            first += turn_above;
            (up, down) = (&up * rise, &down * fall);
        }
        Err(QbdError::not_converged("cyclic reduction"))
    }

    /// Checks `D + (L − diag) G + U G² = 0`.
    fn check_residual(&self, g: &DMatrix<f64>) -> Result<(), QbdError> {
        let off_diagonal = self.local.column_sum() - self.local.diagonal();
        let leaving = self.up.column_sum() + off_diagonal + self.down.column_sum();
        let mut local = self.local.clone();
        local.set_diagonal(&-&leaving);
        let residual = (&self.down + (local + &self.up * g) * g).amax();
        if residual <= RESIDUAL * leaving.amax() {
            Ok(())
        } else {
            Err(QbdError(format!(
                "the first-passage matrix has a residual of {:e}, expected at most {RESIDUAL:e}",
                residual / leaving.amax()
            )))
        }
    }
}

impl Qbd {
    /// Solves for the law, G by cyclic reduction.
    ///
    /// # Errors
    /// When the process is unstable, or the matrix found does not solve the equation.
    pub fn solve(&self) -> Result<Stationary, QbdError> {
        let rates = Rates::new(&self.repeating);
        let phases = Excursions::new(&(&rates.up + &rates.local + &rates.down));
        let outward = rates.down.column_sum() - rates.up.column_sum();
        let drift = (&phases.law * &outward)[0];
        let turnover = (&phases.law * rates.up.column_sum())[0];
        // A drift within its rounding error counts as 0.
        if drift.is_nan() || drift <= 16.0 * f64::EPSILON * turnover {
            return Err(QbdError(format!(
                "the process is not stable: its mean drift is {:e} levels per time, expected one that is clearly negative",
                -drift
            )));
        }
        let g = rates.cyclic_reduction()?;
        rates.check_residual(&g)?;
        let above = sojourns(&(&rates.local + &rates.up * &g), &rates.down.column_sum());
        let mut levels = self.boundary_law(&g);
        let last = levels.len() - 1;
        let entry = &levels[last] * dense(&self.boundary[last].up, self.repeating.phases);
        levels.push(&entry * &above);
        let mut law = Stationary {
            decay: &rates.up * above,
            levels,
            rates,
            phases,
            outward,
            drift,
            mean: 0.0,
            error: 0.0,
        };
        law.normalize(&entry);
        Ok(law)
    }

    /// Returns the law of the boundary levels up to a factor: the chain censored on them, level after
    /// level from below.
    fn boundary_law(&self, g: &DMatrix<f64>) -> Vec<RowDVector<f64>> {
        let last = self.boundary.len() - 1;
        let mut below: Vec<DMatrix<f64>> = Vec::with_capacity(last);
        for (q, level) in self.boundary[..last].iter().enumerate() {
            let rates = self.censored(q, below.last());
            below.push(sojourns(&rates, &exits(&level.up, level.phases)));
        }
        let mut rates = self.censored(last, below.last());
        add_product(&mut rates, &self.boundary[last].up, g);
        let mut laws = vec![Excursions::new(&rates).law];
        for (level, stay) in self.boundary[1..].iter().zip(&below).rev() {
            let above = &laws[laws.len() - 1];
            let mut entry = RowDVector::zeros(stay.nrows());
            for &(s, t, rate) in &level.down {
                entry[t] += above[s] * rate;
            }
            laws.push(entry * stay);
            rescale(&mut laws);
        }
        laws.reverse();
        laws
    }

    /// Rates within level q of the boundary, excursions below it left out; `stay` has the times
    /// spent on the level below.
    fn censored(&self, q: usize, stay: Option<&DMatrix<f64>>) -> DMatrix<f64> {
        let level = &self.boundary[q];
        let mut rates = dense(&level.local, level.phases);
        if let Some(stay) = stay {
            let back = returns(stay, &self.boundary[q - 1].up, level.phases);
            add_product(&mut rates, &level.down, &back);
        }
        rates
    }
}

/// Scales the laws of levels, the last of which is new, where that one is huge: where jobs are few
/// and servers many, each level has many times the probability of the one above it. What is far
/// above fades to 0.
fn rescale(laws: &mut [RowDVector<f64>]) {
    let most = laws.last().map_or(0.0, |law| law.amax());
    if most > HUGE {
        let faded = |law: &&mut RowDVector<f64>| law.amax() > 0.0;
        let alive = laws.iter_mut().rev().take_while(faded);
        alive.for_each(|law| *law /= most);
    }
}

/// Adds `block` times a matrix.
pub(super) fn add_product(rates: &mut DMatrix<f64>, block: &Block, matrix: &DMatrix<f64>) {
    for &(s, t, rate) in block {
        let mut row = rates.row_mut(s);
        row += rate * matrix.row(t);
    }
}

/// `stay` times the block `up`: where a stay ends on the level above (`n` phases).
pub(super) fn returns(stay: &DMatrix<f64>, up: &Block, n: usize) -> DMatrix<f64> {
    let mut product = DMatrix::zeros(stay.nrows(), n);
    for &(k, t, rate) in up {
        product.column_mut(t).axpy(rate, &stay.column(k), 1.0);
    }
    product
}

/// Returns the block between levels of so many phases as a matrix.
pub(super) fn dense(block: &Block, phases: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(phases, phases);
    for &(s, t, rate) in block {
        matrix[(s, t)] += rate;
    }
    matrix
}

/// Returns the rate out of each of so many phases.
pub(super) fn exits(block: &Block, phases: usize) -> DVector<f64> {
    let mut exits = DVector::zeros(phases);
    block.iter().for_each(|&(s, _, rate)| exits[s] += rate);
    exits
}

/// The stationary law of a QBD.
pub struct Stationary {
    /// π_0 … π_b, b the first level that repeats.
    levels: Vec<RowDVector<f64>>,
    /// R: `π_{q+1} = π_q R` from level b on.
    decay: DMatrix<f64>,
    rates: Rates,
    phases: Excursions,
    /// `(D − U) 1`.
    outward: DVector<f64>,
    drift: f64,
    mean: f64,
    error: f64,
}

impl Stationary {
    /// Scales the levels to a law, and finds the mean level. `entry` is `π_{b−1} U_{b−1}`.
    fn normalize(&mut self, entry: &RowDVector<f64>) {
        let b = self.levels.len() - 1;
        let first = self.levels[b].clone();
        let fall = &first * &self.rates.down;
        let flow = fall.sum();
        let lost = self.cancellation(&(&fall + entry), flow);
        let sum = self.with_flow(&(fall - entry), flow);
        let above = &sum - &first;
        let (gain, loss) = (&above * &self.rates.down, &sum * &self.rates.up);
        let flow = gain.sum();
        let lost_beyond = self.cancellation(&(&gain + &loss), flow);
        let beyond = self.with_flow(&(gain - loss), flow);
        let below: f64 = self.levels[..b].iter().map(|level| level.sum()).sum();
        let moments = |(q, level): (usize, &RowDVector<f64>)| q as f64 * level.sum();
        let low: f64 = self.levels[..b].iter().enumerate().map(moments).sum();
        let (mut mass, mut levels) = (sum.sum(), beyond.sum());
        if lost.max(lost_beyond) > CANCELLED {
            (mass, levels) = self.summed(&self.levels[b]);
        }
        let total = below + mass;
        self.mean = (low + b as f64 * mass + levels) / total;
        // From one level to the next a law has a relative rounding error.
        self.error = DEEP * f64::EPSILON * levels / mass.max(f64::MIN_POSITIVE);
        self.levels.iter_mut().for_each(|level| *level /= total);
    }

    /// `Σ_k x R^k 1` and `Σ_k k x R^k 1` for a row x ≥ 0, by doubling.
    fn summed(&self, first: &RowDVector<f64>) -> (f64, f64) {
        let (mut sum, mut moment) = (first.clone(), RowDVector::zeros(first.len()));
        let (mut power, mut levels) = (self.decay.clone(), 1.0);
        for _ in 0..ITERATIONS {
            let further = &sum * &power;
            let gain = &moment * &power + levels * &further;
            let negligible = gain.sum() <= f64::EPSILON / 16.0 * moment.sum();
            sum += further;
            moment += gain;
            if negligible {
                break;
            }
            power = &power * &power;
            levels *= 2.0;
        }
        (sum.sum(), moment.sum())
    }

    /// Returns the row x with `x A = right` and `x (D − U) 1 = flow`.
    fn with_flow(&self, right: &RowDVector<f64>, flow: f64) -> RowDVector<f64> {
        let partial = self.phases.solve(right);
        let share = (flow - (&partial * &self.outward)[0]) / self.drift;
        partial + share * &self.phases.law
    }

    /// Returns how many times larger the terms of that solution may be than `flow`, if `terms` are those
    /// that `right` is the difference of.
    fn cancellation(&self, terms: &RowDVector<f64>, flow: f64) -> f64 {
        (self.phases.sojourns_of(terms) * self.outward.abs())[0] / flow.abs()
    }

    /// Returns the probability of a level q ≥ b and of all above it: q has the law `level`, and `entry` is the
    /// flow into it from below.
    fn mass_from(&self, level: &RowDVector<f64>, entry: &RowDVector<f64>) -> f64 {
        let fall = level * &self.rates.down;
        let flow = fall.sum();
        if self.cancellation(&(&fall + entry), flow) <= CANCELLED {
            self.with_flow(&(fall - entry), flow).sum()
        } else {
            self.summed(level).0
        }
    }

    /// Returns the mean level.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns what the mean may be wrong by, relatively, since rounding errors add up over the levels.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the law of the levels 0, 1, …: a row with an entry for each phase. O(n²) a level.
    pub fn levels(&self) -> impl Iterator<Item = RowDVector<f64>> + '_ {
        let b = self.levels.len() - 1;
        let mut next = self.levels[b].clone();
        let repeating = std::iter::repeat_with(move || {
            let level = next.clone();
            next = &next * &self.decay;
            level
        });
        self.levels[..b].iter().cloned().chain(repeating)
    }

    /// `P(level > q)`, from probabilities that are added up. O(q n²).
    pub fn above(&self, q: usize) -> f64 {
        let b = self.levels.len() - 1;
        let mut levels = self.levels().skip(q.max(b));
        let pair = levels.next().zip(levels.next());
        let far = pair.map_or(0.0, |(level, next)| {
            self.mass_from(&next, &(level * &self.rates.up))
        });
        let near = self.levels.iter().skip(q + 1).rev();
        near.fold(far, |above, level| above + level.sum())
    }

    /// Returns the least q with `P(level > q) ≤ p`, and that probability.
    pub fn rarely_above(&self, p: f64) -> (u64, f64) {
        let mut q = self.levels.len() - 1;
        let mut above = self.above(q);
        if above > p {
            return self.far_above(p);
        }
        while q > 0 {
            let more = above + self.levels[q].sum();
            if more > p {
                break;
            }
            (above, q) = (more, q - 1);
        }
        (q as u64, above)
    }

    /// Returns the same where q is above level b: the levels are halved by powers of R.
    fn far_above(&self, p: f64) -> (u64, f64) {
        let beyond = |level: &RowDVector<f64>| {
            let next = level * &self.decay;
            self.mass_from(&next, &(level * &self.rates.up))
        };
        let first = &self.levels[self.levels.len() - 1];
        let mut powers = vec![self.decay.clone()];
        while beyond(&(first * &powers[powers.len() - 1])) > p && powers.len() < 60 {
            let power = &powers[powers.len() - 1];
            powers.push(power * power);
        }
        // The last level that is exceeded more often than p.
        let (mut level, mut q) = (first.clone(), self.levels.len() as u64 - 1);
        for (k, power) in powers.iter().enumerate().rev() {
            let further = &level * power;
            if beyond(&further) > p {
                (level, q) = (further, q + (1 << k));
            }
        }
        level *= &self.decay;
        (q + 1, beyond(&level))
    }
}

#[cfg(test)]
mod tests;
