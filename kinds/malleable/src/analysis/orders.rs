//! A lower bound on the cost of a plan for at most 8 jobs: a search over the orders of their ends.
//!
//! The curve of a job is its speed by the number of servers. The [`prices`](crate::policy::prices)
//! \[cost/work\] of an order give a lower bound on the cost of all plans with it. An order is built
//! from the last job to end. By submodularity, the price of a job is higher if it is added later
//! (ends earlier), so the bound uses the price that each other job would have as the next one.

use std::collections::BTreeMap;

use crate::policy::Prices;
use crate::workload::Pool;

/// The maximum number of jobs for which the orders are searched.
pub(crate) const MOST: usize = 8;

const MOST_EXTENDED: usize = 4000;

/// A partial order, from the last job to end.
struct PartialOrder<'a> {
    prices: Prices<'a>,
    placed: Vec<usize>,
    cost_of_placed: f64,
    /// The bound of the order that it extends, so it is the same for all extensions of this order.
    least: f64,
}

/// Returns a lower bound on the cost of any plan, and stops at `enough`, the cost of a known plan.
pub(crate) fn over_orders(pool: &Pool, enough: f64) -> f64 {
    let first = PartialOrder {
        prices: Prices::new(pool.servers()),
        placed: Vec::new(),
        cost_of_placed: 0.0,
        least: 0.0,
    };
    // The key begins with the bound. Nonnegative numbers have the same order as their bits.
    let mut open = BTreeMap::from([((0, 0, 0), first)]);
    for n in 1..=MOST_EXTENDED {
        let Some((_, cheapest)) = open.pop_first() else {
            break;
        };
        if cheapest.placed.len() == pool.jobs().len() || cheapest.least >= enough {
            return cheapest.least.min(enough);
        }
        let found = extensions(pool, &cheapest).into_iter().enumerate();
        open.extend(found.map(|(i, own)| ((own.least.to_bits(), n, i), own)));
    }
    open.first_key_value().map_or(0.0, |(_, own)| own.least)
}

fn extensions<'a>(pool: &'a Pool, partial: &PartialOrder<'a>) -> Vec<PartialOrder<'a>> {
    let others = (0..pool.jobs().len()).filter(|i| !partial.placed.contains(i));
    let next = others.map(|i| {
        let job = &pool.jobs()[i];
        let mut prices = partial.prices.clone();
        let price = prices.push(pool.curve(i), job.weight);
        (i, prices, price * job.size)
    });
    let next: Vec<(usize, Prices<'a>, f64)> = next.collect();
    let cost_of_others: f64 = next.iter().map(|(.., cost)| cost).sum();
    let extensions = next.into_iter().map(|(i, prices, cost)| {
        let mut placed = partial.placed.clone();
        placed.push(i);
        PartialOrder {
            prices,
            placed,
            cost_of_placed: partial.cost_of_placed + cost,
            least: (partial.cost_of_placed + cost_of_others).max(partial.least),
        }
    });
    extensions.collect()
}
