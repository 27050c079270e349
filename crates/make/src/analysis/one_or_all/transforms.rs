use nalgebra::Complex;

use super::queue::MsfqQueue;

pub(super) type C = Complex<f64>;

/// Returns `1 − b`, where `b` is the transform of an M/M/1 busy period at `s`, without
/// cancellation. The result is the root `e` of `λ e² + (μ − λ + s) e = s` that is 0 if `s` is 0.
fn busy_period(arrivals: f64, service: f64, s: C) -> C {
    let gap = s + (service - arrivals);
    2.0 * s / (gap + (gap * gap + 4.0 * arrivals * s).sqrt())
}

impl MsfqQueue {
    /// Returns the rate of arrivals to the empty system of either a light job or a heavy job that
    /// is followed by a light job in the same busy period. A cycle in which there is no light job
    /// is not counted as a separate cycle. Otherwise, the rounding errors would be too large if
    /// light jobs are rare.
    pub(super) fn filling_rate(&self) -> f64 {
        let (light, heavy) = (self.light.arrival_rate, self.heavy);
        let followed = busy_period(heavy.arrival_rate, heavy.service_rate, light.into());
        light + heavy.arrival_rate * followed.re
    }

    /// Returns `1 − y'(1)`, where `y'(1)` is the mean number of light jobs that replace one.
    pub(super) fn contraction_gap(&self) -> f64 {
        let light = self.light.offered() / self.servers as f64;
        (1.0 - self.load()) / ((1.0 - light) * (1.0 - self.heavy.offered()))
    }
}

/// The values at a point `z`, stored as the difference from 1, which is the limit of the iteration.
struct Point {
    /// `1 − y(z)`, where `y` is the factor that replaces each light job after the first `k` jobs.
    next: C,
    /// `1 − f`.
    loss: C,
    excess: Vec<C>,
    grows: bool,
}

impl Point {
    fn new(queue: &MsfqQueue, u: C) -> Self {
        let (light, heavy, k) = (queue.light, queue.heavy, queue.servers);
        let w = light.arrival_rate * u;
        let alone = busy_period(heavy.arrival_rate, heavy.service_rate, w);
        let sigma = heavy.arrival_rate * alone;
        let all = k as f64 * light.service_rate;
        let next = busy_period(light.arrival_rate, all, sigma);
        let y = 1.0 - next;
        // `losses[i]` is one minus the factor for the passage from `i` light jobs to `i − 1`.
        let mut losses = vec![next; k + 1];
        for i in (1..k).rev() {
            let leaves = if i <= queue.threshold {
                sigma + w
            } else {
                sigma + light.arrival_rate * losses[i + 1]
            };
            losses[i] = leaves / (i as f64 * light.service_rate + leaves);
        }
        let mut excess = vec![C::ZERO; k];
        let mut loss = C::ZERO;
        for i in (1..k).rev() {
            excess[i] = loss;
            loss += (1.0 - loss) * (losses[i] - next) / y;
        }
        let mut g = C::ONE;
        for i in 1..k {
            g *= 1.0 - losses[i];
            excess[i] *= g;
        }
        let first = match k {
            1 => next,
            _ => losses[1],
        };
        let rate = queue.filling_rate();
        excess[0] = loss - (light.arrival_rate * first + heavy.arrival_rate * alone) / rate;
        Point {
            next,
            loss,
            excess,
            grows: losses.iter().all(|loss| loss.re <= 0.0),
        }
    }
}

/// Returns a radius of at most 2 for which the sums in [`iterate`] are power series. If `z` is
/// equal to this radius, all transforms exist and `y(z) < z`.
pub(super) fn reach(queue: &MsfqQueue) -> f64 {
    let exists = |radius: &f64| {
        let point = Point::new(queue, C::from(1.0 - radius));
        point.grows && point.next.im == 0.0 && point.next.re > 1.0 - radius
    };
    let mut radii = (0..24).map(|n| 1.0 + 0.5_f64.powi(n));
    radii.find(exists).map_or(1.0, f64::sqrt)
}

/// Returns `Σ_n F_n(z) a_i(z_n)` for each `i < k`, and `F_∞(z)`. Here, `z_0 = 1 − u`,
/// `z_{n+1} = y(z_n)`, and `F_n` is the product of the first `n` factors `f`. Returns `None` if the
/// number of steps is too large.
pub(super) fn iterate(queue: &MsfqQueue, u: C) -> Option<(Vec<C>, C)> {
    let mut sums = vec![C::ZERO; queue.servers];
    let (mut u, mut product) = (u, C::ONE);
    let end = 1e-17 * queue.contraction_gap();
    for _ in 0..MOST_STEPS {
        let point = Point::new(queue, u);
        for (sum, a) in sums.iter_mut().zip(&point.excess) {
            *sum += product * a;
        }
        let left = product.l1_norm();
        if left * (point.loss.l1_norm() + point.excess[0].l1_norm()) < end || left < end {
            return Some((sums, product));
        }
        product -= product * point.loss;
        u = point.next;
    }
    None
}

const MOST_STEPS: usize = 20_000;
