//! What no policy can do better, from prices alone.
//!
//! Let `a_1 ≤ a_2 ≤ …` be prices, and `V(x) = Σ a_k x_(k)` with what is left of the jobs sorted from the largest on. While k
//! jobs are left, V falls no faster than `max Σ_{i ≤ k} a_i s(θ_i)`, with s the best of the speedups, and cost accrues at
//! least as fast as the k smallest weights, `U_k`. If for each k that maximum is at most `U_k`, no policy costs less than V of
//! the sizes. The maximum is bounded by weak duality: for any rent ν it is at most `νN + Σ max_θ (a_i s(θ) − νθ)`.

use crate::malleable::workload::{Curve, Job, Pool, Speedup};

/// Halvings of the rent: sums are then as near to their least as numbers are.
const HALVINGS: usize = 52;

/// The least cost that follows from prices, from the largest job on; or for which number of jobs they say too much.
pub(super) fn least_cost(pool: &Pool, prices: &[f64], near: f64) -> Result<f64, String> {
    let mut weights: Vec<f64> = pool.jobs().iter().map(|job| job.weight).collect();
    weights.sort_by(f64::total_cmp);
    let mut due = 0.0;
    let mut rent = prices[0];
    let mut powers = 0.0;
    for (k, weight) in weights.iter().enumerate() {
        due += weight;
        let worth = match pool.curves() {
            // By Hölder's inequality.
            [
                Curve {
                    speedup: Speedup::Power(p),
                    whole: false,
                    ..
                },
            ] if *p < 1.0 => {
                powers += (prices[k] / prices[prices.len() - 1]).powf(1.0 / (1.0 - p));
                prices[prices.len() - 1] * pool.servers().powf(*p) * f64::powf(powers, 1.0 - p)
            }
            _ => most_worth(pool, &prices[..=k], &mut rent),
        };
        // Of powers the first sums may be too small for numbers; then they are far below what is due.
        if worth > due * (1.0 + near) {
            return Err(format!(
                "{} jobs do work that is worth {worth} at these prices, expected at most {due}",
                k + 1
            ));
        }
    }
    let sizes = pool.by_size().into_iter().map(|i| pool.jobs()[i].size);
    Ok(sizes.zip(prices).map(|(size, price)| size * price).sum())
}

/// What is surely not less than the worth of the work that jobs can do at these prices; `rent` is a first guess, and the
/// best one afterwards.
fn most_worth(pool: &Pool, prices: &[f64], rent: &mut f64) -> f64 {
    // What a job takes and what it gains beside the rent, at the speedup that is best for it.
    let gain = |price: f64, rent: f64| {
        let of = |curve: &Curve| {
            let k = curve.demand(rent / price).0.min(pool.servers());
            (price * curve.at(k) - rent * k, k)
        };
        let all = pool.curves().iter().map(of);
        all.fold(
            (0.0, 0.0),
            |best: (f64, f64), new| if new.0 > best.0 { new } else { best },
        )
    };
    let taken = |rent: f64| prices.iter().map(|a| gain(*a, rent).1).sum::<f64>();
    let (mut low, mut high) = (*rent, *rent);
    while taken(high) > pool.servers() {
        high *= 2.0;
    }
    while taken(low) < pool.servers() && low > f64::MIN_POSITIVE {
        low /= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        match taken(middle) > pool.servers() {
            true => low = middle,
            false => high = middle,
        }
    }
    *rent = high;
    let gains: f64 = prices.iter().map(|a| gain(*a, high).0).sum();
    high * pool.servers() + gains
}

/// A time before which not all jobs can have ended: at `time` they need all servers there are.
pub(super) fn least_makespan(pool: &Pool, time: f64, near: f64) -> Result<(), String> {
    let early = time * (1.0 - near);
    let needs = |job: &Job| pool.curves()[job.curve].servers_for(job.size / early);
    let needs: Option<f64> = pool.jobs().iter().map(needs).sum();
    match needs {
        Some(needs) if needs < pool.servers() => Err(format!(
            "all jobs can have ended before {time}, on {needs} servers"
        )),
        _ => Ok(()),
    }
}
