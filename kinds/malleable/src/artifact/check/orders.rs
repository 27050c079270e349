//! Computes a lower bound for a few jobs from all orders in which the jobs can end.
//!
//! Let `a_1, a_2, …` be prices, from the last job to end. If, for each `k`, the work of the last
//! `k` jobs is worth at most `W_k` per unit of time, then the cost of a plan with this order is at
//! least `Σ a_k x_k`. Each price is the largest one for which this is true, found by bisection. A
//! partial order has a bound, too, as a job has a lower price in the next place than in later ones.

use super::bound::most_worth;
use crate::workload::Pool;

const MOST: usize = 8;

const HALVINGS: usize = 48;

const LOOKED_AT: usize = 20_000;

/// Checks that there is no order with a lower cost. The error is the reason why this is not proved.
pub(super) fn no_order_costs_less(pool: &Pool, least: f64, near: f64) -> Result<(), String> {
    if pool.jobs().len() > MOST {
        return Err(format!("too many jobs to check all orders: at most {MOST}"));
    }
    let mut look = OrderSearch {
        pool,
        enough: least * (1.0 - near),
        placed: Vec::new(),
        looks: LOOKED_AT,
    };
    look.from(0.0, 0.0)
}

struct OrderSearch<'a> {
    pool: &'a Pool,
    enough: f64,
    /// The jobs from the last one to end, with their prices.
    placed: Vec<(usize, f64)>,
    looks: usize,
}

impl OrderSearch<'_> {
    fn from(&mut self, known: f64, due: f64) -> Result<(), String> {
        let left = self.looks.checked_sub(1);
        self.looks = left.ok_or("too many orders to check all of them")?;
        let is_placed = |i: &usize| self.placed.iter().any(|(placed, _)| placed == i);
        let others = (0..self.pool.jobs().len()).filter(|i| !is_placed(i));
        let next: Vec<(usize, f64)> = others.map(|i| (i, self.price(i, due))).collect();
        let cost = |(i, price): &(usize, f64)| price * self.pool.jobs()[*i].size;
        let least = known + next.iter().map(cost).sum::<f64>();
        if least >= self.enough {
            return Ok(());
        }
        if next.len() <= 1 {
            let why = "and no more is proved";
            return Err(format!("in one order they cost at least {least}, {why}"));
        }
        for (i, price) in next {
            let job = &self.pool.jobs()[i];
            self.placed.push((i, price));
            self.from(known + price * job.size, due + job.weight)?;
            self.placed.pop();
        }
        Ok(())
    }

    /// Returns the largest price of a job that is next after the placed jobs.
    fn price(&self, i: usize, due: f64) -> f64 {
        let due = due + self.pool.jobs()[i].weight;
        let (mut low, mut high) = (0.0, due / self.pool.curve(i).at(self.pool.servers()));
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let is_due = self.worth(i, middle) <= due;
            let end = if is_due { &mut low } else { &mut high };
            *end = middle;
        }
        low
    }

    fn worth(&self, i: usize, price: f64) -> f64 {
        let jobs = self.placed.iter().copied().chain([(i, price)]);
        let priced = jobs.filter(|(_, price)| *price > 0.0);
        let curve = |i| std::slice::from_ref(self.pool.curve(i));
        let priced: Vec<_> = priced.map(|(i, price)| (price, curve(i))).collect();
        let highest = priced.iter().map(|own| own.0).fold(1e-300, f64::max);
        most_worth(self.pool.servers(), &mut { highest }, &priced)
    }
}
