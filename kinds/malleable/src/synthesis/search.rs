//! Searches for a plan if the jobs have different speedups, or if the weights favour large jobs.
//!
//! The prices of an order are a plan. If the jobs end in this order, no plan with it is better. To
//! improve the order, we use the order in which the jobs actually end, and we swap neighbours.
//! After that, we change one price at a time, because no order has optimal prices if two jobs
//! should end at the same time.

use crate::analysis::power_ends;
use crate::artifact::cost;
use crate::policy::{Rule, by_job, prices};
use crate::simulator::{Dividing, execute};
use crate::workload::{Curve, Pool};

/// The work limit of the search. A plan for M jobs needs about M³.
const WORK: f64 = 4e8;

const PLANS_RANGE: [f64; 2] = [8.0, 4000.0];

pub(super) fn ends(pool: &Pool, rule: &Rule) -> Vec<f64> {
    if let ([curve], Rule::Prices(prices)) = (pool.curves(), rule)
        && let Some(p) = curve.smooth_power(pool.servers())
    {
        return power_ends(pool, prices, p);
    }
    execute(pool, Dividing::Plan(rule), false).ends
}

pub(super) fn search(pool: &Pool) -> (Rule, Vec<f64>) {
    let count = pool.jobs().len();
    let mut tries = Tries {
        pool,
        plans_left: (WORK / (count as f64).powi(3)).clamp(PLANS_RANGE[0], PLANS_RANGE[1]),
        cost: f64::INFINITY,
        prices: Vec::new(),
        ends: Vec::new(),
        order: Vec::new(),
    };
    // The jobs that take the longest time on all servers, relative to their weight, end last.
    let alone = |i: usize| {
        let job = &pool.jobs()[i];
        job.size / (pool.curve(i).at(pool.servers()) * job.weight)
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&i, &j| alone(j).total_cmp(&alone(i)));
    tries.follow(order.clone());
    tries.follow(pool.by_size());
    tries.exchange();
    tries.nudge();
    (Rule::Prices(tries.prices), tries.ends)
}

struct Tries<'a> {
    pool: &'a Pool,
    plans_left: f64,
    cost: f64,
    prices: Vec<f64>,
    ends: Vec<f64>,
    order: Vec<usize>,
}

impl Tries<'_> {
    fn price(&mut self, prices: &[f64]) -> (bool, Vec<f64>) {
        self.plans_left -= 1.0;
        let ends = ends(self.pool, &Rule::Prices(prices.to_vec()));
        let cost = cost(self.pool, self.pool.objective().quantity(), &ends);
        let better = cost < self.cost * (1.0 - 1e-13);
        if better {
            (self.cost, self.prices, self.ends) = (cost, prices.to_vec(), ends.clone());
        }
        (better, ends)
    }

    fn order(&mut self, order: &[usize]) -> (bool, Vec<f64>) {
        let pool = self.pool;
        let own = |&i: &usize| (pool.curve(i), pool.jobs()[i].weight);
        let (curves, weights): (Vec<&Curve>, Vec<f64>) = order.iter().map(own).unzip();
        let prices = prices(&curves, &weights, pool.servers());
        let (better, ends) = self.price(&by_job(order.len(), order, &prices));
        if better {
            self.order = order.to_vec();
        }
        (better, ends)
    }

    fn follow(&mut self, mut order: Vec<usize>) {
        loop {
            let (better, ends) = self.order(&order);
            let mut next = order.clone();
            next.sort_by(|&i, &j| ends[j].total_cmp(&ends[i]));
            if !better || next == order || self.plans_left < 1.0 {
                return;
            }
            order = next;
        }
    }

    fn exchange(&mut self) {
        let mut improved = true;
        while std::mem::take(&mut improved) {
            for n in 1..self.order.len() {
                if self.plans_left < 1.0 {
                    return;
                }
                let mut order = self.order.clone();
                order.swap(n - 1, n);
                improved |= self.order(&order).0;
            }
        }
    }

    fn nudge(&mut self) {
        let mut step = 0.2;
        while step > 1e-7 {
            let mut improved = false;
            for i in 0..self.prices.len() {
                for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                    if self.plans_left < 1.0 {
                        return;
                    }
                    let mut prices = self.prices.clone();
                    prices[i] *= factor;
                    improved |= self.price(&prices).0;
                }
            }
            if !improved {
                step /= 3.0;
            }
        }
    }
}
