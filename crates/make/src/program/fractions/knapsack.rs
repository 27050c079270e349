//! A depth-first search for all schedules whose worth is close to 1. The types are sorted by their
//! value per unit of cost. For any prices, the gain from the free capacity is at most its price
//! multiplied by the efficiency of the next type.

use synth_multiresource::schedule::{DepthFirst, Item, Packing, Schedule};

/// The scale of the integer values, which is the approximate cost of the whole server.
const SERVER: f64 = (1_u64 << 50) as f64;

/// Calls `visit` for each schedule that is worth more than `1 − slack`, until it returns `false` or
/// the node limit is reached. The `prices` of a unit of each resource (R) only guide the search.
pub(super) fn near(
    packing: &Packing,
    values: &[f64],
    prices: &[f64],
    slack: f64,
    mut nodes: u64,
    mut visit: impl FnMut(Schedule) -> bool,
) {
    let mut walk = walk(packing, values, prices);
    let threshold = ((1.0 - slack) * SERVER) as i128;
    let is_promising = |walk: &DepthFirst<i128>| {
        let missing = threshold - walk.value;
        let next = walk.open().first();
        next.is_some_and(|item| missing < 0 || item.value * walk.left > missing * item.cost)
    };
    loop {
        let is_new = walk.last().is_some_and(|count| count > 0);
        if is_new && walk.value > threshold && !visit(walk.schedule()) {
            return;
        }
        if is_promising(&walk) {
            if nodes == 0 {
                return;
            }
            nodes -= 1;
            walk.descend();
        } else if !walk.retreat(|walk| is_promising(walk) || walk.value > threshold) {
            return;
        }
    }
}

fn walk(packing: &Packing, values: &[f64], prices: &[f64]) -> DepthFirst<i128> {
    // These are positive integers, and the cost of the server is slightly greater than [`SERVER`].
    let pairs = packing.capacity().iter().zip(prices);
    let total: f64 = pairs.map(|(p, w)| *p as f64 * w).sum();
    let scaled = |w: &f64| if total > 0.0 { w / total * SERVER } else { 0.0 };
    let prices: Vec<i128> = prices.iter().map(|w| 1 + scaled(w) as i128).collect();
    let cost = |units: &[u64]| -> i128 {
        let pairs = units.iter().zip(&prices);
        pairs.map(|(d, w)| i128::from(*d) * w).sum()
    };
    let items = values.iter().enumerate().map(|(job_type, value)| Item {
        job_type,
        value: (value * SERVER) as i128,
        cost: cost(packing.demand(job_type)),
        max_count: u32::MAX,
    });
    let mut items: Vec<Item<i128>> = items.filter(|item| item.value > 0).collect();
    items.sort_by(|a, b| {
        let efficiency = (b.value * a.cost).cmp(&(a.value * b.cost));
        let cost = b.cost.cmp(&a.cost);
        efficiency.then(cost).then(a.job_type.cmp(&b.job_type))
    });
    DepthFirst::new(packing, items, cost(packing.capacity()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::tests::model;
    use synth_multiresource::schedule::enumerate;

    #[test]
    fn finds_all_near_optimal_schedules_once() {
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
