//! This module contains the methods to close a node of the search without a solver.

use super::Search;
use crate::program::pricing::{BranchAndBound, Item, by_efficiency};
use synth_multiresource::schedule::{Schedule, price};

/// The maximum number of table entries, multiplied by the number of types.
const TABLE: u64 = 20_000;

impl Search<'_> {
    pub(super) fn open_items(&self, prices: &[f64]) -> Vec<Item> {
        let item = |k: usize| {
            let cost = price(self.packing.demand(self.types[k]), prices);
            Item::new(self.types[k], self.values[k], cost, self.more[k] as u32)
        };
        let open = (0..self.types.len()).filter(|&k| self.more[k] > 0.0);
        open.map(item).collect()
    }

    /// Computes a bound from a table over the small resource with the highest cost, for which the
    /// number of jobs is an integer. The other resources are only charged at their price.
    pub(super) fn by_table(&self, items: &[Item], prices: &[f64]) -> Option<f64> {
        let worth = |j: &usize| self.room[*j] as f64 * prices[*j];
        let is_small = |j: &usize| self.room[*j] < TABLE / (1 + items.len() as u64);
        let priced = (0..self.room.len()).filter(|j| prices[*j] > 0.0 && is_small(j));
        let j = priced.max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
        let mut table = vec![0.0; self.room[j] as usize + 1];
        let mut free = 0.0;
        for item in items {
            let demand = self.packing.demand(item.job_type)[j];
            let value = item.value - item.cost + demand as f64 * prices[j];
            if value > 0.0 {
                match demand {
                    0 => free += value * f64::from(item.most),
                    step => fill(&mut table, step as usize, value, item.most),
                }
            }
        }
        let paid = price(&self.room, prices) - worth(&j);
        Some(self.least_worth + free + table[table.len() - 1] + paid)
    }

    /// Searches the subtree of the node. Returns whether the search is complete, the number of
    /// visited nodes, and the better schedules in ascending order of their worth.
    pub(super) fn depth_first(
        &self,
        least: &[u32],
        items: &[Item],
        prices: &[f64],
        nodes: u64,
    ) -> (bool, u64, Vec<(f64, Schedule)>) {
        let mut items = items.to_vec();
        by_efficiency(&mut items);
        let mut surplus = vec![0.0; items.len() + 1];
        for (n, item) in items.iter_mut().enumerate().rev() {
            item.efficiency = item.efficiency.min(1.0);
            surplus[n] = surplus[n + 1] + (item.value - item.cost).max(0.0) * f64::from(item.most);
        }
        let mut search = BranchAndBound {
            packing: self.packing,
            items: &items,
            surplus,
            nodes,
            best: self.best,
            ceiling: f64::INFINITY,
            counts: vec![0; items.len()],
            room: self.room.clone(),
            found: Vec::new(),
        };
        let complete = search.visit(0, self.least_worth, price(&self.room, prices));
        let with_least = |(worth, counts): (f64, Vec<u32>)| {
            let mut schedule = self.schedule(least);
            let added = items.iter().zip(counts);
            added.for_each(|(item, count)| schedule[item.job_type] += count);
            (worth, schedule)
        };
        let found = search.found.into_iter().map(with_least).collect();
        (complete, nodes - search.nodes, found)
    }
}

fn fill(table: &mut [f64], step: usize, value: f64, most: u32) {
    let size = table.len();
    if most as usize >= (size - 1) / step {
        for room in step..size {
            table[room] = table[room].max(table[room - step] + value);
        }
        return;
    }
    // Any count is a sum of some of the packets of 1, 2, 4, … jobs.
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
