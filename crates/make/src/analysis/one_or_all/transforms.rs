//! The transforms of a cycle, and their sums over all cycles to come.

use nalgebra::Complex;

use super::queue::MsfqQueue;

pub(super) type C = Complex<f64>;

/// `1 − b` for the transform b of a busy period of an M/M/1 queue at s, without cancellation: the root e
/// of `λ e² + (μ − λ + s) e = s` that is 0 for s = 0.
fn busy_period(arrivals: f64, service: f64, s: C) -> C {
    let gap = s + (service - arrivals);
    2.0 * s / (gap + (gap * gap + 4.0 * arrivals * s).sqrt())
}

impl MsfqQueue {
    /// Returns the rate at which the empty system meets a light job, or a heavy one in whose busy period a light
    /// one comes. After any other heavy job the system is empty again: that counts as the same cycle.
    /// Where light jobs are rare nearly all cycles would be such ones otherwise, and their rounding errors
    /// larger than the probabilities of all others.
    pub(super) fn filling_rate(&self) -> f64 {
        let (light, heavy) = (self.light.arrival_rate, self.heavy);
        let followed = busy_period(heavy.arrival_rate, heavy.service_rate, light.into());
        light + heavy.arrival_rate * followed.re
    }

    /// `1 − y'(1)`: by how much the light jobs that come while one beyond the k-th is served, and the heavy
    /// ones with their busy periods that come then, are fewer than one in the mean.
    pub(super) fn contraction_gap(&self) -> f64 {
        let light = self.light.offered() / self.servers as f64;
        (1.0 - self.load()) / ((1.0 - light) * (1.0 - self.heavy.offered()))
    }
}

/// What is needed at one point z. All is counted from 1, where the iteration ends, since what is next to 1
/// decides about phases that last long.
struct Point {
    /// 1 − y(z): what becomes of a light job beyond the k−th.
    next: C,
    /// 1 − f.
    loss: C,
    /// `g_i − f y^i`, i < k.
    excess: Vec<C>,
    /// At a real z > 1: whether all transforms exist, and so are more than 1.
    grows: bool,
}

impl Point {
    /// At z = 1 − u.
    fn new(queue: &MsfqQueue, u: C) -> Self {
        let (light, heavy, k) = (queue.light, queue.heavy, queue.servers);
        // Arrivals of light jobs that are counted, and of heavy ones with the busy periods they start.
        let w = light.arrival_rate * u;
        let alone = busy_period(heavy.arrival_rate, heavy.service_rate, w);
        let sigma = heavy.arrival_rate * alone;
        let all = k as f64 * light.service_rate;
        let next = busy_period(light.arrival_rate, all, sigma);
        let y = 1.0 - next;
        // losses[i]: one minus the factor that goes with the way from i light jobs to i − 1.
        let mut losses = vec![next; k + 1];
        for i in (1..k).rev() {
            let leaves = if i <= queue.threshold {
                sigma + w
            } else {
                sigma + light.arrival_rate * losses[i + 1]
            };
            losses[i] = leaves / (i as f64 * light.service_rate + leaves);
        }
        // g_i is the product of the first i factors; f y^i = g_i times the others, each over y.
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

/// Returns the radius up to which the sums of [`iterate`] are power series, or half way to it on a logarithmic
/// scale, and at most 2: all transforms exist there, and y(z) < z.
pub(super) fn reach(queue: &MsfqQueue) -> f64 {
    let exists = |radius: &f64| {
        let point = Point::new(queue, C::from(1.0 - radius));
        point.grows && point.next.im == 0.0 && point.next.re > 1.0 - radius
    };
    let mut radii = (0..24).map(|n| 1.0 + 0.5_f64.powi(n));
    radii.find(exists).map_or(1.0, f64::sqrt)
}

/// `Σ_n F_n(z) a_i(z_n)`, i < k, and `F_∞(z)`, with `z_0 = 1 − u, z_{n+1} = y(z_n)` and F_n the product
/// of the first n f. `None` when it takes too many steps.
pub(super) fn iterate(queue: &MsfqQueue, u: C) -> Option<(Vec<C>, C)> {
    let mut sums = vec![C::ZERO; queue.servers];
    let (mut u, mut product) = (u, C::ONE);
    // What is left out comes closer to nothing by a factor y'(1) a step.
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

/// The most steps from z to 1.
const MOST_STEPS: usize = 20_000;
