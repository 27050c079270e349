//! Whether any schedule is worth more than 1, at prices that are fractions: an integer knapsack
//! with every comparison in whole numbers.
//!
//! Depth first, types by value for cost at given prices of the resources; what fits into a room
//! gains at most the efficiency of the next type times the room's price, whatever those prices are.
//! Where the values' common denominator has more than [`BITS`] bits they are rounded up: what is cut
//! off then is cut off rightly, and a schedule that seems to be worth more is asked again exactly.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};

use super::system::{Fractions, dot};
use crate::multiresource::schedule::{Packing, Schedule};

/// Of the threshold; with [`SERVER`] for the price of the whole server, and some bits for the number
/// of resources, products stay below 2^127.
const BITS: u64 = 64;

/// What the whole server costs, about.
const SERVER: f64 = (1_u64 << 50) as f64;

/// The answer of an exact search.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// No schedule is worth more than 1.
    Bounded,
    /// This one is.
    Beaten(Schedule),
    /// The nodes allowed did not suffice to tell.
    Undecided,
}

/// Whether a schedule is worth more than 1 at `values` (K, not negative). `prices` (R), one of each
/// resource's unit, only guide the search.
pub(super) fn exceeds(
    packing: &Packing,
    values: &Fractions,
    prices: &[f64],
    nodes: u64,
) -> Verdict {
    let (rounded, threshold) = rounded(values);
    let mut beaten = None;
    let complete = Search::new(packing, &rounded, threshold, prices).run(nodes, |schedule| {
        if dot(schedule, &values.numerators) > values.denominator {
            beaten = Some(schedule.to_vec());
        }
        beaten.is_none()
    });
    match (beaten, complete) {
        (Some(schedule), _) => Verdict::Beaten(schedule),
        (None, true) => Verdict::Bounded,
        (None, false) => Verdict::Undecided,
    }
}

/// Hands schedules worth more than `1 − slack` to `visit`, until it returns false.
pub(super) fn near(
    packing: &Packing,
    values: &[f64],
    prices: &[f64],
    slack: f64,
    nodes: u64,
    visit: impl FnMut(&[u32]) -> bool,
) {
    let one = (1_u64 << 50) as f64;
    let rounded: Vec<i128> = values.iter().map(|v| (v * one) as i128).collect();
    let threshold = ((1.0 - slack) * one) as i128;
    Search::new(packing, &rounded, threshold, prices).run(nodes, visit);
}

/// Values and threshold as they are, or where they are too large for it, rounded up.
fn rounded(values: &Fractions) -> (Vec<i128>, i128) {
    let large = values.denominator.bits() > BITS;
    let one = if large {
        BigInt::one() << BITS
    } else {
        values.denominator.clone()
    };
    let up = |v: &BigInt| (v * &one).div_ceil(&values.denominator);
    // No value is more than 1, for every type fits alone: what is, is found at once.
    let of = |v: &BigInt| up(v).to_i128().unwrap_or(i128::MAX >> 64);
    (
        values.numerators.iter().map(of).collect(),
        of(&values.denominator),
    )
}

struct Item {
    kind: usize,
    value: i128,
    cost: i128,
}

/// A count that was settled, and what stood before it.
struct Taken {
    count: u32,
    value: i128,
    left: i128,
}

struct Search<'a> {
    packing: &'a Packing,
    /// The types with value, the most efficient first.
    items: Vec<Item>,
    threshold: i128,
    room: Vec<u64>,
    /// Worth of what is taken.
    value: i128,
    /// Price of the room that is left.
    left: i128,
    /// Counts of the first items, as far as they are settled.
    taken: Vec<Taken>,
    /// The same by type.
    schedule: Schedule,
}

impl<'a> Search<'a> {
    fn new(packing: &'a Packing, values: &[i128], threshold: i128, prices: &[f64]) -> Self {
        let prices = whole(packing.capacity(), prices);
        let cost = |units: &[u64]| -> i128 {
            units
                .iter()
                .zip(&prices)
                .map(|(d, w)| i128::from(*d) * w)
                .sum()
        };
        let item = |kind: usize| Item {
            kind,
            value: values[kind],
            cost: cost(packing.demand(kind)),
        };
        let mut items: Vec<Item> = (0..values.len())
            .filter(|&i| values[i] > 0)
            .map(item)
            .collect();
        items.sort_by(|a, b| {
            let order = (b.value * a.cost).cmp(&(a.value * b.cost));
            order.then(b.cost.cmp(&a.cost)).then(a.kind.cmp(&b.kind))
        });
        Search {
            packing,
            items,
            threshold,
            room: packing.capacity().to_vec(),
            value: 0,
            left: cost(packing.capacity()),
            taken: Vec::new(),
            schedule: vec![0; values.len()],
        }
    }

    /// Hands each schedule that is worth more than the threshold to `visit` until that returns
    /// false; false when the nodes are spent.
    fn run(mut self, mut nodes: u64, mut visit: impl FnMut(&[u32]) -> bool) -> bool {
        loop {
            // Of one schedule only once: where its last count is settled.
            let settled = self.taken.last().is_some_and(|taken| taken.count > 0);
            if settled && self.value > self.threshold && !visit(&self.schedule) {
                return true;
            }
            if self.is_promising() {
                if nodes == 0 {
                    return false;
                }
                nodes -= 1;
                let item = &self.items[self.taken.len()];
                self.settle(self.packing.most(item.kind, &self.room));
            } else if !self.retreat() {
                return true;
            }
        }
    }

    /// Whether the items that are not settled could lift the worth above the threshold.
    fn is_promising(&self) -> bool {
        let missing = self.threshold - self.value;
        let next = self.items.get(self.taken.len());
        next.is_some_and(|item| missing < 0 || item.value * self.left > missing * item.cost)
    }

    /// Settles the next item at this count, which fits.
    fn settle(&mut self, count: u32) {
        let item = &self.items[self.taken.len()];
        self.packing.take(item.kind, count, &mut self.room);
        self.schedule[item.kind] = count;
        let (value, left) = (self.value, self.left);
        self.value += i128::from(count) * item.value;
        self.left -= i128::from(count) * item.cost;
        self.taken.push(Taken { count, value, left });
    }

    /// Gives back the count settled last, and returns it.
    fn unsettle(&mut self) -> Option<u32> {
        let Taken { count, value, left } = self.taken.pop()?;
        let kind = self.items[self.taken.len()].kind;
        let pairs = self.room.iter_mut().zip(self.packing.demand(kind));
        pairs.for_each(|(room, d)| *room += u64::from(count) * d);
        self.schedule[kind] = 0;
        (self.value, self.left) = (value, left);
        Some(count)
    }

    /// Takes one less of the last item where that is promising. Where it is not, fewer still are
    /// less so, since the items come in order of efficiency; then of the item before it.
    fn retreat(&mut self) -> bool {
        while let Some(count) = self.unsettle() {
            if count > 0 {
                self.settle(count - 1);
                if self.is_promising() || self.value > self.threshold {
                    return true;
                }
                self.unsettle();
            }
        }
        false
    }
}

/// Prices of the resources in whole numbers, all positive, at which the server costs [`SERVER`] or
/// a little more.
fn whole(capacity: &[u64], prices: &[f64]) -> Vec<i128> {
    let total: f64 = capacity
        .iter()
        .zip(prices)
        .map(|(p, w)| *p as f64 * w)
        .sum();
    let scaled = |w: &f64| if total > 0.0 { w / total * SERVER } else { 0.0 };
    prices.iter().map(|w| 1 + scaled(w) as i128).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::program::tests::model;
    use crate::multiresource::schedule::enumerate;
    use rand::{RngExt, SeedableRng};

    /// At a common denominator that is the worth of the best of all schedules nothing is worth more
    /// than 1; at one less, the best is. Values fit into machine words, or are rounded.
    #[test]
    fn agrees_with_enumeration_to_the_last_unit() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for name in ["section7", "four_types", "vms"] {
            let packing = Packing::new(&model(name));
            let all = enumerate(&packing, 20_000).schedules;
            let prices = vec![1.0; packing.capacity().len()];
            for round in 0..40 {
                let length = [0, 10, 25, 200][round % 4];
                let mut value = || {
                    BigInt::from(random.random_range(0..1000)) * BigInt::from(7).pow(length)
                        + random.random_range(0..2)
                };
                let numerators: Vec<BigInt> = (0..packing.types()).map(|_| value()).collect();
                let best = all.iter().map(|u| dot(u, &numerators)).max().unwrap();
                let ask = |denominator: BigInt| {
                    let values = Fractions {
                        numerators: numerators.clone(),
                        denominator,
                    };
                    exceeds(&packing, &values, &prices, 10_000_000)
                };
                assert_eq!(ask(best.clone()), Verdict::Bounded, "{name} {numerators:?}");
                let Verdict::Beaten(schedule) = ask(&best - 1) else {
                    panic!("{name} {numerators:?}: {best} not found");
                };
                assert!(packing.fits(&schedule));
                assert_eq!(dot(&schedule, &numerators), best);
            }
        }
    }

    #[test]
    fn spent_nodes_are_said() {
        let packing = Packing::new(&model("section7"));
        let values = Fractions {
            numerators: vec![1.into(), 1.into(), 1.into()],
            denominator: 5.into(),
        };
        assert_eq!(exceeds(&packing, &values, &[1.0; 3], 1), Verdict::Undecided);
        assert_eq!(
            exceeds(&packing, &values, &[1.0; 3], 1000),
            Verdict::Bounded
        );
    }

    /// Those worth more than 9/10 where (0, 5, 0) is worth 1, each once.
    #[test]
    fn near_schedules_are_all_found() {
        let packing = Packing::new(&model("section7"));
        let mut found = Vec::new();
        near(&packing, &[0.1, 0.2, 0.5], &[1.0; 3], 0.1, 1000, |u| {
            found.push(u.to_vec());
            true
        });
        found.sort();
        let worth = |u: &Schedule| u[0] + 2 * u[1] + 5 * u[2];
        let mut expected = enumerate(&packing, 100).schedules;
        expected.retain(|u| worth(u) > 9);
        expected.sort();
        assert_eq!(found, expected);
    }
}
