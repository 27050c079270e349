//! The least cost of few jobs over all orders in which they may end.
//!
//! Of plans in which jobs end in a given order none costs less than its prices say ([`prices`](crate::policy::prices)):
//! while the k jobs that end last are left, their work is worth at most `W_k` a unit of time. A job that ends earlier, among more
//! jobs, has a higher price, since what it adds to the worth of the work falls with the jobs that are there (submodularity).
//! So what a beginning of an order costs at least is known: its own prices, and of each other job that which it would have next.
//! Beginnings are continued from the cheapest on, until that is a whole order, or as dear as a plan that is known.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

impl PartialEq for Beginning<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Beginning<'_> {}

impl PartialOrd for Beginning<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Beginning<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.least.total_cmp(&self.least)
    }
}

/// Returns what no plan costs less than, as far as it is needed beside a plan that costs so much.
pub fn over_orders(pool: &Pool, enough: f64) -> f64 {
    let mut open = BinaryHeap::new();
    open.push(Beginning {
        prices: Prices::new(pool.servers()),
        placed: Vec::new(),
        known: 0.0,
        least: 0.0,
    });
    for _ in 0..CONTINUED {
        let Some(cheapest) = open.pop() else { break };
        if cheapest.placed.len() == pool.jobs().len() || cheapest.least >= enough {
            return cheapest.least.min(enough);
        }
        open.extend(continued(pool, &cheapest));
    }
    open.peek().map_or(0.0, |cheapest| cheapest.least)
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
