//! This module solves quasi-birth-death processes. These are chains on (level, phase) in which the
//! level can only change by 1 at a time, and which repeat from some level on.
//!
//! # Theory
//! Let `U`, `L` and `D` (n × n each) be the rates to the level above, within the level, and to the
//! level below. `G_st` is the probability that the level below is first entered in phase `t` if the
//! process starts in phase `s`. It is a solution of `D + (L − diag) G + U G² = 0` and is computed
//! by *cyclic reduction* (Bini, Meini, SIAM Journal on Matrix Analysis 17, 1996) without
//! subtractions (see [`super::sojourn`]), so it is accurate even if the drift is close to 0. The
//! checker uses logarithmic reduction instead (see [`super::cycle::Levels`]).
//!
//! The probabilities of the levels are given by the powers of `R = U (−L − U G)^{-1}`. The square
//! of `(I − R)^{-1}` would lose a factor of `1/drift²` in heavy traffic. Therefore, the sums over
//! the levels are computed from Poisson equations of the phase process, each of which is divided
//! by the drift only once. Let `x = Σ π_q` and `y = Σ (q − b) π_q` over all `q ≥ b`, and let
//! `A = U + L + D − diag` be the generator. Then
//!
//! ```text
//! x A = π_b D − π_{b−1} U,      x (D − U) 1 = π_b D 1
//! y A = (x − π_b) D − x U,      y (D − U) 1 = (x − π_b) D 1
//! ```
//!
//! If the phases change much more slowly than jobs arrive, most digits cancel. In that case the
//! sums are computed by doubling, without subtractions: `Σ_{k<2m} R^k = (I + R^m) Σ_{k<m} R^k`.

use nalgebra::{DMatrix, DVector, RowDVector};

use super::chain::SolverError;
use super::sojourn::{Excursions, sojourns};

/// The positive rates of a block with their row and column. Rates of the same entry are added.
pub type Block = Vec<(usize, usize, f64)>;

/// The rates of one level \[1/time\].
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// The number of phases.
    pub phases: usize,
    /// The rates to the level above.
    pub up: Block,
    /// The rates within the level.
    pub local: Block,
    /// The rates to the level below. This is empty on level 0.
    pub down: Block,
}

/// A QBD. The last boundary level must have as many phases as the repeating level.
#[derive(Clone, Debug)]
pub struct Qbd {
    /// The boundary levels from level 0 on, of which there is at least one.
    pub boundary: Vec<Level>,
    /// All levels above the boundary.
    pub repeating: Level,
}

impl SolverError {
    pub(super) fn not_converged(name: &str) -> Self {
        SolverError(format!(
            "{name} did not converge within {ITERATIONS} iterations"
        ))
    }

    /// Creates the error that is returned if the value of the mean is not possible.
    pub fn no_digit(mean: f64) -> Self {
        SolverError(format!(
            "cancellation destroyed all digits of the mean: {mean}"
        ))
    }

    /// Creates the error that is returned if the rounding errors of many levels are too large.
    pub fn deep(error: f64) -> Self {
        SolverError(format!(
            "the queue can get so long that rounding causes a relative error of {error:.1e} in its mean"
        ))
    }
}

/// The maximum residual of the equation of `G`, relative to the largest exit rate.
const RESIDUAL: f64 = 1e-13;

/// If the cancellation is larger than this, the levels are summed by doubling.
const CANCELLED: f64 = 1e5;

/// Levels are negligible (about `exp(−40)`) beyond this multiple of their mean distance to the
/// boundary. Each other level adds a relative rounding error.
const DEEP: f64 = 40.0;

/// The probabilities of the levels are rescaled above this value, so that they do not overflow.
const HUGE: f64 = 1e150;

/// Each iteration of a reduction doubles the number of levels, and no queue has `2^100` levels.
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

    fn cyclic_reduction(&self) -> Result<DMatrix<f64>, SolverError> {
        let (mut up, mut down) = (self.up.clone(), self.down.clone());
        let mut local = self.local.clone();
        let mut first = self.local.clone();
        for _ in 0..ITERATIONS {
            let stay = sojourns(&local, &(up.column_sum() + down.column_sum()));
            let (rise, fall) = (&stay * &up, stay * &down);
            // The rates of the phases can differ by many orders of magnitude, unlike probabilities.
            if rise.amax() <= f64::EPSILON / 16.0 {
                let exits = self.down.column_sum() + up.column_sum();
                return Ok(sojourns(&first, &exits) * &self.down);
            }
            let turn_above = &up * &fall;
            local += &turn_above + &down * &rise;
            first += turn_above;
            (up, down) = (&up * rise, &down * fall);
        }
        Err(SolverError::not_converged("cyclic reduction"))
    }

    fn check_residual(&self, g: &DMatrix<f64>) -> Result<(), SolverError> {
        let off_diagonal = self.local.column_sum() - self.local.diagonal();
        let leaving = self.up.column_sum() + off_diagonal + self.down.column_sum();
        let mut local = self.local.clone();
        local.set_diagonal(&-&leaving);
        let residual = (&self.down + (local + &self.up * g) * g).amax();
        if residual <= RESIDUAL * leaving.amax() {
            return Ok(());
        }
        Err(SolverError(format!(
            "the first-passage matrix has a residual of {:e}, expected at most {RESIDUAL:e}",
            residual / leaving.amax()
        )))
    }
}

impl Qbd {
    /// Computes the stationary distribution.
    ///
    /// # Errors
    /// Returns an error if the process is not stable, or if `G` does not converge.
    pub fn solve(&self) -> Result<Stationary, SolverError> {
        let rates = Rates::new(&self.repeating);
        let phases = Excursions::new(&(&rates.up + &rates.local + &rates.down));
        let outward = rates.down.column_sum() - rates.up.column_sum();
        let drift = (&phases.law * &outward)[0];
        let turnover = (&phases.law * rates.up.column_sum())[0];
        // If the drift is smaller than its rounding error, it is considered to be 0.
        if drift.is_nan() || drift <= 16.0 * f64::EPSILON * turnover {
            return Err(SolverError(format!(
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
            let law = entry * stay;
            let most = law.amax();
            laws.push(law);
            // With few jobs and many servers, levels far above fade to 0.
            if most > HUGE {
                let faded = |law: &&mut RowDVector<f64>| law.amax() > 0.0;
                let alive = laws.iter_mut().rev().take_while(faded);
                alive.for_each(|law| *law /= most);
            }
        }
        laws.reverse();
        laws
    }

    /// Returns the rates within boundary level `q` if the time spent below this level is ignored.
    /// `stay` contains the sojourn times on the level below.
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

pub(super) fn add_product(rates: &mut DMatrix<f64>, block: &Block, matrix: &DMatrix<f64>) {
    for &(s, t, rate) in block {
        let mut row = rates.row_mut(s);
        row += rate * matrix.row(t);
    }
}

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
    /// The probabilities `π_0, …, π_b`, where `b` is the first repeating level.
    levels: Vec<RowDVector<f64>>,
    /// The matrix `R`, where `π_{q+1} = π_q R` from level `b` on.
    decay: DMatrix<f64>,
    rates: Rates,
    phases: Excursions,
    outward: DVector<f64>,
    drift: f64,
    mean: f64,
    error: f64,
}

impl Stationary {
    /// Normalizes the levels and computes the mean level. `entry` is equal to `π_{b−1} U_{b−1}`.
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

    /// Returns the sums `Σ_k x R^k 1` and `Σ_k k x R^k 1` for a row `x ≥ 0`, by doubling.
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

    /// Returns the row `x` that is the solution of `x A = right` and `x (D − U) 1 = flow`.
    fn with_flow(&self, right: &RowDVector<f64>, flow: f64) -> RowDVector<f64> {
        let partial = self.phases.solve(right);
        let share = (flow - (&partial * &self.outward)[0]) / self.drift;
        partial + share * &self.phases.law
    }

    /// Returns how many times larger than `flow` the terms of [`Stationary::with_flow`] can be.
    fn cancellation(&self, terms: &RowDVector<f64>, flow: f64) -> f64 {
        (self.phases.sojourns_of(terms) * self.outward.abs())[0] / flow.abs()
    }

    /// Returns the probability of a level `q ≥ b` and above, from its law and the flow into it.
    fn mass_from(&self, level: &RowDVector<f64>, entry: &RowDVector<f64>) -> f64 {
        let fall = level * &self.rates.down;
        let flow = fall.sum();
        match self.cancellation(&(&fall + entry), flow) <= CANCELLED {
            true => self.with_flow(&(fall - entry), flow).sum(),
            false => self.summed(level).0,
        }
    }

    /// Returns the mean level.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns a bound on the relative rounding error of the mean, which adds up over the levels.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the probabilities of the levels 0, 1, …: a row with an entry for each phase. The
    /// iterator does not end. Each level takes `O(n²)` operations.
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

    /// Returns `P(level > q)` as a sum of probabilities. This takes `O(q n²)` operations.
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

    /// Returns the smallest `q` with `P(level > q) ≤ p`, and this probability.
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

    /// Computes [`Stationary::rarely_above`] for `q` above level `b`, by powers of `R`.
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
