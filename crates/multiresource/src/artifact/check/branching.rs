//! A knapsack bounded by a tree of bounds on counts. In each node, the prices, or else a table for
//! a resource or a search, must show that the remaining capacity is not worth too much.

use super::knapsack::{Region, Verdict, exceeds};
use crate::artifact::{SearchNode, SearchRecord};
use crate::schedule::{Packing, price};
use synth_core::artifact::Findings;

const ROUNDING: f64 = 1e-12;

const TABLE: u64 = 40_000;

/// The maximum of nodes times types, which need eight bytes each in the boxes of a deep tree.
const SIZE: usize = 17_000_000;

#[derive(Clone)]
struct Counts {
    least: Vec<u32>,
    most: Vec<u32>,
}

pub(super) fn shape(
    found: &SearchRecord,
    (types, resources): (usize, usize),
    findings: &mut Findings,
) {
    let size = found.nodes.len().saturating_mul(found.types.len());
    if size > SIZE {
        let expected = format!("at most {}", SIZE);
        return findings.differs("", format!("{size} nodes times types"), expected);
    }
    let mut known = vec![false; types];
    for (place, &i) in found.types.iter().enumerate() {
        if i >= types || std::mem::replace(&mut known[i], true) {
            let expected = format!("each job type (below {types}) at most once");
            findings.differs(format!("types[{place}]"), i, expected);
        }
    }
    for (n, node) in found.nodes.iter().enumerate() {
        let prices = format!("nodes[{n}].prices");
        findings.all_nonnegative(&prices, &node.prices, resources, "resource");
        if let Some((i, _)) = node.branch.filter(|(i, _)| !found.types.contains(i)) {
            findings.differs(format!("nodes[{n}].branch"), i, "one of the types searched");
        }
    }
}

/// Verifies that no schedule is worth more than `worth` at these values (K).
pub(super) fn verify(
    packing: &Packing,
    values: &[f64],
    worth: f64,
    found: &SearchRecord,
    nodes: &mut u64,
) -> Result<(), String> {
    const NO_TREE: &str = "the nodes of the search do not form a tree";
    let proof = Proof {
        packing,
        types: &found.types,
        values: found.types.iter().map(|&i| values[i]).collect(),
        worth,
    };
    if let Some(i) = (0..values.len()).find(|&i| !proof.covers(i, values[i])) {
        return Err(format!("the search that proves it leaves out type {i}"));
    }
    let most = found.types.iter().map(|&i| packing.max_jobs_alone(i));
    let root = Counts {
        least: vec![0; found.types.len()],
        most: most.collect(),
    };
    // The counts are `None` if there is nothing left to prove.
    let mut open = vec![Some(root)];
    for (n, node) in found.nodes.iter().enumerate() {
        let counts = open.pop().ok_or(NO_TREE)?;
        let left = counts.and_then(|counts| proof.left(counts, &node.prices));
        match (node.branch, left) {
            (Some(branch), left) => open.extend(proof.parts(left.map(|l| l.counts), branch)?),
            (None, Some(left)) if !proof.is_decided(&left, node, nodes) => {
                return Err(format!(
                    "node {n} of the search does not prove that no schedule there is worth more than {worth}"
                ));
            }
            (None, _) => {}
        }
    }
    open.is_empty().then_some(()).ok_or_else(|| NO_TREE.into())
}

struct Proof<'a> {
    packing: &'a Packing,
    types: &'a [usize],
    values: Vec<f64>,
    worth: f64,
}

struct Left {
    counts: Counts,
    /// The value of the least counts, and the capacity that they leave free.
    value: f64,
    free: Vec<u64>,
}

impl Proof<'_> {
    /// Returns whether type i is searched, or worth no more than searched jobs in its place.
    fn covers(&self, i: usize, value: f64) -> bool {
        let stands_for = |(&k, v): (&usize, &f64)| {
            let jobs = f64::from(self.packing.max_jobs_in(k, self.packing.demand(i)));
            k == i || jobs * v >= value * (1.0 - ROUNDING)
        };
        value <= 0.0 || self.types.iter().zip(&self.values).any(stands_for)
    }

    /// Returns the part that the prices do not decide, with the tightest counts that they prove.
    fn left(&self, counts: Counts, prices: &[f64]) -> Option<Left> {
        let mut left = self.placed(counts)?;
        let counts = &mut left.counts;
        let spare = |(i, v): (&usize, &f64)| v - price(self.packing.demand(*i), prices);
        let spare: Vec<f64> = self.types.iter().zip(&self.values).map(spare).collect();
        let ranges = counts.most.iter().zip(&counts.least).zip(&spare);
        let gained = ranges.map(|((m, l), d)| f64::from(m - l) * d.max(0.0));
        let above = left.value + price(&left.free, prices) + gained.sum::<f64>() - self.worth;
        if above <= 0.0 {
            return None;
        }
        for (k, d) in spare.iter().enumerate() {
            let steps = ((1.0 + ROUNDING) * above / d.abs() + ROUNDING).floor();
            if steps < f64::from(counts.most[k] - counts.least[k]) {
                let steps = steps as u32;
                if *d > 0.0 {
                    counts.least[k] = counts.most[k] - steps;
                } else {
                    counts.most[k] = counts.least[k] + steps;
                }
            }
        }
        self.placed(left.counts)
    }

    /// Places the least counts on the server, and tightens the others. `None` if they do not fit.
    fn placed(&self, mut counts: Counts) -> Option<Left> {
        let mut schedule = vec![0; self.packing.types()];
        let mut value = 0.0;
        for (k, &i) in self.types.iter().enumerate() {
            schedule[i] = counts.least[k];
            value += f64::from(counts.least[k]) * self.values[k];
        }
        let free = self.packing.free_capacity(&schedule)?;
        for (k, &i) in self.types.iter().enumerate() {
            let fits = counts.least[k].saturating_add(self.packing.max_jobs_in(i, &free));
            counts.most[k] = counts.most[k].min(fits);
        }
        let possible = counts.least.iter().zip(&counts.most).all(|(l, m)| l <= m);
        possible.then_some(Left {
            counts,
            value,
            free,
        })
    }

    /// Returns the two parts of a branch, the first one last, as the stack pops it first.
    fn parts(
        &self,
        counts: Option<Counts>,
        (job_type, most): (usize, u32),
    ) -> Result<[Option<Counts>; 2], String> {
        let place = self.types.iter().position(|&i| i == job_type);
        let k = place.ok_or_else(|| format!("type {job_type} is not searched"))?;
        let Some(counts) = counts else {
            return Ok([None, None]);
        };
        let (mut fewer, mut more) = (counts.clone(), counts);
        fewer.most[k] = fewer.most[k].min(most);
        more.least[k] = more.least[k].max(most.saturating_add(1));
        let possible = |counts: Counts| (counts.least[k] <= counts.most[k]).then_some(counts);
        Ok([possible(more), possible(fewer)])
    }

    fn is_decided(&self, left: &Left, node: &SearchNode, nodes: &mut u64) -> bool {
        let missing = self.worth - left.value;
        let mut tables = (0..left.free.len()).map(|j| self.table(left, &node.prices, j));
        if tables.any(|worth| worth.is_some_and(|worth| worth <= missing)) {
            return true;
        }
        let all = self.packing.types();
        let (mut values, mut costs, mut most) = (vec![0.0; all], vec![0.0; all], vec![0; all]);
        for (k, &i) in self.types.iter().enumerate() {
            most[i] = left.counts.most[k] - left.counts.least[k];
            values[i] = if most[i] > 0 { self.values[k] } else { 0.0 };
            costs[i] = price(self.packing.demand(i), &node.prices);
        }
        let region = Region {
            price: price(&left.free, &node.prices),
            free: left.free.clone(),
            most,
        };
        exceeds(self.packing, (&values, &costs), region, missing, nodes) == Verdict::Bounded
    }

    /// Returns an upper bound on the remaining value by dynamic programming for resource j and
    /// prices for the others. `None` if the table is too large, or resource j has no price.
    fn table(&self, left: &Left, prices: &[f64], j: usize) -> Option<f64> {
        let sizes = left.free[j].checked_add(1)?;
        if sizes.checked_mul(self.types.len() as u64)? > TABLE || prices[j] <= 0.0 {
            return None;
        }
        let mut others = prices.to_vec();
        others[j] = 0.0;
        let mut worth = vec![0.0_f64; sizes as usize];
        for (k, &i) in self.types.iter().enumerate() {
            let demand = self.packing.demand(i);
            let (value, step) = (self.values[k] - price(demand, &others), demand[j] as usize);
            let most = (left.counts.most[k] - left.counts.least[k]) as usize;
            if value > 0.0 && most > 0 {
                let with = |free: usize| {
                    let Some(fit) = free.checked_div(step) else {
                        return worth[free] + most as f64 * value;
                    };
                    let counts = 0..=fit.min(most);
                    let worths = counts.map(|n| worth[free - n * step] + n as f64 * value);
                    worths.fold(0.0, f64::max)
                };
                worth = (0..worth.len()).map(with).collect();
            }
        }
        Some(worth[worth.len() - 1] + price(&left.free, &others))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::policy::tests::section7;
    use crate::schedule::{enumerate, schedule_value};

    #[test]
    fn rejects_incomplete_searches() {
        let packing = Packing::new(&section7());
        let values = [1.0, 2.0, 5.0];
        let schedules = enumerate(&packing, 1000).schedules;
        let worth = |u: &Vec<u32>| schedule_value(u, &values);
        let best = schedules.iter().map(worth).fold(0.0, f64::max);
        let leaf = |w: f64| SearchNode {
            prices: vec![w; packing.capacity().len()],
            branch: None,
        };
        let ask = |types: &[usize], nodes: Vec<SearchNode>, worth: f64| {
            let found = SearchRecord {
                types: types.to_vec(),
                nodes,
            };
            verify(&packing, &values, worth, &found, &mut 10_000)
        };
        let all = [0, 1, 2];
        for w in [0.01, 0.3, 2.0] {
            assert!(ask(&all, vec![leaf(w)], best).is_ok(), "{w}");
            let below = best * (1.0 - 1e-9);
            let unproven = ask(&all, vec![leaf(w)], below).unwrap_err();
            assert!(unproven.starts_with("node 0 of"), "{unproven}");
            let branch = |i, most| SearchNode {
                branch: Some((i, most)),
                ..leaf(w)
            };
            let parts = vec![branch(2, 1), branch(1, 3), leaf(w), leaf(w), leaf(w)];
            assert!(ask(&all, parts.clone(), best).is_ok(), "{w}");
            assert!(ask(&all, parts.clone(), below).is_err(), "{w}");
            let cut = ask(&all, parts[..4].to_vec(), best).unwrap_err();
            assert!(cut.contains("do not form a tree"), "{cut}");
            let fewer = ask(&[0, 1], vec![leaf(w)], best).unwrap_err();
            assert!(fewer.contains("leaves out type 2"), "{fewer}");
        }
    }
}
