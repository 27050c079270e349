use nalgebra::{DMatrix, DVector, Dyn, LU};
use rayon::prelude::*;

use super::queue::MsfqQueue;
use super::transforms::{C, iterate, reach};

/// Values of functions at equally spaced points on the circle `|z| = r`, starting at `z = r`. The
/// trapezoidal rule gives the coefficients of `z^j` for `j < k`.
struct Circle {
    /// The results of [`iterate`] at the points of the upper half circle; the others are conjugate.
    values: Vec<(Vec<C>, C)>,
    /// The values of `1 − z` at these points.
    gaps: Vec<C>,
    /// The factors of the real and imaginary parts in each coefficient (k × points).
    weights: [DMatrix<f64>; 2],
    /// The largest rounding errors of the coefficients, for functions of magnitude 1.
    noise: DVector<f64>,
}

impl Circle {
    fn new(queue: &MsfqQueue) -> Option<Self> {
        let k = queue.servers;
        // The later coefficients cause an error of `(r/reach)^points`, at most 1e-17. Rounding
        // errors are amplified by `r^-k`. If the coefficients do not decrease, this is at most 130
        // for `k ≤ 128`, and at most 20 000 otherwise, to save points.
        let points = if k <= 128 { 8 * k.max(8) } else { 4 * k };
        let radius = reach(queue) * 1e-17_f64.powf(1.0 / points as f64);
        let radius = radius.min(0.995);
        let half = points / 2 + 1;
        let angle = std::f64::consts::TAU / points as f64;
        let at = |m: usize| 1.0 - C::from_polar(radius, angle * m as f64);
        let gaps: Vec<C> = (0..half).map(at).collect();
        let values: Option<_> = gaps.par_iter().map(|gap| iterate(queue, *gap)).collect();
        let twice = |m: usize| if m == 0 || m == half - 1 { 1.0 } else { 2.0 };
        let power = |j: usize| radius.powi(-(j as i32));
        let weight = |j: usize, m: usize| twice(m) / points as f64 * power(j);
        let turn = |j: usize, m: usize| angle * ((j * m) % points) as f64;
        let rounding = 2.0 * f64::EPSILON * (k as f64).sqrt();
        Some(Circle {
            values: values?,
            gaps,
            weights: [
                DMatrix::from_fn(k, half, |j, m| weight(j, m) * turn(j, m).cos()),
                DMatrix::from_fn(k, half, |j, m| weight(j, m) * turn(j, m).sin()),
            ],
            noise: DVector::from_fn(k, |j, _| rounding * power(j)),
        })
    }

    /// Returns the first k coefficients of `columns` functions with the values `of(point, column)`.
    fn coefficients(&self, columns: usize, of: impl Fn(usize, usize) -> C) -> DMatrix<f64> {
        let half = self.gaps.len();
        let real = DMatrix::from_fn(half, columns, |m, i| of(m, i).re);
        let imaginary = DMatrix::from_fn(half, columns, |m, i| of(m, i).im);
        &self.weights[0] * real + &self.weights[1] * imaginary
    }
}

/// The probabilities that there are fewer than `k` light jobs at the end of phase 1.
pub(super) struct LightAtPhaseEnd {
    pub few: DVector<f64>,
    equations: LU<f64, Dyn, Dyn>,
    /// The largest rounding error of each equation.
    noise: DVector<f64>,
}

impl LightAtPhaseEnd {
    pub(super) fn new(queue: &MsfqQueue) -> Option<Self> {
        let k = queue.servers;
        let circle = Circle::new(queue)?;
        let from_few = circle.coefficients(k, |m, i| circle.values[m].0[i]);
        let from_many = circle.coefficients(1, |m, _| circle.values[m].1);
        let equations = (DMatrix::identity(k, k) - from_few).lu();
        let few = equations.solve(&from_many)?.column(0).into_owned();
        // The size of each function is weighted with its probability.
        let largest = |of: &dyn Fn(usize) -> C| {
            let sizes = (0..circle.gaps.len()).map(|m| of(m).norm());
            sizes.fold(0.0, f64::max)
        };
        let sums = few.iter().enumerate();
        let sums = sums.map(|(i, p)| p.abs() * largest(&|m| circle.values[m].0[i]));
        let size = sums.sum::<f64>() + largest(&|m| circle.values[m].1);
        Some(LightAtPhaseEnd {
            few,
            equations,
            noise: circle.noise * size,
        })
    }

    /// Returns the largest rounding error of a function with these derivatives.
    pub(super) fn error(&self, derivatives: &DVector<f64>) -> f64 {
        // If `P M = L U`, adding `e` to the right-hand side of `M x` changes `d·x` by `(M⁻ᵀ d)·e`.
        let (l, u) = (self.equations.l(), self.equations.u());
        let weights = u.tr_solve_upper_triangular(derivatives);
        let weights = weights.and_then(|w| l.tr_solve_lower_triangular(&w));
        weights.map_or(f64::INFINITY, |mut weights| {
            self.equations.p().inv_permute_rows(&mut weights);
            weights.abs().dot(&self.noise)
        })
    }
}

/// Returns the probability that exactly `n` light jobs arrived before a given light job in the same
/// phases 4 and 1, for each `n < k`. If no phase is skipped, `F_∞` is their generating function,
/// with this `mean`.
pub(super) fn few_before(queue: &MsfqQueue, mean: f64) -> Option<DMatrix<f64>> {
    let circle = Circle::new(queue)?;
    let age = |m: usize, _| (1.0 - circle.values[m].1) / (mean * circle.gaps[m]);
    Some(circle.coefficients(1, age))
}
