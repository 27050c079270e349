//! When each job of a pool ends where all speedups are the same power, without a step from stage to stage.

use crate::malleable::workload::Pool;

/// When each job ends \[time\] under these prices, one a job, in the order of the workload, for `s(k) = k^p`, p < 1.
///
/// All rates have the same ratios to each other as long as both jobs run: with `b_i = a_i^{1/(1−p)}` job i ends when a clock
/// common to all shows `x_i/b_i^p`, and the clock runs at `(N/Σ b_j)^p`, summed over those that remain. All in logarithms: near
/// p = 1 these numbers have no common scale.
#[must_use]
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
        match own > most {
            true => (sum, most) = (sum * (most - own).exp() + 1.0, own),
            false => sum += (own - most).exp(),
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
