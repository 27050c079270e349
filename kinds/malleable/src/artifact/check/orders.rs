//! Lower bound for few jobs, by enumerating all orders in which they may end.
//!
//! If at prices `a_1, a_2, …` the work of the k jobs that end last is worth at most `W_k` per unit
//! of time, for each k, a plan with that order costs at least `Σ a_k x_k`. A job placed earlier has
//! a lower price than later, so partial orders have a bound as well.

use super::bound::most_worth;
use crate::workload::Pool;

const MOST: usize = 8;

const HALVINGS: usize = 48;

const LOOKED_AT: usize = 20_000;

/// Checks that no order has a lower cost; an error explains why this is not proved.
pub(super) fn no_order_costs_less(pool: &Pool, least: f64, near: f64) -> Result<(), String> {
    if pool.jobs().len() > MOST {
        return Err(format!(
            "too many jobs to enumerate all orders: at most {MOST} are supported"
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
    placed: Vec<(usize, f64)>,
    looks: usize,
}

impl Look<'_> {
    fn from(&mut self, known: f64, due: f64) -> Result<(), String> {
        let left = self.looks.checked_sub(1);
        self.looks = left.ok_or("there are too many orders to enumerate")?;
        let is_placed = |i: &usize| self.placed.iter().any(|(placed, _)| placed == i);
        let others = (0..self.pool.jobs().len()).filter(|i| !is_placed(i));
        let next: Vec<(usize, f64)> = others.map(|i| (i, self.price(i, due))).collect();
        let cost = |(i, price): &(usize, f64)| price * self.pool.jobs()[*i].size;
        let least = known + next.iter().map(cost).sum::<f64>();
        if least >= self.enough {
            return Ok(());
        }
        if next.len() <= 1 {
            let why = "by the bound, which is too low";
            return Err(format!("in one order the jobs cost only {least} {why}"));
        }
        for (i, price) in next {
            let job = &self.pool.jobs()[i];
            self.placed.push((i, price));
            self.from(known + price * job.size, due + job.weight)?;
            self.placed.pop();
        }
        Ok(())
    }

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
        let jobs = || priced.iter().copied();
        most_worth(self.pool.servers(), &mut { highest }, jobs)
    }
}
