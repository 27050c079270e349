//! What a unit of work is worth in an optimal plan.

use super::{Asks, divide};
use crate::malleable::workload::Curve;

/// The prices `a_1, a_2, …` of jobs, each with its own curve, that end in the opposite order: the first is the last.
///
/// If under these prices they do end in that order, the plan costs `Σ a_k x_k`. With one curve for all, jobs from the
/// largest on and ascending weights that is so, the prices ascend, and no plan costs less.
#[must_use]
pub fn prices(curves: &[&Curve], weights: &[f64], servers: f64) -> Vec<f64> {
    let mut jobs: Vec<Asks<'_>> = Vec::with_capacity(weights.len());
    let mut due = 0.0;
    for (curve, weight) in curves.iter().zip(weights) {
        due += weight;
        push(&mut jobs, curve, due, servers);
    }
    jobs.iter().map(|job| job.price).collect()
}

/// The same with one curve for all, where the prices of the first jobs are known.
pub(super) fn extend_prices(known: &mut Vec<f64>, curve: &Curve, weights: &[f64], servers: f64) {
    if known.len() >= weights.len() {
        return;
    }
    let asks = |price: &f64| Asks {
        price: *price,
        curve,
    };
    let mut jobs: Vec<Asks<'_>> = known.iter().map(asks).collect();
    let mut due: f64 = weights[..known.len()].iter().sum();
    for weight in &weights[known.len()..] {
        due += weight;
        push(&mut jobs, curve, due, servers);
    }
    *known = jobs.iter().map(|job| job.price).collect();
}

/// One job more, which ends before all others.
fn push<'a>(jobs: &mut Vec<Asks<'a>>, curve: &'a Curve, due: f64, servers: f64) {
    // Alone on all servers it is worth that much, and with others no less.
    let price = due / curve.at(servers);
    jobs.push(Asks { price, curve });
    lower_last(jobs, due, servers);
}

/// Lowers the price of the last job until the work of all is worth `due`, by Newton's method: the worth is convex and
/// increasing in the price, so that from above every step stays above.
fn lower_last(jobs: &mut [Asks<'_>], due: f64, servers: f64) {
    let last = jobs.len() - 1;
    loop {
        let taken = divide(jobs, servers);
        let speeds = taken.iter().zip(&*jobs).map(|(k, job)| job.curve.at(*k));
        let speeds: Vec<f64> = speeds.collect();
        let worth: f64 = speeds
            .iter()
            .zip(&*jobs)
            .map(|(s, job)| s * job.price)
            .sum();
        let price = jobs[last].price;
        let next = price - (worth - due) / speeds[last];
        if !(price - next > 2.0 * f64::EPSILON * price) {
            return;
        }
        jobs[last].price = next;
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
