//! Checks whether any schedule is worth more than a threshold (a knapsack in R dimensions).
//!
//! Depth-first search, without recursion, over types in order of efficiency, the value over the
//! cost at the resource prices `w`. If `D_i·w ≥ v_i` for all types and `e` is the efficiency of the
//! next type, the free capacity gains at most `e (w·free)`; a branch below that is pruned.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::NumOps;

use crate::schedule::{Packing, Schedule};

pub(super) trait Number: Clone + PartialOrd + From<u32> + NumOps {
    fn compare_quotients(a: [&Self; 2], b: [&Self; 2]) -> Ordering;

    fn gains(quotient: [&Self; 2], left: &Self, missing: Self) -> bool;
}

impl Number for f64 {
    fn compare_quotients(a: [&Self; 2], b: [&Self; 2]) -> Ordering {
        (a[0] / a[1]).total_cmp(&(b[0] / b[1]))
    }

    fn gains([value, cost]: [&Self; 2], left: &Self, missing: Self) -> bool {
        value / cost * left > missing
    }
}

impl Number for BigInt {
    fn compare_quotients(a: [&Self; 2], b: [&Self; 2]) -> Ordering {
        (a[0] * b[1]).cmp(&(b[0] * a[1]))
    }

    fn gains([value, cost]: [&Self; 2], left: &Self, missing: Self) -> bool {
        value * left > missing * cost
    }
}

pub(super) struct Region<N> {
    /// Free capacity (R), and its price.
    pub free: Vec<u64>,
    pub price: N,
    pub most: Vec<u32>,
}

impl<N> Region<N> {
    pub(super) fn all(packing: &Packing, price: N) -> Self {
        let free = packing.capacity().to_vec();
        let most = (0..packing.types()).map(|i| packing.max_jobs_in(i, &free));
        Region {
            most: most.collect(),
            free,
            price,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict<N> {
    Bounded,
    Exceeded(Schedule, N),
    Undecided,
}

/// Returns whether a schedule of a region is worth more than `threshold`, with `values` (K) ≥ 0 and
/// `costs` (K) at the prices of the region. Visits at most `nodes` nodes, and subtracts them.
pub(super) fn exceeds<N: Number>(
    packing: &Packing,
    (values, costs): (&[N], &[N]),
    region: Region<N>,
    threshold: N,
    nodes: &mut u64,
) -> Verdict<N> {
    let item = |i: usize| Item {
        kind: i,
        value: values[i].clone(),
        cost: costs[i].clone(),
        most: region.most[i],
        surplus: N::from(0),
    };
    let valuable = (0..values.len()).filter(|&i| values[i] > N::from(0));
    let mut items: Vec<Item<N>> = valuable.map(item).collect();
    items.sort_by(Item::by_efficiency);
    let mut surplus = N::from(0);
    for item in items.iter_mut().rev().filter(|item| item.value > item.cost) {
        let gain = item.value.clone() - item.cost.clone();
        surplus = surplus + gain * N::from(item.most);
        item.surplus = surplus.clone();
    }
    let search = Search {
        packing,
        items,
        threshold,
        free: region.free,
        value: N::from(0),
        left: region.price,
        taken: Vec::new(),
    };
    search.run(nodes)
}

struct Item<N> {
    kind: usize,
    value: N,
    cost: N,
    most: u32,
    /// Upper bound on the value above cost of this and all later items.
    surplus: N,
}

impl<N: Number> Item<N> {
    fn by_efficiency(a: &Self, b: &Self) -> Ordering {
        let one = N::from(1);
        N::compare_quotients([&b.value, &b.cost], [&a.value, &a.cost])
            .then(N::compare_quotients([&b.cost, &one], [&a.cost, &one]))
    }
}

struct Search<'a, N> {
    packing: &'a Packing,
    items: Vec<Item<N>>,
    threshold: N,
    free: Vec<u64>,
    value: N,
    left: N,
    /// The count of each item, and the value and the price left before it.
    taken: Vec<(u32, N, N)>,
}

impl<N: Number> Search<'_, N> {
    fn run(mut self, nodes: &mut u64) -> Verdict<N> {
        loop {
            if self.value > self.threshold {
                return Verdict::Exceeded(self.schedule(), self.value);
            }
            if self.is_promising() {
                if *nodes == 0 {
                    return Verdict::Undecided;
                }
                *nodes -= 1;
                let item = &self.items[self.taken.len()];
                let fit = self.packing.max_jobs_in(item.kind, &self.free);
                self.take(fit.min(item.most));
            } else if !self.retreat() {
                return Verdict::Bounded;
            }
        }
    }

    fn is_promising(&self) -> bool {
        let Some(item) = self.items.get(self.taken.len()) else {
            return false;
        };
        let missing = self.threshold.clone() - self.value.clone();
        // A job is worth at most its cost, except for the items that have a surplus.
        let by_surplus =
            item.value <= item.cost || self.left.clone() + item.surplus.clone() > missing;
        by_surplus && N::gains([&item.value, &item.cost], &self.left, missing)
    }

    fn take(&mut self, count: u32) {
        let item = &self.items[self.taken.len()];
        self.packing.take(item.kind, count, &mut self.free);
        let value = self.value.clone() + item.value.clone() * N::from(count);
        let left = self.left.clone() - item.cost.clone() * N::from(count);
        let value = std::mem::replace(&mut self.value, value);
        let left = std::mem::replace(&mut self.left, left);
        self.taken.push((count, value, left));
    }

    fn give_back(&mut self) -> Option<u32> {
        let (count, value, left) = self.taken.pop()?;
        let kind = self.items[self.taken.len()].kind;
        self.packing.release(kind, count, &mut self.free);
        (self.value, self.left) = (value, left);
        Some(count)
    }

    /// Removes one job of the last item if this is promising, or else goes back to the item before:
    /// since items are sorted by efficiency, even fewer jobs are not better.
    fn retreat(&mut self) -> bool {
        while let Some(count) = self.give_back() {
            if count > 0 {
                self.take(count - 1);
                if self.is_promising() {
                    return true;
                }
                self.give_back();
            }
        }
        false
    }

    fn schedule(&self) -> Schedule {
        let mut schedule = vec![0; self.packing.types()];
        for (item, (count, ..)) in self.items.iter().zip(&self.taken) {
            schedule[item.kind] = *count;
        }
        schedule
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::section7;
    use crate::schedule::{enumerate, schedule_value};

    fn packing() -> Packing {
        Packing::new(&section7())
    }

    fn costs(packing: &Packing, values: &[f64]) -> (Vec<f64>, f64) {
        let share = |units: &[u64]| -> f64 {
            let pairs = units.iter().zip(packing.capacity());
            pairs.map(|(d, p)| *d as f64 / *p as f64).sum()
        };
        let of_types = (0..values.len()).map(|i| share(packing.demand(i)));
        let efficiencies = of_types.clone().zip(values).map(|(s, v)| v / s);
        let scale = efficiencies.fold(0.0, f64::max);
        let costs = of_types.map(|s| s * scale).collect();
        (costs, share(packing.capacity()) * scale)
    }

    #[test]
    fn agrees_with_enumeration() {
        let packing = packing();
        let all = enumerate(&packing, 1000).schedules;
        for n in 0_u32..1000 {
            let values = [n % 10, n / 10 % 10, n / 100].map(|v| f64::from(v + 1));
            let worth = |u: &Schedule| schedule_value(u, &values);
            let best = all.iter().map(worth).fold(0.0, f64::max);
            let (costs, capacity) = costs(&packing, &values);
            let ask = |threshold| {
                let all = Region::all(&packing, capacity);
                exceeds(&packing, (&values, &costs), all, threshold, &mut 1000)
            };
            assert_eq!(ask(best), Verdict::Bounded, "{values:?}");
            let Verdict::Exceeded(schedule, value) = ask(best * (1.0 - 1e-9)) else {
                panic!("{values:?}: {best} not found");
            };
            assert!(packing.fits(&schedule));
            assert_eq!((value, worth(&schedule)), (best, best));
        }
    }

    #[test]
    fn big_integers_are_compared_exactly() {
        let packing = packing();
        let unit = BigInt::from(10).pow(40);
        let values = [1, 2, 5].map(|v| &unit * v);
        let costs = [3, 4, 10].map(BigInt::from);
        let ask = |threshold| {
            let all = Region::all(&packing, BigInt::from(20));
            exceeds(&packing, (&values, &costs), all, threshold, &mut 1000)
        };
        assert_eq!(ask(&unit * 10), Verdict::Bounded);
        let beaten = Verdict::Exceeded(vec![0, 0, 2], &unit * 10);
        assert_eq!(ask(&unit * 10 - 1), beaten);
    }

    #[test]
    fn types_without_value_are_skipped() {
        let packing = packing();
        let ask = |values: &[f64], threshold: f64| {
            let all = Region::all(&packing, 5.0);
            exceeds(&packing, (values, values), all, threshold, &mut 100)
        };
        let verdict = ask(&[0.0, 0.0, 1.0], 1.5);
        assert_eq!(verdict, Verdict::Exceeded(vec![0, 0, 2], 2.0));
        assert_eq!(ask(&[0.0; 3], 0.5), Verdict::Bounded);
    }

    #[test]
    fn reports_exhausted_nodes() {
        let packing = packing();
        let values = [1.0; 3];
        let (costs, capacity) = costs(&packing, &values);
        let ask = |mut nodes| {
            let all = Region::all(&packing, capacity);
            exceeds(&packing, (&values, &costs), all, 5.0, &mut nodes)
        };
        assert_eq!(ask(1), Verdict::Undecided);
        assert_eq!(ask(1000), Verdict::Bounded);
    }
}
