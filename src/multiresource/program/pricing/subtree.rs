//! What closes a node of the search without a solver: a depth-first search within its bounds, and a
//! table over one resource.

use super::WORTH;
use crate::multiresource::schedule::{Packing, price};

/// What is left to choose in a node: jobs beside those that are settled.
pub(super) struct Subtree<'a> {
    pub packing: &'a Packing,
    /// Prices of one unit of each resource.
    pub prices: Vec<f64>,
    /// What the settled jobs leave.
    pub room: Vec<u64>,
    /// What the settled jobs are worth.
    pub settled: f64,
}

/// A type with jobs to choose.
pub(super) struct Item {
    /// Its place among the types of the search.
    pub place: usize,
    pub job_type: usize,
    pub value: f64,
    pub most: u32,
}

/// Entries of a table times types.
const TABLE: u64 = 20_000;

impl Subtree<'_> {
    fn cost(&self, units: &[u64]) -> f64 {
        price(units, &self.prices)
    }

    /// Returns a bound by a table of the dearest resource that has few enough units: its jobs are whole, the
    /// other resources are paid for.
    pub fn by_table(&self, items: &[Item]) -> Option<f64> {
        let worth = |j: &usize| self.room[*j] as f64 * self.prices[*j];
        let is_small = |j: &usize| self.room[*j] < TABLE / (1 + items.len() as u64);
        let priced = (0..self.room.len()).filter(|j| self.prices[*j] > 0.0 && is_small(j));
        let j = priced.max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
        let mut table = vec![0.0; self.room[j] as usize + 1];
        let mut free = 0.0;
        for item in items {
            let demand = self.packing.demand(item.job_type);
            let value = item.value - self.cost(demand) + demand[j] as f64 * self.prices[j];
            if value > 0.0 {
                match demand[j] {
                    0 => free += value * f64::from(item.most),
                    step => fill(&mut table, step as usize, value, item.most),
                }
            }
        }
        let paid = self.cost(&self.room) - worth(&j);
        Some(self.settled + free + table[table.len() - 1] + paid)
    }

    /// Counts of the items, in their order, worth more than `best` together with what is settled: the
    /// best of them where the search ends within so many nodes, which is told.
    pub fn search(&self, items: Vec<Item>, best: f64, nodes: u64) -> Searched {
        let cost = |item: &Item| self.cost(self.packing.demand(item.job_type));
        let mut items: Vec<(f64, Item)> = items.into_iter().map(|i| (cost(&i), i)).collect();
        items.sort_by(|(a, x), (b, y)| {
            let efficiency = (y.value / b).total_cmp(&(x.value / a));
            efficiency.then(b.total_cmp(a)).then(x.place.cmp(&y.place))
        });
        let mut surplus = vec![0.0; items.len() + 1];
        for (n, (cost, item)) in items.iter().enumerate().rev() {
            surplus[n] = surplus[n + 1] + (item.value - cost).max(0.0) * f64::from(item.most);
        }
        let mut walk = Walk {
            packing: self.packing,
            counts: vec![0; items.len()],
            room: self.room.clone(),
            items,
            surplus,
            best,
            found: Vec::new(),
            nodes,
        };
        let complete = walk.visit(0, self.settled, self.cost(&self.room));
        Searched {
            complete,
            spent: nodes - walk.nodes,
            found: walk.found,
        }
    }
}

/// More of one type into a table of the best worth by room.
fn fill(table: &mut [f64], step: usize, value: f64, most: u32) {
    let size = table.len();
    if most as usize >= (size - 1) / step {
        for room in step..size {
            table[room] = table[room].max(table[room - step] + value);
        }
        return;
    }
    // Packets of 1, 2, 4, … jobs: any count is a sum of some.
    let (mut left, mut packet) = (most, 1);
    while left > 0 {
        let count = packet.min(left);
        let (step, value) = (step * count as usize, value * f64::from(count));
        for room in (step..size).rev() {
            table[room] = table[room].max(table[room - step] + value);
        }
        left -= count;
        packet *= 2;
    }
}

/// What a depth-first search found.
pub(super) struct Searched {
    pub complete: bool,
    pub spent: u64,
    /// Worth, and count by place; each worth more than the one before.
    pub found: Vec<(f64, Vec<(usize, u32)>)>,
}

struct Walk<'a> {
    packing: &'a Packing,
    /// With what a job costs, the most efficient first.
    items: Vec<(f64, Item)>,
    /// What the items from here on are worth above their cost, at most.
    surplus: Vec<f64>,
    counts: Vec<u32>,
    room: Vec<u64>,
    best: f64,
    found: Vec<(f64, Vec<(usize, u32)>)>,
    nodes: u64,
}

impl Walk<'_> {
    /// Nothing that fits into room of this price is worth more, from item n on.
    fn bound(&self, n: usize, price: f64) -> f64 {
        let next = self.items.get(n);
        let efficiency = next.map_or(0.0, |(cost, item)| (item.value / cost).min(1.0));
        efficiency * price + self.surplus[n]
    }

    /// Visits the counts of the items from n on; `false` when the nodes are spent.
    fn visit(&mut self, n: usize, value: f64, price: f64) -> bool {
        if value > self.best * (1.0 + WORTH) {
            self.best = value;
            let taken = self.items.iter().zip(&self.counts[..n]);
            let counts = taken.map(|((_, item), count)| (item.place, *count));
            self.found.push((value, counts.collect()));
        }
        if n == self.items.len() || value + self.bound(n, price) <= self.best * (1.0 + WORTH) {
            return true;
        }
        if self.nodes == 0 {
            return false;
        }
        self.nodes -= 1;
        let (cost, Item { job_type, .. }) = self.items[n];
        let (worth, limit) = (self.items[n].1.value, self.items[n].1.most);
        let most = self.packing.most(job_type, &self.room).min(limit);
        for count in (0..=most).rev() {
            let taken = f64::from(count);
            let (value, price) = (value + taken * worth, price - taken * cost);
            if value + self.bound(n + 1, price) <= self.best * (1.0 + WORTH) {
                // With fewer of what is as efficient as the rest the bound only falls.
                break;
            }
            self.counts[n] = count;
            self.packing.take(job_type, count, &mut self.room);
            let complete = self.visit(n + 1, value, price);
            self.packing.give_back(job_type, count, &mut self.room);
            if !complete {
                return false;
            }
        }
        true
    }
}
