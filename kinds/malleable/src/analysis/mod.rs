//! The end times of a plan, and lower bounds on the cost of any plan.

mod orders;
mod rents;
#[cfg(test)]
mod tests;

pub(crate) use orders::{MOST, over_orders};
pub(crate) use rents::ascend;

use super::workload::{Pool, Stream};

/// Returns the time at which each job ends \[time\] at these prices, for `s(k) = k^p` with p < 1.
///
/// Let `b_i = a_i^{1/(1−p)}`. All jobs share a clock, whose rate is `(N/Σ b_j)^p` with the sum over
/// the remaining jobs. The job `i` ends at `x_i/b_i^p` on this clock. The computation uses
/// logarithms, because the values have no common scale if `p` is close to 1.
pub(crate) fn power_ends(pool: &Pool, prices: &[f64], p: f64) -> Vec<f64> {
    let share = |i: usize| prices[i].ln() / (1.0 - p);
    let clock = |i: usize| pool.jobs()[i].size.ln() - p * share(i);
    let mut order: Vec<usize> = (0..prices.len()).collect();
    order.sort_by(|&i, &j| clock(i).total_cmp(&clock(j)));
    // The sums are computed from the last job to end, so that there are no differences.
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

/// Returns a lower bound on the mean response time: the minimum if N only limits the mean number of
/// busy servers. All jobs then use the same number `k`, with `λE[S] k/s(k) = N`, or as many as they
/// can use. By weak duality with a constant rent, the bound is also valid for policies that know
/// all arrivals in advance.
pub fn relaxation(stream: &Stream) -> f64 {
    let curve = stream.curve();
    let most = curve.cap.min(stream.servers());
    let mean = stream.size().mean();
    let work = stream.arrival_rate() * mean;
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
