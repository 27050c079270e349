//! This module implements branch and bound. The linear relaxation is solved at each node.
//!
//! If jobs that need a whole server leave some resources unused, the bound from a single set of
//! prices is not good, because other resources are scarce once the number of these jobs is known.
//! So each node has its own prices. The node with the largest bound is the next one, and the type
//! with a fractional count and the largest jobs is used for branching. The bounds on the counts are
//! reduced with the free capacity and the reduced costs. A node is closed by its bound, a short
//! depth-first search, or a table for one of the resources. No solver is needed to verify a tree.

mod subtree;

use std::collections::BinaryHeap;
use std::time::Instant;

use super::simplex::Simplex;
use super::{Knapsack, Priced, WORTH, over};
use synth_multiresource::artifact::{SearchNode, SearchRecord};
use synth_multiresource::schedule::{Packing, Schedule, schedule_value};

/// Search budget: nodes of the tree, and depth-first nodes in each of them.
pub(in crate::program) type Effort = (usize, u64);

/// The efforts of repeated searches. If a search proves and finds nothing, the next one is used.
pub(in crate::program) const EFFORTS: [Effort; 7] = [
    (200, 500),
    (800, 500),
    (3_200, 500),
    (12_800, 500),
    (12_800, 4_000),
    (12_800, 32_000),
    (12_800, 1_000_000),
];

/// The work for a node of the tree, in units of depth-first nodes.
const NODE: u64 = 300;

/// The maximum total number of counts in all open nodes, which need at most 64 MB.
const OPEN: usize = 8_000_000;

/// The limit on the depth-first nodes of a recorded proof.
const CARRIED: u64 = 25_000_000;

/// The depth-first nodes per search when shrinking the tree, and in total.
const COARSE: u64 = 20_000;
const COARSE_WORK: u64 = 20_000_000;

/// The first node is the root, and each node is stored before its children.
pub(in crate::program) type Tree = Vec<Node>;

#[derive(Clone)]
pub(in crate::program) struct Node {
    prices: Vec<f64>,
    /// The branching type, its maximum count in the first child, and the indices of both children.
    branch: Option<(usize, u32, [usize; 2])>,
}

/// An open node, ordered by the bound on its worth.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    /// The bits of the bound, which have the same order as the numbers if these are not negative.
    bound: u64,
    place: usize,
    least: Vec<u32>,
    most: Vec<u32>,
}

impl Open {
    fn bound(&self) -> f64 {
        f64::from_bits(self.bound)
    }

    fn lower(&mut self, bound: f64) {
        self.bound = self.bound().min(bound).to_bits();
    }
}

pub(in crate::program) struct Search<'a> {
    packing: &'a Packing,
    types: Vec<usize>,
    /// The values divided by the largest one, which is `unit`.
    values: Vec<f64>,
    unit: f64,
    simplex: Simplex,
    best: f64,
    found: Vec<Schedule>,
    nodes: Vec<Node>,
    /// The depth-first nodes of searches that closed a node.
    work: u64,
    /// The free capacity after the least counts, their worth, and the jobs that can be added.
    room: Vec<u64>,
    least_worth: f64,
    more: Vec<f64>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(packing: &'a Packing, values: &[f64], threshold: f64) -> Self {
        let types = undominated(packing, values);
        let largest = values.iter().copied().fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let values: Vec<f64> = types.iter().map(|&i| values[i] / unit).collect();
        let capacity = packing.capacity();
        let of_types = |j: usize| types.iter().map(|&i| packing.share(i, j)).collect();
        let shares = (0..capacity.len()).map(of_types).collect();
        Search {
            simplex: Simplex::new(shares, values.clone()),
            packing,
            best: threshold / unit,
            unit,
            found: Vec::new(),
            nodes: Vec::new(),
            work: 0,
            room: Vec::new(),
            least_worth: 0.0,
            more: vec![0.0; types.len()],
            types,
            values,
        }
    }

    /// Searches until the bound is proven or a limit is reached. Also returns the work.
    pub(crate) fn run(
        mut self,
        (nodes, each): Effort,
        most: u64,
        deadline: Option<Instant>,
    ) -> (Priced, u64) {
        let nodes = nodes.min(OPEN / self.types.len().max(1));
        let mut open = BinaryHeap::from([self.root()]);
        let mut visited = 0;
        while let Some(mut node) = open.pop() {
            if node.bound() <= self.bar() {
                break;
            }
            let is_late =
                || visited % 16 == 15 && deadline.is_some_and(|end| Instant::now() >= end);
            let work = NODE * visited as u64 + self.work;
            if visited == nodes || work >= most || is_late() {
                open.push(node);
                break;
            }
            visited += 1;
            if let Some((k, most)) = self.examine(&mut node, each) {
                open.extend(self.branch(&node, k, most));
            }
        }
        let highest = open.peek().map_or(0.0, Open::bound);
        let exact = highest <= self.bar();
        let bound = highest.max(self.bar()) * self.unit;
        let schedules = self.found.iter().rev().take(super::COLUMNS_A_ROUND);
        let priced = Priced {
            schedules: schedules.cloned().collect(),
            bound,
            exact,
            tree: (self.work <= CARRIED).then_some(self.nodes),
        };
        (priced, NODE * visited as u64 + self.work)
    }

    fn bar(&self) -> f64 {
        self.best * (1.0 + WORTH)
    }

    fn root(&mut self) -> Open {
        let capacity = self.packing.capacity();
        let most = |&i: &usize| self.packing.max_jobs_in(i, capacity);
        self.nodes.push(Node {
            prices: vec![0.0; capacity.len()],
            branch: None,
        });
        Open {
            most: self.types.iter().map(most).collect(),
            least: vec![0; self.types.len()],
            bound: f64::INFINITY.to_bits(),
            place: 0,
        }
    }

    /// Closes a node, or returns the type to branch on and its maximum count in the first child.
    fn examine(&mut self, node: &mut Open, each: u64) -> Option<(usize, u32)> {
        if !self.fit(node) {
            return None;
        }
        let share = self.shares_left();
        self.simplex.solve(&self.more, &share);
        let count = |k: usize| f64::from(node.least[k]) + self.simplex.count_of(k, &self.more);
        let counts: Vec<f64> = (0..self.more.len()).map(count).collect();
        self.nodes[node.place].prices = self.unit_prices();
        if self.is_closed(node, each) {
            return None;
        }
        self.take_whole(&counts);
        self.fractional(node, &counts)
    }

    /// Tightens the node, and returns whether its prices, a depth-first search or a table close it.
    fn is_closed(&mut self, node: &mut Open, each: u64) -> bool {
        let share = self.shares_left();
        // If about a hundred terms are added, the rounding error is about 1e-14.
        let bound = (self.least_worth + self.simplex.bound(&self.more, &share)) * (1.0 + 1e-13);
        node.lower(bound);
        if node.bound() <= self.bar() {
            return true;
        }
        self.tighten(node, bound);
        if !self.fit(node) {
            return true;
        }
        let prices: Vec<f64> = self.unit_prices().iter().map(|w| w / self.unit).collect();
        let items = self.open_items(&prices);
        let (complete, spent, found) = self.depth_first(&node.least, &items, &prices, each);
        for (value, schedule) in found {
            self.take(value, schedule);
        }
        if complete {
            self.work += spent;
            return true;
        }
        if let Some(by_table) = self.by_table(&items, &prices) {
            node.lower(by_table * (1.0 + 1e-13));
        }
        node.bound() <= self.bar()
    }

    /// Updates the free capacity and the least worth, and reduces each count to the number of jobs
    /// that fit. Returns `false` if the least counts do not fit.
    fn fit(&mut self, node: &mut Open) -> bool {
        self.room.clear();
        self.room.extend_from_slice(self.packing.capacity());
        self.least_worth = 0.0;
        let taken = |(k, _): &(usize, &usize)| node.least[*k] > 0;
        for (k, &i) in self.types.iter().enumerate().filter(taken) {
            if self.packing.max_jobs_in(i, &self.room) < node.least[k] {
                return false;
            }
            self.packing.take(i, node.least[k], &mut self.room);
            self.least_worth += f64::from(node.least[k]) * self.values[k];
        }
        for (k, &i) in self.types.iter().enumerate() {
            let range = node.most[k] - node.least[k];
            let demand = self.packing.demand(i).iter().zip(&self.room);
            let fits =
                |(d, room): (&u64, &u64)| u128::from(*d) * u128::from(range) <= u128::from(*room);
            let more = match demand.clone().all(fits) {
                true => range,
                false => self.packing.max_jobs_in(i, &self.room),
            };
            node.most[k] = node.least[k] + more;
            self.more[k] = f64::from(more);
        }
        true
    }

    fn shares_left(&self) -> Vec<f64> {
        let pairs = self.room.iter().zip(self.packing.capacity());
        pairs.map(|(room, all)| over(*room as f64, *all)).collect()
    }

    fn unit_prices(&self) -> Vec<f64> {
        let pairs = self.simplex.prices.iter().zip(self.packing.capacity());
        pairs.map(|(w, all)| over(w * self.unit, *all)).collect()
    }

    /// Uses the reduced cost of each type to reduce the range of its count.
    fn tighten(&self, node: &mut Open, bound: f64) {
        let above = bound - self.bar();
        for (k, more) in self.more.iter().enumerate() {
            let reduced = self.simplex.reduced[k];
            let away = (above / reduced.abs()) * (1.0 + 1e-9) + 1e-9;
            if away < *more {
                match reduced < 0.0 {
                    true => node.most[k] = node.least[k] + away as u32,
                    false => node.least[k] = node.most[k] - away as u32,
                }
            }
        }
    }

    fn take_whole(&mut self, counts: &[f64]) {
        if counts.iter().all(|count| !is_fractional(*count)) {
            let whole: Vec<u32> = counts.iter().map(|count| count.round() as u32).collect();
            let (value, schedule) = (schedule_value(&whole, &self.values), self.schedule(&whole));
            if value > self.bar() && self.packing.fits(&schedule) {
                self.take(value, schedule);
            }
        }
    }

    fn schedule(&self, counts: &[u32]) -> Schedule {
        let mut schedule = vec![0; self.packing.types()];
        for (&i, count) in self.types.iter().zip(counts) {
            schedule[i] = *count;
        }
        schedule
    }

    fn take(&mut self, value: f64, schedule: Schedule) {
        self.best = value;
        let all: Vec<usize> = (0..self.packing.types()).collect();
        self.found
            .push(self.packing.extended_to_maximal(schedule, &all));
    }

    /// Returns the type to branch on and the split: fractional counts first, then the largest jobs.
    fn fractional(&self, node: &Open, counts: &[f64]) -> Option<(usize, u32)> {
        let open = (0..counts.len()).filter(|&k| node.most[k] > node.least[k]);
        let size = |k: usize| self.packing.dominant_share(self.types[k]);
        let of = |k: usize| (is_fractional(counts[k]), size(k));
        let by_size = |a: (bool, f64), b: (bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        let k = open.max_by(|&a, &b| by_size(of(a), of(b)))?;
        Some((k, (counts[k] as u32).clamp(node.least[k], node.most[k] - 1)))
    }

    fn branch(&mut self, node: &Open, k: usize, most: u32) -> [Open; 2] {
        let children = [self.nodes.len(), self.nodes.len() + 1];
        let prices = self.nodes[node.place].prices.clone();
        self.nodes[node.place].branch = Some((self.types[k], most, children));
        let branch = None;
        self.nodes.extend(vec![Node { prices, branch }; 2]);
        let mut below = children.map(|place| Open {
            place,
            bound: node.bound,
            least: node.least.clone(),
            most: node.most.clone(),
        });
        below[0].most[k] = most.min(node.most[k]);
        below[1].least[k] = node.least[k].max(most + 1);
        below
    }
}

impl Search<'_> {
    /// Returns the same proof with fewer nodes, unless one search at the root's prices is enough.
    pub(in crate::program) fn coarser(
        tree: &Tree,
        packing: &Packing,
        values: &[f64],
        bound: f64,
    ) -> Option<SearchRecord> {
        if Knapsack::new(packing, values).solve(bound, COARSE).exact {
            return None;
        }
        let mut search = Search::new(packing, values, bound / (1.0 + WORTH));
        let each = COARSE.min(COARSE_WORK / tree.len() as u64);
        let mut open = vec![(search.root(), 0)];
        while let Some((mut node, at)) = open.pop() {
            if !search.fit(&mut node) {
                continue;
            }
            let Node { prices, branch } = &tree[at];
            let of_all = prices.iter().zip(packing.capacity());
            let of_all = of_all.map(|(w, all)| w * *all as f64 / search.unit);
            search.simplex.take_prices(of_all.collect());
            search.nodes[node.place].prices.clone_from(prices);
            if let (false, Some((i, most, children))) = (search.is_closed(&mut node, each), branch)
            {
                let k = search.types.iter().position(|own| own == i)?;
                // The bounds on the counts may be tighter than in the original tree.
                let possible = search.branch(&node, k, *most).into_iter().zip(*children);
                open.extend(possible.filter(|(node, _)| node.least[k] <= node.most[k]));
            }
        }
        Some(search.record())
    }

    fn record(self) -> SearchRecord {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let Node { prices, branch } = &self.nodes[at];
            if let Some((.., children)) = branch {
                open.extend(children.iter().rev());
            }
            nodes.push(SearchNode {
                prices: prices.clone(),
                branch: branch.map(|(i, most, _)| (i, most)),
            });
        }
        SearchRecord {
            types: self.types,
            nodes,
        }
    }
}

fn is_fractional(count: f64) -> bool {
    (count - count.round()).abs() > 1e-7
}

/// Returns the types with a value that cannot be replaced by another type without a loss.
fn undominated(packing: &Packing, values: &[f64]) -> Vec<usize> {
    let mut types: Vec<usize> = (0..values.len()).filter(|&i| values[i] > 0.0).collect();
    types.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let beats = |k: usize, i: usize| {
        f64::from(packing.max_jobs_in(k, packing.demand(i))) * values[k] >= values[i]
    };
    let mut kept: Vec<usize> = Vec::new();
    for i in types {
        if !kept.iter().any(|&k| beats(k, i)) {
            kept.retain(|&k| !beats(i, k));
            kept.push(i);
        }
    }
    kept.sort_unstable();
    kept
}
