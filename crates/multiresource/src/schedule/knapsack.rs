use super::Packing;
use super::depth_first::{DepthFirst, Item};

/// A solver that finds the maximum of `Σ_i v_i u_i` over all u ∈ S with u ≤ b by branch and bound.
///
/// Surrogate prices of the resources combine the constraints into a single one. A branch is pruned
/// if Dantzig's bound for the fractional knapsack (Operations Research 5, 1957) shows that it
/// cannot improve the value by at least 1, since the values are integers. Each search starts with
/// the last prices, adjusted if that lowers the bound at the root. Only `new` allocates.
#[derive(Clone, Debug)]
pub struct Knapsack {
    /// The share of each resource that a job of each type uses (R × K).
    shares: Vec<Vec<f64>>,
    /// The price of all of each resource. The sum of the prices is 1.
    prices: Vec<f64>,
    steps: usize,
    walk: DepthFirst<f64>,
}

const ROUNDING: f64 = 1e-12;

/// Returns an upper bound on the value of these items, given the remaining capacity `left`.
fn bound<'a>(items: impl Iterator<Item = &'a Item<f64>>, mut left: f64) -> f64 {
    let mut bound = 0.0;
    for item in items {
        let all = f64::from(item.max_count);
        if item.cost > 0.0 && all * item.cost >= left {
            return bound + item.value * (left / item.cost).max(0.0);
        }
        bound += all * item.value;
        left -= all * item.cost;
    }
    bound
}

fn is_promising(walk: &DepthFirst<f64>, bar: f64) -> bool {
    walk.value + bound(walk.open().iter(), walk.left) >= bar
}

/// Ignores the items that cost more than the remaining capacity, because fractions of large jobs
/// would make the bound weaker.
fn is_possible(walk: &DepthFirst<f64>, bar: f64) -> bool {
    let most = walk.left * (1.0 + ROUNDING) + ROUNDING;
    let items = walk.open().iter().filter(|item| item.cost <= most);
    walk.value + bound(items, walk.left) >= bar
}

/// The factor by which the price of a resource is changed, and the minimum of a price.
const TURN: f64 = 1.3;
const LEAST: f64 = 1e-3;

impl Knapsack {
    /// Creates the solver; a search returns the best schedule so far after `steps` steps.
    pub fn new(packing: &Packing, steps: usize) -> Self {
        let resources = packing.capacity().len();
        let of_one = |j| (0..packing.types()).map(|i| packing.share(i, j)).collect();
        Knapsack {
            shares: (0..resources).map(of_one).collect(),
            prices: vec![1.0 / resources as f64; resources],
            steps,
            walk: DepthFirst::new(packing, Vec::with_capacity(packing.types()), 1.0),
        }
    }

    /// Replaces the schedule `best`, which must be within the bounds, by the best one; returns
    /// whether it has been improved. If all jobs within the bounds fit together, they are the best
    /// schedule. Otherwise, a schedule of the same value is not replaced.
    /// There is a value and a bound for each type; the sum of the values must be less than 2^53.
    pub fn improve(&mut self, values: &[u64], bounds: &[u32], best: &mut [u32]) -> bool {
        if self.walk.packing.fits(bounds) {
            let improves = best != bounds;
            best.copy_from_slice(bounds);
            return improves;
        }
        self.choose_prices(values, bounds);
        let pairs = best.iter().zip(values);
        let mut record: f64 = pairs.map(|(u, v)| f64::from(*u) * *v as f64).sum();
        let walk = &mut self.walk;
        walk.restart(1.0);
        let bar = |record: f64| (record + 1.0) * (1.0 - ROUNDING);
        let mut improved = false;
        for _ in 0..self.steps {
            if walk.value > record {
                record = walk.value;
                improved = true;
                walk.write(best);
            }
            if is_possible(walk, bar(record)) {
                walk.descend();
            } else if !walk.retreat(|walk| is_promising(walk, bar(record))) {
                break;
            }
        }
        improved
    }

    fn choose_prices(&mut self, values: &[u64], bounds: &[u32]) {
        let mut least = self.bound_at_root(values, bounds);
        if self.prices.len() == 1 {
            return;
        }
        for j in 0..self.prices.len() {
            for turn in [TURN, 1.0 / TURN] {
                let before = self.prices[j];
                self.prices[j] = (before * turn).clamp(LEAST, 1.0 / LEAST);
                let bound = self.bound_at_root(values, bounds);
                if bound < least {
                    least = bound;
                    break;
                }
                self.prices[j] = before;
            }
        }
        let sum: f64 = self.prices.iter().sum();
        self.prices.iter_mut().for_each(|price| *price /= sum);
        self.bound_at_root(values, bounds);
    }

    fn bound_at_root(&mut self, values: &[u64], bounds: &[u32]) -> f64 {
        let sum: f64 = self.prices.iter().sum();
        let items = &mut self.walk.items;
        items.clear();
        for i in (0..values.len()).filter(|&i| values[i] > 0 && bounds[i] > 0) {
            let pairs = self.shares.iter().zip(&self.prices);
            items.push(Item {
                job_type: i,
                value: values[i] as f64,
                cost: pairs.map(|(share, price)| share[i] * price).sum::<f64>() / sum,
                max_count: bounds[i],
            });
        }
        let efficiency = |item: &Item<f64>| item.value / item.cost;
        items.sort_unstable_by(|a, b| efficiency(b).total_cmp(&efficiency(a)));
        bound(self.walk.items.iter(), 1.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::schedule::{Schedule, enumerate};
    use crate::workload::Workload;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn agrees_with_enumeration() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for model in ["section7", "four_types", "vms"] {
            let path = format!("{}/../../models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
            let packing = Packing::new(&Workload::read(path.as_ref()).unwrap().workload);
            let all = enumerate(&packing, 100_000).schedules;
            let mut knapsack = Knapsack::new(&packing, usize::MAX);
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
