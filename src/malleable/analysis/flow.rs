//! When each job ends under a rule.

use crate::malleable::policy::Rule;
use crate::malleable::workload::{Pool, Speedup};

/// What may be left of a job that ends together with others, of its size.
const LEFT: f64 = 1e-12;

/// When each job ends \[time\], in the order of the workload; ∞ where it never does.
#[must_use]
pub fn completions(pool: &Pool, rule: &Rule) -> Vec<f64> {
    match (pool.curves(), rule) {
        ([curve], Rule::Prices(prices)) if !curve.whole && curve.cap >= pool.servers() => {
            match curve.speedup {
                Speedup::Power(p) if p < 1.0 => of_powers(pool, prices, p),
                _ => stage_by_stage(pool, rule),
            }
        }
        _ => stage_by_stage(pool, rule),
    }
}

/// Between two ends all rates are constant.
fn stage_by_stage(pool: &Pool, rule: &Rule) -> Vec<f64> {
    let jobs = pool.jobs();
    let mut left: Vec<f64> = jobs.iter().map(|job| job.size).collect();
    let mut ends = vec![f64::INFINITY; jobs.len()];
    let mut remaining: Vec<usize> = (0..jobs.len()).collect();
    let mut now = 0.0;
    while !remaining.is_empty() {
        let servers = rule.servers(pool, &remaining);
        let rate = |(i, k): (&usize, f64)| pool.curves()[jobs[*i].curve].at(k);
        let rates: Vec<f64> = remaining.iter().zip(servers).map(rate).collect();
        let time = |(i, rate): (&usize, &f64)| left[*i] / rate;
        let step = remaining
            .iter()
            .zip(&rates)
            .map(time)
            .fold(f64::INFINITY, f64::min);
        if step == f64::INFINITY {
            break;
        }
        now += step;
        for (i, rate) in remaining.iter().zip(&rates) {
            left[*i] -= rate * step;
        }
        remaining.retain(|&i| {
            let stays = left[i] > LEFT * jobs[i].size;
            if !stays {
                ends[i] = now;
            }
            stays
        });
    }
    ends
}

/// For `s(k) = k^p` all rates have the same ratios to each other as long as both jobs run: job i ends when a clock common
/// to all shows `x_i/b_i`, and the clock's speed is known from those that remain.
fn of_powers(pool: &Pool, prices: &[f64], p: f64) -> Vec<f64> {
    let c = 1.0 / (1.0 - p);
    let dearest = prices.iter().copied().fold(0.0, f64::max);
    let share = |price: &f64| (price / dearest).powf(c);
    let shares: Vec<f64> = prices.iter().map(share).collect();
    let clock = |i: usize| pool.jobs()[i].size / shares[i].powf(p);
    let mut order: Vec<usize> = (0..prices.len()).collect();
    order.sort_by(|&i, &j| clock(i).total_cmp(&clock(j)));
    // Summed from the last to end, so that no sum is a difference.
    let mut sums = vec![0.0; order.len()];
    let mut sum = 0.0;
    for (n, &i) in order.iter().enumerate().rev() {
        sum += shares[i];
        sums[n] = sum;
    }
    let mut ends = vec![0.0; order.len()];
    let (mut now, mut shown) = (0.0, 0.0);
    for (n, &i) in order.iter().enumerate() {
        let at = clock(i);
        now += (at - shown) * (sums[n] / pool.servers()).powf(p);
        shown = at;
        ends[i] = now;
    }
    ends
}
