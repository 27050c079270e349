//! What a unit of work is worth in an optimal plan.
//!
//! While the k largest jobs remain, cost accrues at the rate `W_k`. If the optimal cost is linear in the sizes,
//! `V = Σ a_k x_k`, then dynamic programming says `max Σ_{i ≤ k} a_i s(θ_i) = W_k`: the work done in a unit of time is
//! worth what the unit costs. Of each k this determines one more price, and the maximizer is the plan while k remain.

use crate::malleable::policy::{Asks, divide};
use crate::malleable::workload::Curve;

/// The prices `a_1 ≤ a_2 ≤ …` of jobs from the largest on, with one speedup for all.
///
/// `weights` are those of the jobs, ascending: they do not favour large jobs. Without that the prices belong to no plan.
#[must_use]
pub fn prices(curve: &Curve, weights: &[f64], servers: f64) -> Vec<f64> {
    debug_assert!(weights.is_sorted());
    let mut prices: Vec<f64> = Vec::with_capacity(weights.len());
    let alone = curve.at(servers);
    let mut due = 0.0;
    for weight in weights {
        due += weight;
        let before = prices.last().copied().unwrap_or(0.0);
        let price = last_price(curve, &prices, due, servers, before.max(due / alone));
        prices.push(price.max(before));
    }
    prices
}

/// The price of the next job at which the work of all is worth `due`, by Newton's method: the worth is convex and
/// increasing in the price, so that from above every step stays above. `most` is above.
fn last_price(curve: &Curve, known: &[f64], due: f64, servers: f64, most: f64) -> f64 {
    let asks = |price| Asks { price, curve };
    let mut jobs: Vec<Asks<'_>> = known.iter().copied().chain([most]).map(asks).collect();
    let mut price = most;
    loop {
        jobs[known.len()].price = price;
        let taken = divide(&jobs, servers);
        let speeds = taken.iter().map(|k| curve.at(*k));
        let worth: f64 = speeds
            .zip(&jobs)
            .map(|(speed, job)| speed * job.price)
            .sum();
        let next = price - (worth - due) / curve.at(taken[known.len()]);
        if next >= price || (price - next) <= 2.0 * f64::EPSILON * price {
            return price;
        }
        price = next;
    }
}

/// The same for `s(k) = k^p`, p < 1, in closed form: `a_k s(N) = (W_k^c − W_{k−1}^c)^{1/c}`, c = 1/(1 − p).
///
/// Source: the heSRPT paper, theorem 8, there for weights 1.
#[must_use]
pub fn power_prices(p: f64, weights: &[f64], servers: f64) -> Vec<f64> {
    let c = 1.0 / (1.0 - p);
    let mut before = 0.0;
    let mut price = |weight: &f64| {
        let due: f64 = before + weight;
        // As it stands, W^c is beyond all numbers for many jobs and p near 1.
        let part = match before > 0.0 {
            true => -(c * (-weight / due).ln_1p()).exp_m1(),
            false => 1.0,
        };
        before = due;
        due * part.powf(1.0 - p) / servers.powf(p)
    };
    weights.iter().map(&mut price).collect()
}
