use nalgebra::Complex;

use super::queue::MsfqQueue;

pub(super) type C = Complex<f64>;

/// Returns `1 − b` without cancellation, where `b` is the transform of an M/M/1 busy period: the
/// root `e` of `λ e² + (μ − λ + s) e = s` that is 0 if `s` is 0.
fn busy_period(arrivals: f64, service: f64, s: C) -> C {
    let gap = s + (service - arrivals);
    2.0 * s / (gap + (gap * gap + 4.0 * arrivals * s).sqrt())
}

impl MsfqQueue {
    /// Returns the rate of arrivals to the empty system of either a light job or a heavy job in
    /// whose busy period a light job arrives. After any other heavy job, the system is empty again,
    /// and this is a part of the same cycle. Otherwise, almost all cycles would be of this kind if
    /// light jobs are rare, with rounding errors larger than the probabilities of the other cycles.
    pub(super) fn filling_rate(&self) -> f64 {
        let (light, heavy) = (self.light.arrival_rate, self.heavy);
        let followed = busy_period(heavy.arrival_rate, heavy.service_rate, light.into());
        light + heavy.arrival_rate * followed.re
    }

    /// Returns `1 − y'(1)`. For each light job in excess of `k` at the start of a cycle, there are
    /// `y'(1)` more light jobs at its end on average.
    pub(super) fn contraction_gap(&self) -> f64 {
        let light = self.light.offered() / self.servers as f64;
        (1.0 - self.load()) / ((1.0 - light) * (1.0 - self.heavy.offered()))
    }
}

/// The values at a point `z`, stored as the difference from 1, which is the limit of the iteration.
struct Point {
    /// `1 − y(z)`, where `y` is the factor for each light job after the first `k` jobs.
    next: C,
    /// `1 − f`.
    loss: C,
    /// `g_i − f y^i` for each `i < k`.
    excess: Vec<C>,
    /// For a real `z > 1`, whether all transforms exist, in which case they are at least 1.
    grows: bool,
}

impl Point {
    /// Computes the values at `z = 1 − u`.
    fn new(queue: &MsfqQueue, u: C) -> Self {
        let (light, heavy, k) = (queue.light, queue.heavy, queue.servers);
        // The exponents of the light arrivals, and of the heavy arrivals with their busy periods.
        let w = light.arrival_rate * u;
        let alone = busy_period(heavy.arrival_rate, heavy.service_rate, w);
        let sigma = heavy.arrival_rate * alone;
        let all = k as f64 * light.service_rate;
        let next = busy_period(light.arrival_rate, all, sigma);
        let y = 1.0 - next;
        // `losses[i]` is one minus the factor for the passage from `i` light jobs to `i − 1`.
        let mut losses = vec![next; k + 1];
        for i in (1..k).rev() {
            let leaves = match i <= queue.threshold {
                true => sigma + w,
                false => sigma + light.arrival_rate * losses[i + 1],
            };
            losses[i] = leaves / (i as f64 * light.service_rate + leaves);
        }
        // `g_i` is the product of the factors of the first `i` passages, and `f y^i` is `g_i` times
        // the factors of the other passages, each divided by `y`.
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

/// Returns a radius up to which the sums in [`iterate`] are power series: the square root of the
/// largest of the radii 2, 1.5, 1.25, … for which all transforms exist and `y(z) < z`, or else 1.
pub(super) fn reach(queue: &MsfqQueue) -> f64 {
    let exists = |radius: &f64| {
        let point = Point::new(queue, C::from(1.0 - radius));
        point.grows && point.next.im == 0.0 && point.next.re > 1.0 - radius
    };
    let mut radii = (0..24).map(|n| 1.0 + 0.5_f64.powi(n));
    radii.find(exists).map_or(1.0, f64::sqrt)
}

/// Returns `Σ_n F_n(z) a_i(z_n)` (k) and `F_∞(z)`, or `None` after too many steps. Here, `F_n` is
/// the product of `n` factors `f`, `a_i = g_i − f y^i`, `z_0 = 1 − u`, and `z_{n+1} = y(z_n)`.
pub(super) fn iterate(queue: &MsfqQueue, u: C) -> Option<(Vec<C>, C)> {
    let mut sums = vec![C::ZERO; queue.servers];
    let (mut u, mut product) = (u, C::ONE);
    // The rest of the sums decreases by the factor `y'(1)` in each step.
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
