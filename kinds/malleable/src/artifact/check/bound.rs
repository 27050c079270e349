//! Computes lower bounds on the cost of any policy from the prices of work or the rents of servers.
//!
//! # Prices
//!
//! Let `a_1 ≤ a_2 ≤ …` be the prices, and let `V(x) = Σ a_k x_(k)` for the remaining sizes in
//! descending order. With `k` jobs, `V` decreases at most at the rate `max Σ_{i ≤ k} a_i s(θ_i)`,
//! where `s` is the best of the speedups, and the cost increases at least at the rate `U_k`, the
//! sum of the `k` smallest weights. If the maximum is at most `U_k` for each `k`, then `V` of the
//! sizes is a lower bound for any policy. By weak duality, the maximum is at most
//! `νN + Σ max_θ (a_i s(θ) − νθ)` for any rent `ν`.
//!
//! # Rents
//!
//! If the rent of a server is `ν(t) ≥ 0`, the cost of a policy is at least the sum of the minimum
//! costs of the single jobs with this rent, minus `N ∫ν`. If the job `i` ends at time `T`, its cost
//! is at least `w_i T + max_a (a x_i − ∫_0^T g_i(a, ν))` with `g_i(a, ν) = max_θ (a s_i(θ) − νθ)`.
//! If the rent is constant in an interval that starts at `t` and contains `T`, the cost is at least
//! `a x_i + w_i t − ∫_0^t g_i − max(0, g_i − w_i)·length` for any `a`.

use super::thirds;
use crate::artifact::Rent;
use crate::workload::{Curve, Job, Pool};

const HALVINGS: usize = 52;

/// Returns the bound from the prices, the largest job first, or an error if they are too high.
pub(super) fn least_cost(pool: &Pool, prices: &[f64], near: f64) -> Result<f64, String> {
    let mut weights: Vec<f64> = pool.jobs().iter().map(|job| job.weight).collect();
    weights.sort_by(f64::total_cmp);
    let jobs = prices.iter().map(|price| (*price, pool.curves()));
    let jobs: Vec<(f64, &[Curve])> = jobs.collect();
    let (mut due, mut rent, mut powers) = (0.0, prices[0], 0.0);
    for (k, weight) in weights.iter().enumerate() {
        due += weight;
        let worth = match pool.curves() {
            // This follows from Hölder's inequality.
            [curve] if let Some(p) = curve.smooth_power(pool.servers()) => {
                let most = prices[prices.len() - 1];
                powers += (prices[k] / most).powf(1.0 / (1.0 - p));
                most * pool.servers().powf(p) * f64::powf(powers, 1.0 - p)
            }
            _ => most_worth(pool.servers(), &mut rent, &jobs[..=k]),
        };
        // If the first sums of powers underflow, the worth is far below the limit.
        if worth > due * (1.0 + near) {
            return Err(format!(
                "the work of {} jobs is worth {worth} per unit of time at these prices, expected at most {due}",
                k + 1
            ));
        }
    }
    let sizes = pool.by_size().into_iter().map(|i| pool.jobs()[i].size);
    Ok(sizes.zip(prices).map(|(size, price)| size * price).sum())
}

/// Returns an upper bound on the worth of the work per unit of time, where each job has a price and
/// the best of its speedups. The first guess `rent` is replaced by the best rent.
pub(super) fn most_worth(servers: f64, rent: &mut f64, jobs: &[(f64, &[Curve])]) -> f64 {
    let gain = |(price, curves): (f64, &[Curve]), rent: f64| {
        let each = curves.iter().map(|curve| {
            let k = curve.demand(rent / price).0.min(servers);
            (price * curve.at(k) - rent * k, k)
        });
        each.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
    };
    let taken = |rent: f64| jobs.iter().map(|job| gain(*job, rent).1).sum::<f64>();
    let (mut low, mut high) = (*rent, *rent);
    while taken(high) > servers {
        high *= 2.0;
    }
    while taken(low) < servers && low > 1e-290 {
        low /= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        let is_cheap = taken(middle) > servers;
        let end = if is_cheap { &mut low } else { &mut high };
        *end = middle;
    }
    *rent = high;
    high * servers + jobs.iter().map(|job| gain(*job, high).0).sum::<f64>()
}

/// Checks that the jobs need at least all servers to end before this time.
pub(super) fn least_makespan(pool: &Pool, time: f64, near: f64) -> Result<(), String> {
    let early = time * (1.0 - near);
    let needs = |job: &Job| pool.curves()[job.curve].servers_for(job.size / early);
    let needs: Option<f64> = pool.jobs().iter().map(needs).sum();
    let enough = needs.filter(|needs| *needs < pool.servers());
    let why = |n| format!("all jobs can end before {time} on {n} servers");
    enough.map_or(Ok(()), |n| Err(why(n)))
}

pub(super) fn least_with_rents(pool: &Pool, rents: &[Rent]) -> f64 {
    let mut before = 0.0;
    let paid = |rent: &Rent| rent.rent * (rent.until - std::mem::replace(&mut before, rent.until));
    let paid: f64 = pool.servers() * rents.iter().map(paid).sum::<f64>();
    let alone = pool.jobs().iter().map(|job| {
        let within = |least: f64, n| least.min(ending_within(pool, job, rents, n, least));
        (0..=rents.len()).fold(f64::INFINITY, within)
    });
    alone.sum::<f64>() - paid
}

/// Returns a lower bound on the cost of a job that ends in interval `n`. The search for the best
/// one stops at `enough`.
fn ending_within(pool: &Pool, job: &Job, rents: &[Rent], n: usize, enough: f64) -> f64 {
    let curve = &pool.curves()[job.curve];
    let most = curve.cap.min(pool.servers());
    let gain = |a: f64, rent: f64| {
        let k = curve.demand(rent / a).0.min(most);
        a * curve.at(k) - rent * k
    };
    let start = n.checked_sub(1).map_or(0.0, |n| rents[n].until);
    let worth = |a: f64| {
        let (mut before, mut gained) = (0.0, 0.0);
        for rent in &rents[..n] {
            gained += gain(a, rent.rent) * (rent.until - before);
            before = rent.until;
        }
        let rest = match rents.get(n) {
            Some(rent) => (gain(a, rent.rent) - job.weight).max(0.0) * (rent.until - start),
            // After the last rent, the servers are free, so the price cannot be this high.
            None if a * curve.at(most) > job.weight => return f64::NEG_INFINITY,
            None => 0.0,
        };
        a * job.size + job.weight * start - gained - rest
    };
    let (mut low, mut high) = (0.0, job.weight / curve.at(most));
    if n < rents.len() {
        high = 64.0 * (job.weight * start / job.size + high);
        while worth(2.0 * high) > worth(high) && high < 1e200 {
            high *= 2.0;
        }
        high *= 2.0;
    }
    let part = 0.5 * (5f64.sqrt() - 1.0);
    let mut inner = [high - part * (high - low), low + part * (high - low)];
    let mut found = inner.map(worth);
    let mut best = worth(high).max(worth(low)).max(found[0]).max(found[1]);
    for _ in 0..SECTIONS {
        if best >= enough {
            break;
        }
        if found[0] < found[1] {
            low = inner[0];
            inner = [inner[1], low + part * (high - low)];
            found = [found[1], worth(inner[1])];
        } else {
            high = inner[1];
            inner = [high - part * (high - low), inner[0]];
            found = [worth(inner[0]), found[0]];
        }
        best = best.max(found[0]).max(found[1]);
    }
    best
}

/// The number of golden-section steps, which reduce the range of the price by a factor of 1e-12.
const SECTIONS: usize = 60;

/// Returns the lower bound on the mean response time for any one rent ν, which is
/// `E[S] min_θ (1 + νθ)/s(θ) − νN/λ`. The function of θ has a single minimum.
pub(super) fn least_response(servers: f64, curve: &Curve, rate: f64, mean: f64, rent: f64) -> f64 {
    let per_work = |k: f64| (1.0 + rent * k) / curve.at(k);
    let most = curve.cap.min(servers);
    let (low, high) = ((most * 1e-18).ln(), most.ln());
    let (_, high) = thirds(low, high, 2 * SECTIONS, |k| per_work(k.exp()));
    mean * per_work(high.exp()).min(per_work(most)) - rent * servers / rate
}
