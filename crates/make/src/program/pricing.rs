//! The pricing problem is `max Σ_i v_i u_i` over `S`, an integer knapsack problem in R dimensions.
//! It is solved by depth-first branch and bound, or else with a [`tree`] of linear relaxations.
//!
//! The dual solution of the relaxation is a set of resource prices `w ≥ 0` with `D_i·w ≥ v_i`. The
//! types are sorted by their efficiency `e_i = v_i / (D_i·w) ≤ 1`, in descending order. If only the
//! types from `i` on are left, then the gain is at most `e_i (w·room)`, because `e_i w` is a
//! feasible solution of the dual for these types.

mod simplex;
mod tree;

use good_lp::{
    DualValues, Expression, ProblemVariables, Solution as _, SolutionWithDual, SolverModel,
    constraint, variable,
};

use good_lp::solvers::highs::HighsProblem;
use good_lp::variable::UnsolvedProblem;

pub(super) use tree::{EFFORTS, Effort, Search, Tree};

use synth_multiresource::schedule::{Packing, Schedule, index_of_largest, price};

pub(crate) struct Knapsack<'a> {
    pub(super) packing: &'a Packing,
    /// The price `w` of one integer unit of each resource, with `D_i·w ≥ v_i` for every type.
    pub(crate) prices: Vec<f64>,
    /// The most efficient item is first.
    items: Vec<Item>,
}

#[derive(Clone)]
struct Item {
    job_type: usize,
    value: f64,
    /// `D_i·w`.
    cost: f64,
    efficiency: f64,
    /// The number of jobs in the relaxation, rounded down; `None` if the type is not in its basis.
    relaxed: Option<u32>,
    most: u32,
}

impl Item {
    fn new(job_type: usize, value: f64, cost: f64, most: u32) -> Self {
        Item {
            job_type,
            value,
            cost,
            efficiency: value / cost,
            relaxed: None,
            most,
        }
    }
}

fn by_efficiency(items: &mut [Item]) {
    items.sort_by(|a, b| {
        let efficiency = b.efficiency.total_cmp(&a.efficiency);
        let cost = b.cost.total_cmp(&a.cost);
        efficiency.then(cost).then(a.job_type.cmp(&b.job_type))
    });
}

pub(super) struct Priced {
    /// Maximal schedules whose worth is greater than the threshold, best first.
    pub schedules: Vec<Schedule>,
    pub bound: f64,
    /// Whether the bound is the optimum, or the threshold if no schedule is worth more.
    pub exact: bool,
    pub tree: Option<Tree>,
}

/// The maximum number of columns from one search, which are the last improvements.
const COLUMNS_A_ROUND: usize = 20;

/// The relative gain that counts as an improvement.
pub(super) const WORTH: f64 = 1e-12;

impl<'a> Knapsack<'a> {
    /// Creates the problem `max Σ v_i u_i` for values `v ≥ 0` (K).
    pub(crate) fn new(packing: &'a Packing, values: &[f64]) -> Self {
        let (counts, prices) = relaxation(packing, values);
        let item = |i: usize| Item {
            relaxed: (counts[i] > 0.0).then_some(counts[i] as u32),
            ..Item::new(i, values[i], price(packing.demand(i), &prices), u32::MAX)
        };
        let valued = (0..values.len()).filter(|&i| values[i] > 0.0);
        let mut items: Vec<Item> = valued.map(item).collect();
        by_efficiency(&mut items);
        Knapsack {
            packing,
            prices,
            items,
        }
    }

    /// Returns the bound `P·w` of the linear relaxation.
    pub(crate) fn relaxed(&self) -> f64 {
        price(self.packing.capacity(), &self.prices)
    }

    /// Returns schedules that are worth more than `threshold`, after at most `nodes` nodes.
    pub(super) fn solve(&self, threshold: f64, nodes: u64) -> Priced {
        let mut search = BranchAndBound {
            packing: self.packing,
            items: &self.items,
            surplus: vec![0.0; self.items.len() + 1],
            nodes,
            best: threshold,
            ceiling: self.relaxed(),
            counts: vec![0; self.items.len()],
            room: self.packing.capacity().to_vec(),
            found: Vec::new(),
        };
        let complete = search.visit(0, 0.0, self.relaxed());
        // A search that reached the relaxation's bound is as good as a complete one.
        let exact = complete || search.best >= search.ceiling * (1.0 - WORTH);
        let bound = match exact {
            true => search.best * (1.0 + WORTH),
            false => search.ceiling,
        };
        let best = search.found.iter().rev().take(COLUMNS_A_ROUND);
        Priced {
            schedules: best.map(|(_, counts)| self.schedule(counts)).collect(),
            bound: bound.min(search.ceiling.max(threshold)),
            exact,
            tree: None,
        }
    }

    /// Returns up to `limit` schedules worth at least `floor`, starting close to `centre`.
    pub(super) fn face(
        &self,
        floor: f64,
        centre: &[f64],
        limit: usize,
        nodes: u64,
    ) -> Vec<Schedule> {
        let mut walk = Walk {
            knapsack: self,
            floor,
            centre,
            limit,
            nodes,
            counts: vec![0; self.items.len()],
            found: Vec::new(),
        };
        let mut room = self.packing.capacity().to_vec();
        walk.visit(0, 0.0, self.relaxed(), &mut room);
        let found = walk.found.iter();
        found.map(|counts| self.schedule(counts)).collect()
    }

    fn schedule(&self, counts: &[u32]) -> Schedule {
        let mut schedule = vec![0; self.packing.types()];
        for (item, count) in self.items.iter().zip(counts) {
            schedule[item.job_type] = *count;
        }
        let all: Vec<usize> = (0..self.packing.types()).collect();
        self.packing.extended_to_maximal(schedule, &all)
    }
}

struct BranchAndBound<'a> {
    packing: &'a Packing,
    items: &'a [Item],
    /// Bounds the value in excess of cost of the items from each index on.
    surplus: Vec<f64>,
    nodes: u64,
    best: f64,
    ceiling: f64,
    counts: Vec<u32>,
    room: Vec<u64>,
    /// The worth and the counts of the first items, in ascending order.
    found: Vec<(f64, Vec<u32>)>,
}

impl BranchAndBound<'_> {
    /// Visits the items from `k` on, for free capacity of this `price`; `false` at the node limit.
    fn visit(&mut self, k: usize, value: f64, price: f64) -> bool {
        if value > self.best * (1.0 + WORTH) {
            self.best = value;
            self.found.push((value, self.counts[..k].to_vec()));
        }
        let items = self.items;
        let Some(item) = items.get(k) else {
            return true;
        };
        let bound = item.efficiency * price + self.surplus[k];
        if value + bound <= self.best * (1.0 + WORTH) {
            return true;
        }
        if self.nodes == 0 {
            return false;
        }
        self.nodes -= 1;
        let next = items.get(k + 1).map_or(0.0, |i| i.efficiency);
        let fitting = self.packing.max_jobs_in(item.job_type, &self.room);
        let most = fitting.min(item.most);
        let first = item.relaxed.unwrap_or(most).min(most);
        let mut complete = true;
        for count in (first..=most).chain((0..first).rev()) {
            let value = value + f64::from(count) * item.value;
            let left = price - f64::from(count) * item.cost;
            let bound = next * left + self.surplus[k + 1];
            if value.max(value + bound) <= self.best * (1.0 + WORTH) {
                // If there are fewer jobs of this type, the bound can only be lower.
                if count < first { break } else { continue }
            }
            self.counts[k] = count;
            self.packing.take(item.job_type, count, &mut self.room);
            complete = self.visit(k + 1, value, left);
            self.packing.release(item.job_type, count, &mut self.room);
            if !complete || self.best >= self.ceiling * (1.0 - WORTH) {
                break;
            }
        }
        complete
    }
}

struct Walk<'a> {
    knapsack: &'a Knapsack<'a>,
    floor: f64,
    centre: &'a [f64],
    limit: usize,
    nodes: u64,
    counts: Vec<u32>,
    found: Vec<Vec<u32>>,
}

impl Walk<'_> {
    fn visit(&mut self, k: usize, value: f64, room_value: f64, room: &mut [u64]) {
        let Some(item) = self.knapsack.items.get(k) else {
            self.found.push(self.counts.clone());
            return;
        };
        let next = self.knapsack.items.get(k + 1).map_or(0.0, |i| i.efficiency);
        let most = self.knapsack.packing.max_jobs_in(item.job_type, room);
        let centre = self.centre[item.job_type];
        let mut counts: Vec<u32> = (0..=most).collect();
        counts.sort_by(|a, b| {
            let distance = |c: &u32| (f64::from(*c) - centre).abs();
            distance(a).total_cmp(&distance(b))
        });
        for count in counts {
            let value = value + f64::from(count) * item.value;
            let left = room_value - f64::from(count) * item.cost;
            if self.nodes == 0 || self.found.len() == self.limit {
                return;
            }
            self.nodes -= 1;
            if value + next * left >= self.floor {
                self.knapsack.packing.take(item.job_type, count, room);
                self.counts[k] = count;
                self.visit(k + 1, value, left, room);
                self.knapsack.packing.release(item.job_type, count, room);
            }
        }
        self.counts[k] = 0;
    }
}

/// Solves the linear relaxation of the knapsack problem. Returns the counts (K) and the price of a
/// unit of each resource (R), such that `D_i·w ≥ v_i`.
fn relaxation(packing: &Packing, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let capacity = packing.capacity();
    let (counts, per_capacity) = if capacity.len() == 1 {
        one_resource(packing, values)
    } else {
        let alone = (0..values.len()).map(|i| 1.0 / packing.dominant_share(i));
        let alone: Vec<f64> = alone.collect();
        relaxed_program(packing, values, None)
            .filter(|(_, prices)| shortage(packing, values, prices) <= 1.0 + SHORT)
            .or_else(|| relaxed_program(packing, values, Some(&alone)))
            // If there is no solution, all prices are 0, and `covering` increases them.
            .unwrap_or_else(|| (vec![0.0; values.len()], vec![0.0; capacity.len()]))
    };
    let prices = covering(packing, values, per_capacity);
    let pairs = prices.iter().zip(capacity);
    let prices = pairs.map(|(price, units)| over(*price, *units)).collect();
    (counts, prices)
}

fn over(amount: f64, units: u64) -> f64 {
    match units {
        0 => 0.0,
        units => amount / units as f64,
    }
}

/// If the prices of the solver are too low by at most this relative amount, they are scaled.
const SHORT: f64 = 1e-6;

/// Returns the maximum ratio of the value of a type to its cost at these prices, at least 1.
fn shortage(packing: &Packing, values: &[f64], prices: &[f64]) -> f64 {
    let cost = |i: usize| -> f64 {
        let parts = prices.iter().enumerate();
        parts.map(|(j, price)| packing.share(i, j) * price).sum()
    };
    let valued = (0..values.len()).filter(|&i| values[i] > 0.0);
    valued.map(|i| values[i] / cost(i)).fold(1.0, f64::max)
}

/// Increases the prices until the cost of every type is at least its value, which makes the bound
/// valid despite the absolute tolerance of the solver. A large difference is added to the resource
/// that the type uses most, because a price of 0 cannot be scaled.
fn covering(packing: &Packing, values: &[f64], mut prices: Vec<f64>) -> Vec<f64> {
    let short = shortage(packing, values, &prices);
    if short <= 1.0 + SHORT {
        return prices.iter().map(|price| short * price).collect();
    }
    for (i, value) in values.iter().enumerate() {
        let shares: Vec<f64> = (0..prices.len()).map(|j| packing.share(i, j)).collect();
        let cost: f64 = shares.iter().zip(&prices).map(|(s, w)| s * w).sum();
        if cost < *value {
            let most = index_of_largest(&shares);
            prices[most] += (value - cost) / shares[most];
        }
    }
    prices
}

/// Solves the relaxation for a single resource, whose price is set by the most valuable type.
fn one_resource(packing: &Packing, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let worth = |i: &usize| values[*i] / packing.share(*i, 0);
    let dearest = (0..values.len()).max_by(|a, b| worth(a).total_cmp(&worth(b)));
    let dearest = dearest.expect("a workload has a type");
    let mut counts = vec![0.0; values.len()];
    counts[dearest] = 1.0 / packing.share(dearest, 0);
    (counts, vec![worth(&dearest)])
}

/// Configures HiGHS: silent, single-threaded, with this primal feasibility tolerance.
pub(crate) fn quiet(program: UnsolvedProblem, tolerance: f64) -> HighsProblem {
    let mut program = program.using(good_lp::highs);
    program.set_verbose(false);
    let one = program.set_threads(1);
    one.set_option("primal_feasibility_tolerance", tolerance)
}

/// An upper bound that has no effect, because each of the scaled unknowns is at most 1.
const MOST: f64 = 2.0;

/// Solves `max v·u` for `u ≥ 0`, where the total demand for each resource is at most its capacity.
/// All demands are given as fractions of the capacity.
///
/// If `units` is set, the unit of each unknown is the number of jobs of the type that fit alone, so
/// the largest coefficient of each unknown is 1 and the objective has the worths of servers that
/// are full of one type. The unknowns are then bounded, because the solver ignores small
/// coefficients, and a type without any demand would be unbounded.
fn relaxed_program(
    packing: &Packing,
    values: &[f64],
    units: Option<&[f64]>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (most, tolerance) = units.map_or((f64::INFINITY, 1e-7), |_| (MOST, 1e-10));
    let ones = vec![1.0; values.len()];
    let alone = units.unwrap_or(&ones);
    let full: Vec<f64> = values.iter().zip(alone).map(|(v, n)| v * n).collect();
    let dearest = full.iter().copied().fold(0.0, f64::max);
    if dearest == 0.0 {
        return None;
    }
    let mut variables = ProblemVariables::new();
    let u = variables.add_vector(variable().min(0.0).max(most), values.len());
    let objective: Expression = u.iter().zip(&full).map(|(u, v)| (v / dearest) * *u).sum();
    let mut problem = quiet(variables.maximise(objective), tolerance)
        .set_option("dual_feasibility_tolerance", tolerance);
    let limit = |j: usize| {
        let parts = u.iter().zip(alone).enumerate();
        let used: Expression = parts.map(|(i, (u, n))| packing.share(i, j) * n * *u).sum();
        problem.add_constraint(constraint!(used <= 1.0))
    };
    let limits: Vec<_> = (0..packing.capacity().len()).map(limit).collect();
    let mut solution = problem.solve().ok()?;
    let pairs = u.iter().zip(alone);
    let counts = pairs.map(|(u, n)| solution.value(*u).max(0.0) * n);
    let counts = counts.collect();
    let duals = solution.compute_dual();
    // The sign depends on the sense of the objective in HiGHS, but a price is never negative.
    let prices = limits.into_iter().map(|c| duals.dual(c).abs() * dearest);
    Some((counts, prices.collect()))
}
