//! Checks whether any schedule is worth more than a threshold (a knapsack in R dimensions).
//!
//! Depth-first search over types in order of efficiency, which is the value over the cost at the
//! resource prices `w`. If `D_i·w ≥ v_i` for all types and `e` is the efficiency of the next type,
//! the free capacity gains at most `e (w·room)`; a branch below that is pruned. There is no
//! recursion, since there may be many types. The search is the same for doubles and integers.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::NumOps;

use crate::schedule::{Packing, Schedule};

pub(super) trait Number: Clone + PartialOrd + From<u32> + NumOps {
    /// Compares two quotients with positive denominators.
    fn compare(a: [&Self; 2], b: [&Self; 2]) -> Ordering;

    /// Returns whether a quotient times `left` exceeds `missing`.
    fn gains(quotient: [&Self; 2], left: &Self, missing: Self) -> bool;
}

impl Number for f64 {
    fn compare(a: [&Self; 2], b: [&Self; 2]) -> Ordering {
        (a[0] / a[1]).total_cmp(&(b[0] / b[1]))
    }

    fn gains([value, cost]: [&Self; 2], left: &Self, missing: Self) -> bool {
        value / cost * left > missing
    }
}

impl Number for BigInt {
    fn compare(a: [&Self; 2], b: [&Self; 2]) -> Ordering {
        (a[0] * b[1]).cmp(&(b[0] * a[1]))
    }

    fn gains([value, cost]: [&Self; 2], left: &Self, missing: Self) -> bool {
        value * left > missing * cost
    }
}

pub(super) struct Region<N> {
    /// Free capacity (R), and its price.
    pub room: Vec<u64>,
    pub price: N,
    /// Largest count of each type (K).
    pub most: Vec<u32>,
}

impl<N> Region<N> {
    pub(super) fn all(packing: &Packing, price: N) -> Self {
        let room = packing.capacity().to_vec();
        let most = (0..packing.types()).map(|i| packing.max_jobs_in(i, &room));
        Region {
            most: most.collect(),
            room,
            price,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict<N> {
    /// There is no schedule that is worth more.
    Bounded,
    /// A schedule with a higher value, which is given.
    Exceeded(Schedule, N),
    /// The limit on nodes was reached.
    Undecided,
}

/// Returns whether a schedule of a region is worth more than `threshold`.
///
/// The `values` (K) must be nonnegative, and the `costs` (K) must use the same prices as the
/// region. `nodes` is the number of nodes that may be visited, from which the visited ones are
/// subtracted.
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
    let mut items: Vec<Item<N>> = (0..values.len())
        .filter(|&i| values[i] > N::from(0))
        .map(item)
        .collect();
    items.sort_by(Item::by_efficiency);
    let mut surplus = N::from(0);
    for item in items.iter_mut().rev().filter(|item| item.value > item.cost) {
        let gain = item.value.clone() - item.cost.clone();
        surplus = surplus + gain * N::from(item.most);
        item.surplus = surplus.clone();
    }
    let mut search = Search {
        packing,
        items,
        threshold,
        room: region.room,
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
    /// Sorts by efficiency, and then by cost, both in descending order.
    fn by_efficiency(a: &Self, b: &Self) -> Ordering {
        let one = N::from(1);
        N::compare([&b.value, &b.cost], [&a.value, &a.cost])
            .then(N::compare([&b.cost, &one], [&a.cost, &one]))
    }
}

struct Taken<N> {
    count: u32,
    value: N,
    left: N,
}

struct Search<'a, N> {
    packing: &'a Packing,
    items: Vec<Item<N>>,
    threshold: N,
    room: Vec<u64>,
    value: N,
    left: N,
    taken: Vec<Taken<N>>,
}

impl<N: Number> Search<'_, N> {
    fn run(&mut self, nodes: &mut u64) -> Verdict<N> {
        loop {
            if self.value > self.threshold {
                return Verdict::Exceeded(self.schedule(), self.value.clone());
            }
            if self.is_promising() {
                if *nodes == 0 {
                    return Verdict::Undecided;
                }
                *nodes -= 1;
                let item = &self.items[self.taken.len()];
                self.take(
                    self.packing
                        .max_jobs_in(item.kind, &self.room)
                        .min(item.most),
                );
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
        self.packing.take(item.kind, count, &mut self.room);
        self.taken.push(Taken {
            count,
            value: self.value.clone(),
            left: self.left.clone(),
        });
        self.value = self.value.clone() + item.value.clone() * N::from(count);
        self.left = self.left.clone() - item.cost.clone() * N::from(count);
    }

    fn give_back(&mut self) -> Option<u32> {
        let Taken { count, value, left } = self.taken.pop()?;
        let kind = self.items[self.taken.len()].kind;
        self.packing.release(kind, count, &mut self.room);
        (self.value, self.left) = (value, left);
        Some(count)
    }

    /// Removes one job of the last item if this is promising, and otherwise continues with the
    /// previous item. Since the items are sorted by efficiency, even fewer jobs are not better.
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
        for (item, taken) in self.items.iter().zip(&self.taken) {
            schedule[item.kind] = taken.count;
        }
        schedule
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::schedule::enumerate;
    use crate::workload::Workload;

    fn packing(model: &str) -> Packing {
        let path = format!("{}/../../models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
        Packing::new(&Workload::read(path.as_ref()).unwrap().workload)
    }

    fn costs(packing: &Packing, values: &[f64]) -> (Vec<f64>, f64) {
        let share = |units: &[u64]| -> f64 {
            units
                .iter()
                .zip(packing.capacity())
                .map(|(d, p)| *d as f64 / *p as f64)
                .sum()
        };
        let of_types = (0..values.len()).map(|i| share(packing.demand(i)));
        let scale = of_types
            .clone()
            .zip(values)
            .map(|(s, v)| v / s)
            .fold(0.0, f64::max);
        (
            of_types.map(|s| s * scale).collect(),
            share(packing.capacity()) * scale,
        )
    }

    #[test]
    fn agrees_with_enumeration() {
        let packing = packing("section7");
        let all = enumerate(&packing, 1000).schedules;
        for n in 0_u32..1000 {
            let values = [n % 10, n / 10 % 10, n / 100].map(|v| f64::from(v + 1));
            let worth = |u: &Schedule| {
                u.iter()
                    .zip(values)
                    .map(|(u, v)| f64::from(*u) * v)
                    .sum::<f64>()
            };
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
        let packing = packing("section7");
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
        let packing = packing("section7");
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
        let packing = packing("section7");
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
