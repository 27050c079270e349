//! What plans are worth: when their jobs end, and what no plan costs less than.

mod orders;
mod rents;
#[cfg(test)]
mod tests;

pub use orders::{MOST, over_orders};
pub use rents::ascend;

use super::workload::{Pool, Stream};

/// When each job ends \[time\] under these prices, one a job, in the order of the workload, for `s(k) = k^p`, p < 1.
///
/// All rates have the same ratios to each other as long as both jobs run: with `b_i = a_i^{1/(1−p)}` job i ends when a clock
/// common to all shows `x_i/b_i^p`, and the clock runs at `(N/Σ b_j)^p`, summed over those that remain. All in logarithms: near
/// p = 1 these numbers have no common scale.
pub fn power_ends(pool: &Pool, prices: &[f64], p: f64) -> Vec<f64> {
    let share = |i: usize| prices[i].ln() / (1.0 - p);
    let clock = |i: usize| pool.jobs()[i].size.ln() - p * share(i);
    let mut order: Vec<usize> = (0..prices.len()).collect();
    order.sort_by(|&i, &j| clock(i).total_cmp(&clock(j)));
    // Summed from the last to end, so that no sum is a difference.
    let mut sums = vec![0.0; order.len()];
    let (mut most, mut sum) = (f64::NEG_INFINITY, 0.0);
    for (n, &i) in order.iter().enumerate().rev() {
        let own = share(i);
        if own > most {
            (sum, most) = (sum * (most - own).exp() + 1.0, own);
        } else {
            sum += (own - most).exp();
        }
        sums[n] = most + sum.ln();
    }
    let mut ends = vec![0.0; order.len()];
    let (mut now, mut shown) = (0.0, f64::NEG_INFINITY);
    for (n, &i) in order.iter().enumerate() {
        let at = clock(i);
        let part = -(shown - at).exp_m1();
        now += part * (at + p * (sums[n] - pool.servers().ln())).exp();
        shown = at;
        ends[i] = now;
    }
    ends
}

/// Returns the mean response time if N servers need only be enough in the mean: no policy has less, whatever it knows of
/// arrivals.
///
/// A job of size x on k servers all the time takes `x/s(k)` and k servers for that long. As many as there are in the mean are
/// enough for one k for all jobs: where `λE[S] k/s(k) = N`, or all, if they are not all used. By weak duality (rents that do not
/// change) no policy is better, also none that knows all arrivals before.
pub fn relaxation(stream: &Stream) -> f64 {
    let curve = stream.curve();
    let most = curve.cap.min(stream.servers());
    let mean = stream.size().mean();
    let work = stream.arrival_rate() * mean;
    // k/s(k) grows with k, and is constant where the speedup is linear.
    let fits = |k: f64| work * k / curve.at(k) <= stream.servers();
    if fits(most) {
        return mean / curve.at(most);
    }
    let (mut low, mut high) = (most * 1e-18, most);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        let end = if fits(middle) { &mut low } else { &mut high };
        *end = middle;
    }
    mean / curve.at(low)
}
