use super::Packing;
use super::depth_first::{DepthFirst, Item};

/// The best schedule within bounds: maximizes `Σ_i v_i u_i` over u ∈ S, u ≤ b, exactly.
///
/// Depth first, branch and bound, in R dimensions. A surrogate price of each resource turns what
/// fits into one cost; Dantzig's bound (Operations Research 5, 1957) of the bounded fractional
/// knapsack at those prices cuts branches that cannot beat the best by 1: values are whole
/// numbers. The prices are those of one resource alone, or of all by their capacities, whichever
/// bound is least at the root. Memory is allocated in [`Knapsack::new`] alone.
#[derive(Clone, Debug)]
pub struct Knapsack {
    /// Cost of each type under each system of prices, where the server costs 1.
    costs: Vec<Vec<f64>>,
    walk: DepthFirst<f64>,
}

/// Relative rounding of a bound.
const ROUNDING: f64 = 1e-12;

/// What the items can add at most, for what is left of the price.
fn bound(items: &[Item<f64>], mut left: f64) -> f64 {
    let mut bound = 0.0;
    for item in items {
        let all = f64::from(item.most);
        if item.cost > 0.0 && all * item.cost >= left {
            return bound + item.value * (left / item.cost).max(0.0);
        }
        bound += all * item.value;
        left -= all * item.cost;
    }
    bound
}

/// Whether the items that are not settled could make it beat the best so far.
fn is_promising(walk: &DepthFirst<f64>, best: f64) -> bool {
    let most = walk.value + bound(walk.open(), walk.left);
    most >= (best + 1.0) * (1.0 - ROUNDING)
}

impl Knapsack {
    /// For one server.
    pub fn new(packing: &Packing) -> Self {
        let share = |i: usize, j: usize| match packing.demand(i)[j] {
            0 => 0.0,
            d => d as f64 / packing.capacity()[j] as f64,
        };
        let (types, resources) = (0..packing.types(), 0..packing.capacity().len());
        let of_one = |j| types.clone().map(|i| share(i, j)).collect();
        let mut costs: Vec<Vec<f64>> = resources.clone().map(of_one).collect();
        if resources.len() > 1 {
            let sum = |i| resources.clone().map(|j| share(i, j)).sum::<f64>();
            costs.push(
                types
                    .clone()
                    .map(|i| sum(i) / resources.len() as f64)
                    .collect(),
            );
        }
        Knapsack {
            costs,
            walk: DepthFirst::new(packing, Vec::with_capacity(types.len()), 1.0),
        }
    }

    /// Replaces `best`, a schedule within the bounds, by the best one within them: whether it is
    /// worth more. Of equals the first stays. Values and bounds are by type; sums of values stay
    /// below 2^53.
    pub fn improve(&mut self, values: &[u64], bounds: &[u32], best: &mut [u32]) -> bool {
        self.choose_prices(values, bounds);
        let pairs = best.iter().zip(values);
        let mut record: f64 = pairs.map(|(u, v)| f64::from(*u) * *v as f64).sum();
        let walk = &mut self.walk;
        walk.restart(1.0);
        let mut improved = false;
        loop {
            if walk.value > record {
                record = walk.value;
                improved = true;
                walk.write(best);
            }
            if is_promising(walk, record) {
                walk.descend();
            } else if !walk.retreat(|walk| is_promising(walk, record)) {
                return improved;
            }
        }
    }

    /// The order of items, and their costs, by the prices with the least bound.
    fn choose_prices(&mut self, values: &[u64], bounds: &[u32]) {
        let mut least = (f64::INFINITY, 0);
        for prices in 0..self.costs.len() {
            self.price(prices, values, bounds);
            let bound = bound(&self.walk.items, 1.0);
            if bound < least.0 {
                least = (bound, prices);
            }
        }
        if least.1 + 1 < self.costs.len() {
            self.price(least.1, values, bounds);
        }
    }

    fn price(&mut self, prices: usize, values: &[u64], bounds: &[u32]) {
        let costs = &self.costs[prices];
        let item = |job_type: usize| Item {
            job_type,
            value: values[job_type] as f64,
            cost: costs[job_type],
            most: bounds[job_type],
        };
        let items = &mut self.walk.items;
        items.clear();
        let useful = (0..values.len()).filter(|&i| values[i] > 0 && bounds[i] > 0);
        items.extend(useful.map(item));
        // Infinite for what costs nothing.
        let efficiency = |item: &Item<f64>| item.value / item.cost;
        items.sort_unstable_by(|a, b| efficiency(b).total_cmp(&efficiency(a)));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::schedule::{Schedule, enumerate};
    use crate::multiresource::workload::Workload;
    use rand::{RngExt, SeedableRng};

    /// Against all schedules, for random values and bounds; and what is best already stays.
    #[test]
    fn agrees_with_enumeration() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for model in ["section7", "four_types", "vms"] {
            let path = format!("{}/models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
            let packing = Packing::new(&Workload::read(path.as_ref()).unwrap().workload);
            let all = enumerate(&packing, 100_000).schedules;
            let mut knapsack = Knapsack::new(&packing);
            for _ in 0..100 {
                let mut draw = |most: u32| -> Vec<u32> {
                    (0..packing.types())
                        .map(|_| random.random_range(0..=most))
                        .collect()
                };
                let values: Vec<u64> = draw(30).into_iter().map(u64::from).collect();
                let bounds = draw(12);
                let worth = |u: &Schedule| -> u64 {
                    u.iter().zip(&values).map(|(u, v)| u64::from(*u) * v).sum()
                };
                let within = |u: &&Schedule| u.iter().zip(&bounds).all(|(u, b)| u <= b);
                let best = all.iter().filter(within).map(worth).max().unwrap();
                let mut found = vec![0; packing.types()];
                assert_eq!(knapsack.improve(&values, &bounds, &mut found), best > 0);
                assert!(packing.fits(&found) && within(&&found));
                assert_eq!(worth(&found), best, "{model}: {values:?} within {bounds:?}");
                let again = found.clone();
                assert!(!knapsack.improve(&values, &bounds, &mut found));
                assert_eq!(found, again);
            }
        }
    }
}
