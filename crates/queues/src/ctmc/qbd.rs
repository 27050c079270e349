//! Quasi-birth-death processes: chains on (level, phase) that move at most one level at a time and
//! repeat from some level on.
//!
//! # Theory
//! With rates `U` up, `L` within the level and `D` down (n × n each), `G_st` is the probability
//! that the level below is first entered in phase t, starting in phase s. It solves `D + (L − diag)
//! G + U G² = 0` and is computed by *cyclic reduction* (Bini, Meini, SIAM Journal on Matrix
//! Analysis 17, 1996) without subtractions (see [`super::sojourn`]), so it stays accurate at
//! vanishing drift without a shift. The checker uses logarithmic reduction, in
//! [`super::cycle::Levels`].
//!
//! The distribution of the levels decays with the powers of `R = U (−L − U G)^{-1}`, but `(I −
//! R)^{-1}` is not formed, since in heavy traffic its square loses `1/drift²`. Instead, sums over
//! the levels solve Poisson equations of the phase process, with one division by the drift each.
//! For `x = Σ π_q` and `y = Σ (q − b) π_q` over `q ≥ b`, and the generator `A = U + L + D − diag`:
//!
//! ```text
//! x A = π_b D − π_{b−1} U,      x (D − U) 1 = π_b D 1
//! y A = (x − π_b) D − x U,      y (D − U) 1 = (x − π_b) D 1
//! ```
//!
//! These differences of flows cancel if phases change much more slowly than jobs arrive. In that
//! case the sums are computed by doubling, without subtractions: `Σ_{k<2m} R^k = (I + R^m) Σ_{k<m}
//! R^k`.

use nalgebra::{DMatrix, DVector, RowDVector};

use super::sojourn::{Excursions, sojourns};

/// A block of positive rates: (row, column, rate). Duplicate entries add up.
pub type Block = Vec<(usize, usize, f64)>;

/// The rates of one level \[1/time\].
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Number of phases.
    pub phases: usize,
    /// To the level above.
    pub up: Block,
    /// Within the level.
    pub local: Block,
    /// To the level below; empty on level 0.
    pub down: Block,
}

/// A QBD with boundary levels, the last of which has as many phases as the repeating one.
#[derive(Clone, Debug)]
pub struct Qbd {
    /// The boundary levels 0, 1, ….
    pub boundary: Vec<Level>,
    /// All levels above.
    pub repeating: Level,
}

/// The reason why a QBD has no usable stationary distribution.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct QbdError(String);

impl QbdError {
    pub(super) fn not_converged(name: &str) -> Self {
        QbdError(format!(
            "{name} did not converge within {ITERATIONS} iterations"
        ))
    }

    /// The error for an impossible computed mean.
    pub fn no_digit(mean: f64) -> Self {
        QbdError(format!(
            "cancellation destroyed all digits of the mean: {mean}"
        ))
    }

    /// The error for rounding errors that accumulate over the levels.
    pub fn deep(error: f64) -> Self {
        QbdError(format!(
            "the queue can get so long that rounding causes a relative error of {error:.1e} in its mean"
        ))
    }
}

/// Largest allowed residual, relative to the largest rate.
const RESIDUAL: f64 = 1e-13;

/// Cancellation above which the levels are summed by doubling.
const CANCELLED: f64 = 1e5;

/// Number of mean numbers of levels beyond the boundary that matter.
const DEEP: f64 = 40.0;

const HUGE: f64 = 1e150;

/// Each iteration of a reduction doubles the number of levels.
pub(super) const ITERATIONS: usize = 100;

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

    fn cyclic_reduction(&self) -> Result<DMatrix<f64>, QbdError> {
        let (mut up, mut local, mut down) =
            (self.up.clone(), self.local.clone(), self.down.clone());
        let mut first = self.local.clone();
        for _ in 0..ITERATIONS {
            let stay = sojourns(&local, &(up.column_sum() + down.column_sum()));
            let (rise, fall) = (&stay * &up, stay * &down);
            // Rates of different phases may differ by orders of magnitude, probabilities do not.
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
    /// Solves for the stationary distribution.
    ///
    /// # Errors
    /// If the process is unstable, or the computed G does not solve its equation.
    pub fn solve(&self) -> Result<Stationary, QbdError> {
        let rates = Rates::new(&self.repeating);
        let phases = Excursions::new(&(&rates.up + &rates.local + &rates.down));
        let outward = rates.down.column_sum() - rates.up.column_sum();
        let drift = (&phases.law * &outward)[0];
        let turnover = (&phases.law * rates.up.column_sum())[0];
        // A drift within its rounding error counts as 0.
        if drift.is_nan() || drift <= 16.0 * f64::EPSILON * turnover {
            return Err(QbdError(format!(
                "the process is not stable: its mean drift is {:e} levels per time, expected a clearly negative drift",
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

    /// The chain censored on the boundary, up to a factor.
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

    /// Returns the rates within boundary level q, with excursions below it censored.
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

/// With few jobs and many servers, each level is far more probable than the one above.
fn rescale(laws: &mut [RowDVector<f64>]) {
    let most = laws.last().map_or(0.0, |law| law.amax());
    if most > HUGE {
        let faded = |law: &&mut RowDVector<f64>| law.amax() > 0.0;
        let alive = laws.iter_mut().rev().take_while(faded);
        alive.for_each(|law| *law /= most);
    }
}

pub(super) fn add_product(rates: &mut DMatrix<f64>, block: &Block, matrix: &DMatrix<f64>) {
    for &(s, t, rate) in block {
        let mut row = rates.row_mut(s);
        row += rate * matrix.row(t);
    }
}

/// Returns `stay · up`.
pub(super) fn returns(stay: &DMatrix<f64>, up: &Block, n: usize) -> DMatrix<f64> {
    let mut product = DMatrix::zeros(stay.nrows(), n);
    for &(k, t, rate) in up {
        product.column_mut(t).axpy(rate, &stay.column(k), 1.0);
    }
    product
}

pub(super) fn dense(block: &Block, phases: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(phases, phases);
    for &(s, t, rate) in block {
        matrix[(s, t)] += rate;
    }
    matrix
}

pub(super) fn exits(block: &Block, phases: usize) -> DVector<f64> {
    let mut exits = DVector::zeros(phases);
    block.iter().for_each(|&(s, _, rate)| exits[s] += rate);
    exits
}

/// The stationary distribution of a QBD.
pub struct Stationary {
    /// π_0 … π_b, with b the first repeating level.
    levels: Vec<RowDVector<f64>>,
    /// R: `π_{q+1} = π_q R` from level b on.
    decay: DMatrix<f64>,
    rates: Rates,
    phases: Excursions,
    outward: DVector<f64>,
    drift: f64,
    mean: f64,
    error: f64,
}

impl Stationary {
    /// Normalizes the levels, and computes the mean level. `entry` is `π_{b−1} U_{b−1}`.
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
        self.error = DEEP * f64::EPSILON * levels / mass.max(f64::MIN_POSITIVE);
        self.levels.iter_mut().for_each(|level| *level /= total);
    }

    /// Returns `Σ_k x R^k 1` and `Σ_k k x R^k 1` for a row x ≥ 0, by doubling.
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

    /// Returns the ratio of the terms of [`Stationary::with_flow`] to `flow`.
    fn cancellation(&self, terms: &RowDVector<f64>, flow: f64) -> f64 {
        (self.phases.sojourns_of(terms) * self.outward.abs())[0] / flow.abs()
    }

    /// Returns the probability of level q ≥ b and all above.
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

    /// Returns a bound on the relative rounding error of the mean.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the distributions of levels 0, 1, …, with an entry per phase. O(n²) per level.
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

    /// Returns `P(level > q)`, by summing probabilities. O(q n²).
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

    /// The case q ≥ b of [`Stationary::rarely_above`], by binary search with powers of R.
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
