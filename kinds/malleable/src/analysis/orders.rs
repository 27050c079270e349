//! A lower bound for a few jobs, by a best-first search over the orders of their ends.
//!
//! The [`prices`](crate::policy::prices) of an order give a lower bound on the cost of all plans
//! with this order. An order is built from the last job to end. By submodularity, the price of a
//! job is higher if it is placed later, so the bound of a partial order uses the prices of the
//! other jobs in the next place.

use std::collections::BTreeMap;

use crate::policy::Prices;
use crate::workload::Pool;

/// The maximum number of jobs for which all orders are searched.
pub(crate) const MOST: usize = 8;

const MOST_EXTENDED: usize = 4000;

/// A partial order, from the last job to end.
struct PartialOrder<'a> {
    prices: Prices<'a>,
    placed: Vec<usize>,
    known: f64,
    least: f64,
}

/// Returns a lower bound on the cost of any plan, or `enough`, the cost of a known plan.
pub(crate) fn over_orders(pool: &Pool, enough: f64) -> f64 {
    let first = PartialOrder {
        prices: Prices::new(pool.servers()),
        placed: Vec::new(),
        known: 0.0,
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
        let found = continued(pool, &cheapest).into_iter().enumerate();
        open.extend(found.map(|(i, own)| ((own.least.to_bits(), n, i), own)));
    }
    let cheapest = open.first_key_value();
    cheapest.map_or(0.0, |(_, own)| own.least)
}

fn continued<'a>(pool: &'a Pool, beginning: &PartialOrder<'a>) -> Vec<PartialOrder<'a>> {
    let others = (0..pool.jobs().len()).filter(|i| !beginning.placed.contains(i));
    let next = others.map(|i| {
        let job = &pool.jobs()[i];
        let mut prices = beginning.prices.clone();
        let price = prices.push(pool.curve(i), job.weight);
        (i, prices, price * job.size)
    });
    let next: Vec<(usize, Prices<'a>, f64)> = next.collect();
    let all: f64 = next.iter().map(|(.., cost)| cost).sum();
    let continued = next.into_iter().map(|(i, prices, cost)| {
        let mut placed = beginning.placed.clone();
        placed.push(i);
        PartialOrder {
            prices,
            placed,
            known: beginning.known + cost,
            least: (beginning.known + all).max(beginning.least),
        }
    });
    continued.collect()
}
