//! How far a curve of loads stays in `Conv(S)`: headroom and worst response.
//!
//! Along the curve type i has `c_i(r)` times its load: `1 + ω_i r` for the headroom, and
//! `1/(1 − w_i r)`, r = 1/τ, for the worst response; both grow in r and are convex. Where the
//! workload of these loads has load 1, the curve leaves. Prices y of *its* certificate say that
//! no r beyond the root of `Σ y_i c_i(r) = Z` can be reached: Newton's step, from the right, for
//! the load as a function of r, and a bound that holds by itself.

use super::{ProgramError, Search};
use crate::multiresource::artifact::Balance;
use crate::multiresource::schedule::Packing;

/// Steps; five do where the load is proven.
const STEPS: usize = 40;

/// Improves the search until both sides meet or nothing moves. Of each type alone it takes a bound
/// first: beyond it the curve has no loads.
pub(super) fn run(search: &mut Search<'_>) -> Result<(), ProgramError> {
    let offered = search.offered.clone();
    for i in 0..offered.len() {
        let (prices, resource_prices) = alone(&search.packing, i);
        let most = f64::from(search.workload.most_alone(i));
        search.take_bound(prices, resource_prices, most);
    }
    for _ in 0..STEPS {
        if search.is_over() {
            break;
        }
        let factors = factors(search);
        let solution = search.solve_at(&factors)?;
        let loads: Vec<f64> = factors.iter().zip(&offered).map(|(c, b)| c * b).collect();
        let lower = search.take_certificate(&solution.certificate, &loads);
        let higher = search.take_mix(solution.mix);
        if !lower && !higher {
            break;
        }
    }
    Ok(())
}

/// The price 1 for one type alone, put on the resource that it is short of.
fn alone(packing: &Packing, i: usize) -> (Vec<f64>, Vec<f64>) {
    let (demand, capacity) = (packing.demand(i), packing.capacity());
    let share = |j: &usize| demand[*j] as f64 / capacity[*j].max(1) as f64;
    let short = (0..demand.len()).max_by(|a, b| share(a).total_cmp(&share(b)));
    let price = |j| match Some(j) == short {
        true => 1.0 / demand[j] as f64,
        false => 0.0,
    };
    let only = |h| f64::from(u8::from(h == i));
    (
        (0..packing.types()).map(only).collect(),
        (0..demand.len()).map(price).collect(),
    )
}

/// `c_i(r)` at the bound.
fn factors(search: &Search<'_>) -> Vec<f64> {
    let bound = search.best.bound;
    let weights = search.balancing.weights.iter();
    match search.balancing.aim {
        Balance::Headroom => weights.map(|w| 1.0 + w * bound).collect(),
        _ => weights.map(|w| 1.0 / (1.0 - w / bound)).collect(),
    }
}

/// The root s of `Σ y_i (1 + ω_i s) = Z`.
pub(super) fn headroom(weights: &[f64], works: &[f64], most: f64) -> f64 {
    let grown: f64 = weights.iter().zip(works).map(|(w, y)| w * y).sum();
    (most - works.iter().sum::<f64>()) / grown
}

/// The root r of `Σ y_i/(1 − w_i r) = Z`, below the first pole; 0 where it is not positive.
pub(super) fn inverse_response(weights: &[f64], works: &[f64], most: f64) -> f64 {
    let priced = || weights.iter().zip(works).filter(|(_, y)| **y > 0.0);
    let needed = |r: f64| -> f64 { priced().map(|(w, y)| y / (1.0 - w * r)).sum() };
    let largest = priced().map(|(w, _)| *w).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, 1.0 / largest);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            // From the right: what is not reached at `high` is not reached beyond.
            return high;
        }
        match needed(middle) <= most {
            true => low = middle,
            false => high = middle,
        }
    }
}
