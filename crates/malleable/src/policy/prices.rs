//! What a unit of work is worth in an optimal plan.

use super::{Asks, divide};
use crate::workload::Curve;

/// The prices `a_1, a_2, …` of jobs, each with its own curve, that end in the opposite order: the first is the last.
///
/// If under these prices they do end in that order, the plan costs `Σ a_k x_k`. With one curve for all, jobs from the
/// largest on and ascending weights that is so, the prices ascend, and no plan costs less.
pub fn prices(curves: &[&Curve], weights: &[f64], servers: f64) -> Vec<f64> {
    let mut prices = Prices::new(servers);
    for (curve, weight) in curves.iter().zip(weights) {
        prices.push(curve, *weight);
    }
    prices.jobs.iter().map(|job| job.price).collect()
}

/// Prices that are found job by job.
#[derive(Clone, Debug)]
pub struct Prices<'a> {
    servers: f64,
    jobs: Vec<Asks<'a>>,
    /// W_k of the jobs so far.
    due: f64,
}

impl<'a> Prices<'a> {
    /// Of no job so far.
    pub fn new(servers: f64) -> Self {
        Prices {
            servers,
            jobs: Vec::new(),
            due: 0.0,
        }
    }

    /// The price of a job that ends before all others so far.
    pub fn push(&mut self, curve: &'a Curve, weight: f64) -> f64 {
        self.due += weight;
        // Alone on all servers it is worth that much, and with others no less.
        let price = self.due / curve.at(self.servers);
        self.jobs.push(Asks { price, curve });
        lower_last(&mut self.jobs, self.due, self.servers)
    }
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
    let mut prices = Prices {
        servers,
        jobs: known.iter().map(asks).collect(),
        due: weights[..known.len()].iter().sum(),
    };
    for weight in &weights[known.len()..] {
        known.push(prices.push(curve, *weight));
    }
}

/// Lowers the price of the last job until the work of all is worth `due`, by Newton's method: the worth is convex and
/// increasing in the price, so that from above every step stays above.
fn lower_last(jobs: &mut [Asks<'_>], due: f64, servers: f64) -> f64 {
    let last = jobs.len() - 1;
    loop {
        let (mut worth, mut speed) = (0.0, 0.0);
        for (k, job) in divide(jobs, servers).into_iter().zip(&*jobs) {
            speed = job.curve.at(k);
            worth += speed * job.price;
        }
        let price = jobs[last].price;
        // `speed` is that of the last job.
        let next = price - (worth - due) / speed;
        let lower = price - next > 2.0 * f64::EPSILON * price && next > 0.0;
        if !lower {
            return price;
        }
        jobs[last].price = next;
    }
}

/// The same for `s(k) = k^p`, p < 1, in closed form: `a_k s(N) = (W_k^c − W_{k−1}^c)^{1/c}`, c = 1/(1 − p).
///
/// Source: the heSRPT paper, theorem 8, there for weights 1.
pub fn power_prices(p: f64, weights: &[f64], servers: f64) -> Vec<f64> {
    let c = 1.0 / (1.0 - p);
    let mut before = 0.0;
    let mut price = |weight: &f64| {
        let due: f64 = before + weight;
        // As it stands, W^c is beyond all numbers for many jobs and p near 1.
        let below = -(c * (-weight / due).ln_1p()).exp_m1();
        let part = if before > 0.0 { below } else { 1.0 };
        before = due;
        due * part.powf(1.0 - p) / servers.powf(p)
    };
    weights.iter().map(&mut price).collect()
}

/// Makes prices ascend, as they do but for their last digits: a smaller job gets no fewer servers.
pub fn ascending(prices: &mut [f64]) {
    let mut most = 0.0;
    for price in prices {
        *price = f64::max(*price, most);
        most = *price;
    }
}
