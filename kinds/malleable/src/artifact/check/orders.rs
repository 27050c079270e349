//! What few jobs cost at least in each order in which they may end: all orders, one after the other.
//!
//! Let prices `a_1, a_2, …` be such that the work that the k jobs which end last can do is worth at most `W_k` a unit of time, for
//! each k. Then no plan in which they end in that order costs less than `Σ a_k x_k`. Here each price is the greatest such one, by
//! halves. Next among fewer jobs a job has a lower price than later, so that a beginning of an order has a bound, too.

use super::bound::most_worth;
use crate::workload::Pool;

/// Orders of more jobs are not looked through.
const MOST: usize = 8;

/// Halvings of a price.
const HALVINGS: usize = 48;

/// Beginnings of orders that are looked at.
const LOOKED_AT: usize = 20_000;

/// Checks that in no order the jobs cost less; or why that is not known.
pub(super) fn no_order_costs_less(pool: &Pool, least: f64, near: f64) -> Result<(), String> {
    if pool.jobs().len() > MOST {
        return Err(format!(
            "too many jobs to look at all orders: at most {MOST}"
        ));
    }
    let mut look = Look {
        pool,
        enough: least * (1.0 - near),
        placed: Vec::new(),
        looks: LOOKED_AT,
    };
    look.from(0.0, 0.0)
}

struct Look<'a> {
    pool: &'a Pool,
    enough: f64,
    /// Jobs from the last to end on, with their prices.
    placed: Vec<(usize, f64)>,
    looks: usize,
}

impl Look<'_> {
    fn from(&mut self, known: f64, due: f64) -> Result<(), String> {
        let left = self.looks.checked_sub(1);
        self.looks = left.ok_or("too many orders to look at all of them")?;
        let is_placed = |i: &usize| self.placed.iter().any(|(placed, _)| placed == i);
        let others = (0..self.pool.jobs().len()).filter(|i| !is_placed(i));
        let next: Vec<(usize, f64)> = others.map(|i| (i, self.price(i, due))).collect();
        let cost = |(i, price): &(usize, f64)| price * self.pool.jobs()[*i].size;
        let least = known + next.iter().map(cost).sum::<f64>();
        if least >= self.enough {
            return Ok(());
        }
        if next.len() <= 1 {
            let why = "at least, and no more is known";
            return Err(format!("in one order they cost {least} {why}"));
        }
        for (i, price) in next {
            let job = &self.pool.jobs()[i];
            self.placed.push((i, price));
            self.from(known + price * job.size, due + job.weight)?;
            self.placed.pop();
        }
        Ok(())
    }

    /// Returns the greatest price of a job next to those that are placed.
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

    /// Returns what the work is worth at most that the placed jobs and this one do.
    fn worth(&self, i: usize, price: f64) -> f64 {
        let jobs = self.placed.iter().copied().chain([(i, price)]);
        let priced = jobs.filter(|(_, price)| *price > 0.0);
        let curve = |i| std::slice::from_ref(self.pool.curve(i));
        let priced: Vec<_> = priced.map(|(i, price)| (price, curve(i))).collect();
        let highest = priced.iter().map(|own| own.0).fold(1e-300, f64::max);
        let jobs = || priced.iter().copied();
        most_worth(self.pool.servers(), &mut { highest }, jobs)
    }
}
