//! One integer knapsack in R dimensions, as a yes-or-no question: is any schedule worth
//! more than a threshold?
//!
//! Depth first, types in order of value for cost, where cost is what a job takes of the room
//! at the resource prices. With `D_i·w ≥ v_i` for all types, and `e` the efficiency
//! `v_i / D_i·w` of the next one, what fits into a room gains at most `e (w·room)`: below that,
//! a branch is cut. The walk keeps its own stack, for types may be many. It is the same in
//! doubles and in whole numbers.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::NumOps;

use crate::schedule::{Packing, Schedule};

/// What values and costs are: doubles, or whole numbers of any length.
pub(super) trait Number: Clone + PartialOrd + From<u32> + NumOps {
    /// How two quotients compare, their denominators positive.
    fn compare(a: [&Self; 2], b: [&Self; 2]) -> Ordering;

    /// Whether a quotient times `left` is more than what is missing.
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

/// Where schedules are sought.
pub(super) struct Region<N> {
    /// The room, one entry a resource, and what it costs.
    pub room: Vec<u64>,
    pub price: N,
    /// No more jobs of each type are taken (K).
    pub most: Vec<u32>,
}

impl<N> Region<N> {
    /// Returns the whole server.
    pub(super) fn all(packing: &Packing, price: N) -> Self {
        let room = packing.capacity().to_vec();
        let most = (0..packing.types()).map(|i| packing.most(i, &room));
        Region {
            most: most.collect(),
            room,
            price,
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict<N> {
    /// No schedule is worth more.
    Bounded,
    /// This one is worth this much.
    Beaten(Schedule, N),
    /// The nodes allowed did not suffice to tell.
    Undecided,
}

/// Returns whether some schedule of a region is worth more than `threshold`.
///
/// `values` (K) are nonnegative, and `costs` (K) those of one job at resource prices under which the
/// region's room has its price. `nodes` is how many may be visited, and falls by those that were.
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
    /// What it and the items after it are worth above their cost, all together at most.
    surplus: N,
}

impl<N: Number> Item<N> {
    /// Orders the most efficient first, of equals the dearest.
    fn by_efficiency(a: &Self, b: &Self) -> Ordering {
        let one = N::from(1);
        N::compare([&b.value, &b.cost], [&a.value, &a.cost])
            .then(N::compare([&b.cost, &one], [&a.cost, &one]))
    }
}

/// A count that was settled, and what stood before it.
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
    /// Worth of what is taken.
    value: N,
    /// Price of the room that is left.
    left: N,
    /// Counts of the first items, as far as they are settled.
    taken: Vec<Taken<N>>,
}

impl<N: Number> Search<'_, N> {
    fn run(&mut self, nodes: &mut u64) -> Verdict<N> {
        loop {
            if self.value > self.threshold {
                return Verdict::Beaten(self.schedule(), self.value.clone());
            }
            if self.is_promising() {
                if *nodes == 0 {
                    return Verdict::Undecided;
                }
                *nodes -= 1;
                let item = &self.items[self.taken.len()];
                self.take(self.packing.most(item.kind, &self.room).min(item.most));
            } else if !self.retreat() {
                return Verdict::Bounded;
            }
        }
    }

    /// Returns whether the items that are not settled could lift the worth above the threshold.
    fn is_promising(&self) -> bool {
        let Some(item) = self.items.get(self.taken.len()) else {
            return false;
        };
        let missing = self.threshold.clone() - self.value.clone();
        // All jobs are worth their cost at most, but for what some are worth above it.
        let by_surplus =
            item.value <= item.cost || self.left.clone() + item.surplus.clone() > missing;
        by_surplus && N::gains([&item.value, &item.cost], &self.left, missing)
    }

    /// Settles the next item at this count, which fits.
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

    /// Gives back the count settled last, and returns it.
    fn give_back(&mut self) -> Option<u32> {
        let Taken { count, value, left } = self.taken.pop()?;
        let kind = self.items[self.taken.len()].kind;
        self.packing.give_back(kind, count, &mut self.room);
        (self.value, self.left) = (value, left);
        Some(count)
    }

    /// Takes one less of the last item where that is promising. Where it is not, fewer still
    /// are less so, since the items come in order of efficiency; then of the item before it.
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

    /// Prices of resources by which every value is covered, however badly.
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

    /// Just below the best of all schedules it is beaten, just above it is not.
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
            let Verdict::Beaten(schedule, value) = ask(best * (1.0 - 1e-9)) else {
                panic!("{values:?}: {best} not found");
            };
            assert!(packing.fits(&schedule));
            assert_eq!((value, worth(&schedule)), (best, best));
        }
    }

    /// In whole numbers a hair makes the difference: the best is worth all of the threshold, and
    /// one more than the threshold when that is lowered by one in 10⁴⁰.
    #[test]
    fn whole_numbers_of_any_length_are_told_apart() {
        let packing = packing("section7");
        let unit = BigInt::from(10).pow(40);
        let values = [1, 2, 5].map(|v| &unit * v);
        let costs = [3, 4, 10].map(BigInt::from);
        let ask = |threshold| {
            let all = Region::all(&packing, BigInt::from(20));
            exceeds(&packing, (&values, &costs), all, threshold, &mut 1000)
        };
        assert_eq!(ask(&unit * 10), Verdict::Bounded);
        let beaten = Verdict::Beaten(vec![0, 0, 2], &unit * 10);
        assert_eq!(ask(&unit * 10 - 1), beaten);
    }

    #[test]
    fn types_without_value_are_left_out() {
        let packing = packing("section7");
        let ask = |values: &[f64], threshold: f64| {
            let all = Region::all(&packing, 5.0);
            exceeds(&packing, (values, values), all, threshold, &mut 100)
        };
        let verdict = ask(&[0.0, 0.0, 1.0], 1.5);
        assert_eq!(verdict, Verdict::Beaten(vec![0, 0, 2], 2.0));
        assert_eq!(ask(&[0.0; 3], 0.5), Verdict::Bounded);
    }

    #[test]
    fn spent_nodes_are_said() {
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
