//! The least cost of few jobs over all orders in which they may end.
//!
//! Of plans in which jobs end in a given order none costs less than its prices say ([`prices`](crate::policy::prices)):
//! while the k jobs that end last are left, their work is worth at most `W_k` a unit of time. A job that ends earlier, among more
//! jobs, has a higher price, since what it adds to the worth of the work falls with the jobs that are there (submodularity).
//! So what a beginning of an order costs at least is known: its own prices, and of each other job that which it would have next.
//! Beginnings are continued from the cheapest on, until that is a whole order, or as dear as a plan that is known.

use std::collections::BTreeMap;

use crate::policy::Prices;
use crate::workload::Pool;

/// Orders of more jobs than this are too many.
pub const MOST: usize = 8;

/// Beginnings that are continued, at most.
const CONTINUED: usize = 4000;

/// The job that ends last, and so on: a beginning of an order.
struct Beginning<'a> {
    prices: Prices<'a>,
    placed: Vec<usize>,
    /// What the placed jobs cost.
    known: f64,
    /// What all cost at least.
    least: f64,
}

/// Returns what no plan costs less than, as far as it is needed beside a plan that costs so much.
pub fn over_orders(pool: &Pool, enough: f64) -> f64 {
    let first = Beginning {
        prices: Prices::new(pool.servers()),
        placed: Vec::new(),
        known: 0.0,
        least: 0.0,
    };
    // By what they cost at least (numbers that are not negative are ordered as their bits), and by when they were found.
    let mut open = BTreeMap::from([((0, 0, 0), first)]);
    for n in 1..=CONTINUED {
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

/// Returns a beginning with each of the other jobs next.
fn continued<'a>(pool: &'a Pool, beginning: &Beginning<'a>) -> Vec<Beginning<'a>> {
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
        Beginning {
            prices,
            placed,
            known: beginning.known + cost,
            // The others cost what they would have cost in its place, at least.
            least: (beginning.known + all).max(beginning.least),
        }
    });
    continued.collect()
}
