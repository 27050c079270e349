//! How far a curve of loads stays in `Conv(S)`: headroom and worst response.
//!
//! Along the curve type i has `c_i(r)` times its load: `1 + ω_i r` for the headroom, and
//! `1/(1 − w_i r)`, r = 1/τ, for the worst response; both grow in r and are convex. Where the
//! workload of these loads has load 1, the curve leaves `Conv(S)`. Prices y of *its* certificate say that
//! no r beyond the root of `Σ y_i c_i(r) = Z` can be reached: Newton's step, from the right, for
//! the load as a function of r, and a bound that holds by itself.

use super::incumbent::Incumbent;
use crate::multiresource::artifact::Balance;
use crate::multiresource::program::ProgramError;
use crate::multiresource::schedule::Packing;

/// Steps; five suffice where the load is proven.
const STEPS: usize = 40;

/// Improves the incumbent until both sides meet or neither changes. First comes the bound of each
/// type alone: beyond it the curve has no loads.
pub(super) fn run(incumbent: &mut Incumbent<'_>) -> Result<(), ProgramError> {
    let offered = incumbent.offered.clone();
    for i in 0..offered.len() {
        let (prices, resource_prices) = alone(&incumbent.packing, i);
        let most = f64::from(incumbent.workload.most_alone(i));
        incumbent.take_bound(prices, (resource_prices, None), most);
    }
    for _ in 0..STEPS {
        if incumbent.is_over() {
            break;
        }
        let factors = factors(incumbent);
        let solution = incumbent.solve_at(&factors)?;
        let loads: Vec<f64> = factors.iter().zip(&offered).map(|(c, b)| c * b).collect();
        let lower = incumbent.take_certificate(&solution.certificate, &loads);
        let higher = incumbent.take_mix(solution.mix);
        if !lower && !higher {
            break;
        }
    }
    Ok(())
}

/// The price 1 for one type alone, put on the resource of which it takes the largest share.
fn alone(packing: &Packing, i: usize) -> (Vec<f64>, Vec<f64>) {
    let (demand, capacity) = (packing.demand(i), packing.capacity());
    let share = |j: &usize| match demand[*j] {
        0 => 0.0,
        d => d as f64 / capacity[*j] as f64,
    };
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
fn factors(incumbent: &Incumbent<'_>) -> Vec<f64> {
    let bound = incumbent.best.bound;
    let weights = incumbent.balancing.weights.iter();
    match incumbent.balancing.aim {
        Balance::Headroom => weights.map(|w| 1.0 + w * bound).collect(),
        _ => weights.map(|w| 1.0 / (1.0 - w / bound)).collect(),
    }
}
