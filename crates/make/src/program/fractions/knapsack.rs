//! Whether any schedule is worth more than 1, at prices that are fractions: an integer knapsack
//! with every comparison in whole numbers.
//!
//! Depth first, types by value for cost at given prices of the resources; what fits into a room
//! gains at most the efficiency of the next type times the room's price, whatever those prices are.
//! Where the values' common denominator has more than [`BITS`] bits they are rounded up: every branch
//! cut then is cut correctly, and a schedule that seems to be worth more is compared again exactly.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};

use super::system::{Fractions, dot};
use synth_multiresource::schedule::{DepthFirst, Item, Packing, Schedule};

/// Bits of the threshold; with [`SERVER`] for the price of the whole server, and some bits for the
/// number of resources, products stay below 2^127.
const BITS: u64 = 64;

/// What the whole server costs, about.
const SERVER: f64 = (1_u64 << 50) as f64;

/// Returns whether it can be shown that no schedule is worth more than 1 at `values` (K, from 0 to 1). `prices` (R), one of each
/// resource's unit, only guide the search.
pub(super) fn is_bounded(
    packing: &Packing,
    values: &Fractions,
    prices: &[f64],
    nodes: u64,
) -> bool {
    let (rounded, threshold) = rounded(values);
    let is_worth_more = |u: &Schedule| dot(u, &values.numerators) > values.denominator;
    let mut found = false;
    let walk = walk(packing, &rounded, prices);
    above(walk, threshold, nodes, |schedule| {
        found = is_worth_more(&schedule);
        !found
    }) && !found
}

/// Hands schedules worth more than `1 − slack` to `visit`, until it returns false.
pub(super) fn near(
    packing: &Packing,
    values: &[f64],
    prices: &[f64],
    slack: f64,
    nodes: u64,
    visit: impl FnMut(Schedule) -> bool,
) {
    let one = (1_u64 << 50) as f64;
    let rounded: Vec<i128> = values.iter().map(|v| (v * one) as i128).collect();
    let threshold = ((1.0 - slack) * one) as i128;
    above(walk(packing, &rounded, prices), threshold, nodes, visit);
}

/// Values and threshold as they are, or where they are too large for it, rounded up.
fn rounded(values: &Fractions) -> (Vec<i128>, i128) {
    let one = if values.denominator.bits() > BITS {
        BigInt::one() << BITS
    } else {
        values.denominator.clone()
    };
    let up = |v: &BigInt| (v * &one).div_ceil(&values.denominator);
    let of = |v: &BigInt| up(v).to_i128().expect("values are at most 1");
    (
        values.numerators.iter().map(of).collect(),
        of(&values.denominator),
    )
}

/// Of the types with value, the most efficient first at these prices.
fn walk(packing: &Packing, values: &[i128], prices: &[f64]) -> DepthFirst<i128> {
    let prices = whole(packing.capacity(), prices);
    let cost = |units: &[u64]| -> i128 {
        let pairs = units.iter().zip(&prices);
        pairs.map(|(d, w)| i128::from(*d) * w).sum()
    };
    let item = |job_type: usize| Item {
        job_type,
        value: values[job_type],
        cost: cost(packing.demand(job_type)),
        most: u32::MAX,
    };
    let useful = (0..values.len()).filter(|&i| values[i] > 0);
    let mut items: Vec<Item<i128>> = useful.map(item).collect();
    items.sort_by(|a, b| {
        let efficiency = (b.value * a.cost).cmp(&(a.value * b.cost));
        let cost = b.cost.cmp(&a.cost);
        efficiency.then(cost).then(a.job_type.cmp(&b.job_type))
    });
    DepthFirst::new(packing, items, cost(packing.capacity()))
}

/// Hands each schedule that is worth more than the threshold to `visit` until that returns false;
/// false when the nodes are spent.
fn above(
    mut walk: DepthFirst<i128>,
    threshold: i128,
    mut nodes: u64,
    mut visit: impl FnMut(Schedule) -> bool,
) -> bool {
    // Whether the items that are not settled could lift the worth above the threshold.
    let is_promising = |walk: &DepthFirst<i128>| {
        let missing = threshold - walk.value;
        let next = walk.open().first();
        next.is_some_and(|item| missing < 0 || item.value * walk.left > missing * item.cost)
    };
    loop {
        // Each schedule is visited once: where its last count is settled.
        let is_new = walk.last().is_some_and(|count| count > 0);
        if is_new && walk.value > threshold && !visit(walk.schedule()) {
            return true;
        }
        if is_promising(&walk) {
            if nodes == 0 {
                return false;
            }
            nodes -= 1;
            walk.descend();
        } else if !walk.retreat(|walk| is_promising(walk) || walk.value > threshold) {
            return true;
        }
    }
}

/// Prices of the resources in whole numbers, all positive, at which the server costs [`SERVER`] or
/// a little more.
fn whole(capacity: &[u64], prices: &[f64]) -> Vec<i128> {
    let pairs = capacity.iter().zip(prices);
    let total: f64 = pairs.map(|(p, w)| *p as f64 * w).sum();
    let scaled = |w: &f64| if total > 0.0 { w / total * SERVER } else { 0.0 };
    prices.iter().map(|w| 1 + scaled(w) as i128).collect()
}
#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::program::tests::model;
    use rand::{RngExt, SeedableRng};
    use synth_multiresource::schedule::enumerate;

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
                    is_bounded(&packing, &values, &prices, 10_000_000)
                };
                assert!(ask(best.clone()), "{name} {numerators:?}");
                assert!(!ask(&best - 1), "{name} {numerators:?}: {best} not found");
            }
        }
    }

    #[test]
    fn spent_nodes_prove_nothing() {
        let packing = Packing::new(&model("section7"));
        let values = Fractions {
            numerators: vec![1.into(), 1.into(), 1.into()],
            denominator: 5.into(),
        };
        assert!(!is_bounded(&packing, &values, &[1.0; 3], 1));
        assert!(is_bounded(&packing, &values, &[1.0; 3], 1000));
    }

    /// Those worth more than 9/10 where (0, 5, 0) is worth 1, each once.
    #[test]
    fn near_schedules_are_all_found() {
        let packing = Packing::new(&model("section7"));
        let mut found = Vec::new();
        near(&packing, &[0.1, 0.2, 0.5], &[1.0; 3], 0.1, 1000, |u| {
            found.push(u);
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
