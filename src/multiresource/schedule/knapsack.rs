use super::Packing;

/// The best schedule within bounds: maximizes `Σ_i v_i u_i` over u ∈ S, u ≤ b, exactly.
///
/// Depth first, branch and bound, in R dimensions. A surrogate price of each resource turns what
/// fits into one cost; Dantzig's bound (Operations Research 5, 1957) of the bounded fractional
/// knapsack at those prices cuts branches that cannot beat the best by 1: values are whole
/// numbers. The prices are those of one resource alone, or of all by their capacities, whichever
/// bound is least at the root. Nothing is allocated but in [`Knapsack::new`].
#[derive(Clone, Debug)]
pub struct Knapsack {
    packing: Packing,
    /// Cost of each type under each system of prices, where the server costs 1.
    costs: Vec<Vec<f64>>,
    /// Types with value, in descending order of value for cost.
    items: Vec<Item>,
    /// Of the first items, as far as they are settled.
    taken: Vec<Taken>,
    room: Vec<u64>,
    /// Worth of what is taken.
    value: f64,
    /// What is left of the server, at the prices.
    left: f64,
    /// Worth of the best so far.
    record: f64,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    kind: usize,
    value: f64,
    cost: f64,
    bound: u32,
}

/// A count that was settled, and what stood before it.
#[derive(Clone, Copy, Debug)]
struct Taken {
    count: u32,
    value: f64,
    left: f64,
}

/// Of a bound, relatively.
const ROUNDING: f64 = 1e-12;

impl Item {
    /// Value for cost; infinite for what costs nothing.
    fn efficiency(&self) -> f64 {
        self.value / self.cost
    }
}

impl Knapsack {
    /// For one server.
    pub fn new(packing: &Packing) -> Self {
        let shares = |i: usize| {
            let pairs = packing.demand(i).iter().zip(packing.capacity());
            pairs.map(|(d, p)| if *d == 0 { 0.0 } else { *d as f64 / *p as f64 })
        };
        let (types, resources) = (packing.types(), packing.capacity().len());
        let of_one = |j: usize| -> Vec<f64> {
            (0..types)
                .map(|i| shares(i).nth(j).unwrap_or(0.0))
                .collect()
        };
        let of_all = (0..types).map(|i| shares(i).sum::<f64>() / resources as f64);
        let mut costs: Vec<Vec<f64>> = (0..resources).map(of_one).collect();
        if resources > 1 {
            costs.push(of_all.collect());
        }
        Knapsack {
            costs,
            items: Vec::with_capacity(types),
            taken: Vec::with_capacity(types),
            room: packing.capacity().to_vec(),
            value: 0.0,
            left: 1.0,
            record: 0.0,
            packing: packing.clone(),
        }
    }

    /// Replaces `best`, a schedule within the bounds, by the best one within them: whether it is
    /// worth more. Of equals the first stays. Values and bounds are by type; sums of values stay
    /// below 2^53.
    pub fn improve(&mut self, values: &[u64], bounds: &[u32], best: &mut [u32]) -> bool {
        self.choose_prices(values, bounds);
        let pairs = best.iter().zip(values);
        self.record = pairs.map(|(u, v)| f64::from(*u) * *v as f64).sum();
        self.room.copy_from_slice(self.packing.capacity());
        self.taken.clear();
        (self.value, self.left) = (0.0, 1.0);
        let mut improved = false;
        loop {
            if self.value > self.record {
                self.record = self.value;
                improved = true;
                self.copy_into(best);
            }
            if self.is_promising() {
                let item = self.items[self.taken.len()];
                let most = self.packing.most(item.kind, &self.room);
                self.settle(most.min(item.bound));
            } else if !self.retreat() {
                return improved;
            }
        }
    }

    /// The order of items, and their costs, by the prices with the least bound.
    fn choose_prices(&mut self, values: &[u64], bounds: &[u32]) {
        let mut least = (f64::INFINITY, 0);
        for prices in 0..self.costs.len() {
            self.price(prices, values, bounds);
            let bound = self.bound_from(0, 1.0);
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
        let item = |kind: usize| Item {
            kind,
            value: values[kind] as f64,
            cost: costs[kind],
            bound: bounds[kind],
        };
        self.items.clear();
        let useful = (0..values.len()).filter(|&i| values[i] > 0 && bounds[i] > 0);
        self.items.extend(useful.map(item));
        self.items
            .sort_unstable_by(|a, b| b.efficiency().total_cmp(&a.efficiency()));
    }

    /// What the items from this one on can add at most, for what is left of the price.
    fn bound_from(&self, first: usize, mut left: f64) -> f64 {
        let mut bound = 0.0;
        for item in &self.items[first..] {
            let all = f64::from(item.bound);
            if item.cost > 0.0 && all * item.cost >= left {
                return bound + item.value * (left / item.cost).max(0.0);
            }
            bound += all * item.value;
            left -= all * item.cost;
        }
        bound
    }

    /// Whether the items that are not settled could make it beat the best so far.
    fn is_promising(&self) -> bool {
        let most = self.value + self.bound_from(self.taken.len(), self.left);
        most >= (self.record + 1.0) * (1.0 - ROUNDING)
    }

    /// Settles the next item at this count, which fits.
    fn settle(&mut self, count: u32) {
        let item = self.items[self.taken.len()];
        self.packing.take(item.kind, count, &mut self.room);
        self.taken.push(Taken {
            count,
            value: self.value,
            left: self.left,
        });
        self.value += f64::from(count) * item.value;
        self.left -= f64::from(count) * item.cost;
    }

    /// Gives back the count settled last, and returns it.
    fn unsettle(&mut self) -> Option<u32> {
        let Taken { count, value, left } = self.taken.pop()?;
        let kind = self.items[self.taken.len()].kind;
        let pairs = self.room.iter_mut().zip(self.packing.demand(kind));
        pairs.for_each(|(room, d)| *room += u64::from(count) * d);
        (self.value, self.left) = (value, left);
        Some(count)
    }

    /// Takes one less of the last item where that is promising. Where it is not, fewer still are
    /// less so, since the items come in order of efficiency; then of the item before it.
    fn retreat(&mut self) -> bool {
        while let Some(count) = self.unsettle() {
            if count > 0 {
                self.settle(count - 1);
                if self.is_promising() {
                    return true;
                }
                self.unsettle();
            }
        }
        false
    }

    fn copy_into(&self, best: &mut [u32]) {
        best.fill(0);
        for (item, taken) in self.items.iter().zip(&self.taken) {
            best[item.kind] = taken.count;
        }
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
