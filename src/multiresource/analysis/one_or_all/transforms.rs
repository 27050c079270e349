//! The law of the number of light jobs at the end of phase 1, as far as it is not geometric.

use nalgebra::{Complex, DMatrix, DVector};
use rayon::prelude::*;

use super::queue::MsfqQueue;

type C = Complex<f64>;

/// The transform of a busy period of an M/M/1 queue at s: the root in the unit disc of
/// `λ b² − (λ + μ + s) b + μ = 0`, without cancellation.
fn busy_period(arrivals: f64, service: f64, s: C) -> C {
    let sum = s + arrivals + service;
    2.0 * service / (sum + (sum * sum - 4.0 * arrivals * service).sqrt())
}

/// What is needed at one point z.
struct Point {
    /// y(z): what becomes of a light job beyond the k−th.
    y: C,
    f: C,
    /// `g_i − f y^i`, i < k.
    excess: Vec<C>,
}

impl Point {
    fn new(queue: &MsfqQueue, z: C) -> Self {
        let (light, heavy, k) = (queue.light, queue.heavy, queue.servers);
        // Arrivals of light jobs that are counted, and of heavy ones with the busy periods they start.
        let w = light.arrival_rate * (1.0 - z);
        let b = busy_period(heavy.arrival_rate, heavy.service_rate, w);
        let sigma = heavy.arrival_rate * (1.0 - b);
        let all = k as f64 * light.service_rate;
        let y = busy_period(light.arrival_rate, all, sigma);
        // factors[i - 1]: from i light jobs to i − 1.
        let mut factors = vec![y; k - 1];
        let mut above = y;
        for i in (1..k).rev() {
            let rate = i as f64 * light.service_rate;
            factors[i - 1] = if i <= queue.threshold {
                rate / (rate + sigma + w)
            } else {
                above = rate / (light.arrival_rate + rate + sigma - light.arrival_rate * above);
                above
            };
        }
        // g_i is the product of the first i factors; f y^i = g_i times the others, each over y.
        let mut excess = vec![C::ZERO; k];
        let mut g = C::ONE;
        for i in 1..k {
            g *= factors[i - 1];
            excess[i] = g;
        }
        let mut others = C::ONE;
        for i in (1..k).rev() {
            excess[i] *= 1.0 - others;
            others *= factors[i - 1] / y;
        }
        let f = others;
        // The empty system waits for a job of either type.
        let first = match k {
            1 => f * y,
            _ => factors[0],
        };
        let rates = light.arrival_rate + heavy.arrival_rate;
        excess[0] = (light.arrival_rate * first + heavy.arrival_rate * b) / rates - f;
        Point { y, f, excess }
    }
}

/// `Σ_n F_n(z) a_i(z_n)`, i < k, and `F_∞(z)`, with `z_0 = z, z_{n+1} = y(z_n)` and F_n the product
/// of the first n f. `None` when it does not converge.
fn iterate(queue: &MsfqQueue, z: C) -> Option<(Vec<C>, C)> {
    let mut sums = vec![C::ZERO; queue.servers];
    let (mut z, mut product) = (z, C::ONE);
    for _ in 0..MOST_STEPS {
        let point = Point::new(queue, z);
        for (sum, a) in sums.iter_mut().zip(&point.excess) {
            *sum += product * a;
        }
        product *= point.f;
        let before = (1.0 - z).norm();
        z = point.y;
        let distance = (1.0 - z).norm();
        // |1 − y(z)| ≤ y'(1) |1 − z|, until rounding is all that is left of it.
        if distance < 1e-16 || distance >= before {
            return (distance < 1e-12).then_some((sums, product));
        }
    }
    None
}

/// Steps from z to 1: they come closer by a factor y'(1) each.
const MOST_STEPS: usize = 20_000;

/// What is known on a circle |z| = r, at points of equal distance from r on: the coefficients of z^j,
/// j < k, by the trapezoidal rule.
struct Circle {
    /// Sums and products of [`iterate`] at the points of the upper half: the values at conjugate
    /// points are conjugate.
    values: Vec<(Vec<C>, C)>,
    points: Vec<C>,
    /// What the real and the imaginary parts of the values bring to a coefficient (k × points).
    weights: [DMatrix<f64>; 2],
}

impl Circle {
    fn new(queue: &MsfqQueue) -> Option<Self> {
        let k = queue.servers;
        // What is `points` further on comes in with r^points, and rounding is amplified by r^-k at
        // most: 130 times, and 20 000 times where there are many points to go through.
        let points = if k <= 128 { 8 * k.max(8) } else { 4 * k };
        let radius = 1e-17_f64.powf(1.0 / points as f64);
        let half = points / 2 + 1;
        let angle = std::f64::consts::TAU / points as f64;
        let at = |m: usize| C::from_polar(radius, angle * m as f64);
        let values: Option<_> = (0..half)
            .into_par_iter()
            .map(|m| iterate(queue, at(m)))
            .collect();
        let twice = |m: usize| if m == 0 || m == half - 1 { 1.0 } else { 2.0 };
        let weight = |j: usize, m: usize| twice(m) / points as f64 * radius.powi(-(j as i32));
        let turn = |j: usize, m: usize| angle * ((j * m) % points) as f64;
        Some(Circle {
            values: values?,
            points: (0..half).map(at).collect(),
            weights: [
                DMatrix::from_fn(k, half, |j, m| weight(j, m) * turn(j, m).cos()),
                DMatrix::from_fn(k, half, |j, m| weight(j, m) * turn(j, m).sin()),
            ],
        })
    }

    /// The first k coefficients of `columns` functions, whose values are `of(point, column)`.
    fn coefficients(&self, columns: usize, of: impl Fn(usize, usize) -> C) -> DMatrix<f64> {
        let half = self.points.len();
        let real = DMatrix::from_fn(half, columns, |m, i| of(m, i).re);
        let imaginary = DMatrix::from_fn(half, columns, |m, i| of(m, i).im);
        &self.weights[0] * real + &self.weights[1] * imaginary
    }
}

/// `p_0 … p_{k−1}`: the probabilities of fewer than k light jobs at the end of phase 1. `None` where
/// there is no answer with a digit left.
pub(super) fn few_light(queue: &MsfqQueue) -> Option<DVector<f64>> {
    let k = queue.servers;
    let circle = Circle::new(queue)?;
    let from_few = circle.coefficients(k, |m, i| circle.values[m].0[i]);
    let from_many = circle.coefficients(1, |m, _| circle.values[m].1);
    let found = (DMatrix::identity(k, k) - from_few)
        .lu()
        .solve(&from_many)?;
    let found = found.column(0).into_owned();
    found.iter().all(|p| p.is_finite()).then_some(found)
}

/// The probabilities that a light job which comes in phase 4 or 1 has 0, … k − 1 light ones before
/// it that came there too, if no phase is ever skipped: F_∞ then is the generating function of all
/// that come, in mean `mean`.
pub(super) fn few_before(queue: &MsfqQueue, mean: f64) -> Option<DMatrix<f64>> {
    let circle = Circle::new(queue)?;
    let age = |m: usize, _| (1.0 - circle.values[m].1) / (mean * (1.0 - circle.points[m]));
    Some(circle.coefficients(1, age))
}
