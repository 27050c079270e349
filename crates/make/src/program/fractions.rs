//! The optimum as a fraction, proven from both sides.
//!
//! # Theory
//! With `x_s = ρ π_s` program (7) and its dual are
//!
//! ```text
//! ρ  =  min Σ_s x_s   s.t.  Σ_s x_s u_si ≥ b_i,  x ≥ 0     =     max Σ_i b_i v_i   s.t.  v·u ≤ 1 (each u ∈ S),  v ≥ 0
//! ```
//!
//! and the prices of the certificate are `y_i = b_i v_i / ρ`. Where the offered loads b are fractions,
//! so are the vertices of both. Which schedules are in use, which types are tight and which have a price
//! is taken from the optimum in doubles; `x` solves the equations of tight types, `v` those of the
//! schedules in use (Applegate, Cook, Dash, Espinoza, Operations Research Letters 35, 2007, settle linear
//! programs so). Both are then verified in whole numbers, all constraints and the equality of the two
//! values; so the proof does not depend on the doubles.
//!
//! # Practice
//! Only independent rows of the tight types are taken, so that degenerate optima need no special
//! case; likewise for the schedules, and where those in use do not determine the prices, others
//! that are worth 1 are searched for. To prove that no schedule is worth more takes a search
//! (the checker's, [`is_bounded`]), except where ρ is the fluid bound: at v_i = D_ij/P_j of the bottleneck j no
//! schedule is worth more than 1, since u·D ≤ P.

mod knapsack;
mod system;

use itertools::Itertools;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed};

use super::solution::{ExactLoad, Mix, Solution, nearest};
use synth_multiresource::artifact::is_bounded;
use synth_multiresource::schedule::{Packing, Schedule};
use synth_multiresource::workload::{JobType, Workload};
use system::{Echelon, Fractions, dot};

/// Rounds of correcting which types are tight and which schedules are in use.
const CORRECTIONS: usize = 8;

/// Relative slack up to which a type may be tight, and a schedule worth 1.
const TIGHT: f64 = 1e-7;

/// By how much the load in fractions may be above that in doubles.
const ROUNDING: f64 = 1e-9;

/// Schedules worth 1 that are tried to find prices.
const TRIED: usize = 5_000;

/// Returns the optimum of a solved program in fractions; a search, where one is needed, visits at most `nodes`
/// nodes. `None` where an offered load is no fraction, or the doubles are too far from a vertex.
pub fn exact(workload: &Workload, solution: &Solution, nodes: u64) -> Option<ExactLoad> {
    let program = Program::new(workload)?;
    let (schedules, times) = program.times(solution)?;
    let total: BigInt = times.numerators.iter().sum();
    let load = program.load(&times);
    let weight = |x: BigInt| BigRational::new(x, total.clone());
    Some(ExactLoad {
        prices: program.prices(solution, &schedules, &load, nodes),
        weights: times.numerators.into_iter().map(weight).collect(),
        load,
        schedules,
    })
}

/// The program in whole numbers: `b_i = loads_i / unit`.
struct Program {
    packing: Packing,
    loads: Vec<BigInt>,
    unit: BigInt,
}

impl Program {
    fn new(workload: &Workload) -> Option<Self> {
        let loads = workload.types().iter().map(JobType::exact_load);
        let loads: Vec<BigRational> = loads.collect::<Option<_>>()?;
        let denominators = loads.iter().map(BigRational::denom);
        let unit = denominators.fold(BigInt::one(), |unit, denominator| unit.lcm(denominator));
        let whole = loads.iter().map(|b| b.numer() * (&unit / b.denom()));
        Some(Program {
            packing: Packing::new(workload),
            loads: whole.collect(),
            unit,
        })
    }

    /// Returns `b_i` in double precision.
    fn offered(&self, i: usize) -> f64 {
        nearest(&BigRational::new(self.loads[i].clone(), self.unit.clone()))
    }

    /// Returns `ρ = Σ_s x_s`, of times in multiples of 1/unit.
    fn load(&self, times: &Fractions) -> BigRational {
        let total: BigInt = times.numerators.iter().sum();
        BigRational::new(total, &times.denominator * &self.unit)
    }

    /// Schedules with `x_s > 0` in multiples of 1/unit, feasible and as good as in doubles.
    fn times(&self, solution: &Solution) -> Option<(Vec<Schedule>, Fractions)> {
        let Mix { schedules, weights } = &solution.mixes[0];
        let mut used: Vec<usize> = (0..schedules.len()).collect();
        // Of schedules that depend on each other those with the least weight are left out.
        used.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let mut order = self.by_tightness(solution);
        for _ in 0..CORRECTIONS {
            let basis: Vec<&Schedule> = used.iter().map(|&s| &schedules[s]).collect();
            // The equations of the first independent types in order; 0 for schedules that depend on the others.
            let row = |i: usize| basis.iter().map(|u| u[i]).collect::<Vec<u32>>();
            let rows = order.iter().map(|&i| (row(i), self.loads[i].clone()));
            let times = solve_independent(rows, basis.len())?;
            // The types that get less than `b_i`.
            let served = |i: usize| dot(&row(i), &times.numerators);
            let is_starved = |&i: &usize| served(i) < &self.loads[i] * &times.denominator;
            let starved: Vec<usize> = (0..self.loads.len()).filter(is_starved).collect();
            if starved.is_empty() && times.numerators.iter().all(|x| !x.is_negative()) {
                let most = solution.certificate.load * (1.0 + ROUNDING);
                return (nearest(&self.load(&times)) <= most)
                    .then(|| in_use(schedules, used, times));
            }
            // The doubles did not tell these from 0: a schedule that is not in use, a tight type.
            let signs = used.iter().zip(&times.numerators);
            let kept = signs.filter(|(_, x)| !x.is_negative());
            used = kept.map(|(s, _)| *s).collect();
            order.sort_by_key(|i| !starved.contains(i));
        }
        None
    }

    /// Returns the types, the probably tight ones first.
    fn by_tightness(&self, solution: &Solution) -> Vec<usize> {
        let served = solution.mixes[0].mean_schedule();
        let load = solution.certificate.load;
        let slack = |i: usize| served[i] / self.offered(i) * load - 1.0;
        let slack: Vec<f64> = (0..served.len()).map(slack).collect();
        // A price where there is slack is an error of rounding.
        let priced = |i: usize| slack[i] < TIGHT && solution.certificate.prices[i] > TIGHT;
        let mut order: Vec<usize> = (0..served.len()).collect();
        order.sort_by(|&a, &b| {
            let by_price = priced(b).cmp(&priced(a));
            by_price.then(slack[a].total_cmp(&slack[b]))
        });
        order
    }

    /// Prices that prove the load.
    fn prices(
        &self,
        solution: &Solution,
        mix: &[Schedule],
        load: &BigRational,
        nodes: u64,
    ) -> Option<Vec<BigRational>> {
        if let Some(j) = self.bottleneck(load) {
            let share = |i: usize| BigInt::from(self.packing.demand(i)[j]);
            let values = Fractions {
                numerators: (0..self.loads.len()).map(share).collect(),
                denominator: self.packing.capacity()[j].into(),
            };
            return Some(self.worths(&values, load));
        }
        let values = self.values(solution, mix, nodes)?;
        let is_one = |u: &Schedule| dot(u, &values.numerators) == values.denominator;
        let are_prices = !values.numerators.iter().any(Signed::is_negative);
        let worths = self.worths(&values, load);
        let guide = &solution.certificate.servers[0].resource_prices;
        let is_proof = are_prices
            && mix.iter().all(is_one)
            && worths.iter().sum::<BigRational>().is_one()
            && is_bounded(
                &self.packing,
                &values.numerators,
                &values.denominator,
                guide,
                nodes,
            );
        is_proof.then_some(worths)
    }

    /// Returns the resource j with `Σ_i b_i D_ij / P_j = ρ`, if there is one.
    fn bottleneck(&self, load: &BigRational) -> Option<usize> {
        (0..self.packing.capacity().len()).find(|&j: &usize| {
            let loads = self.loads.iter().enumerate();
            let needed: BigInt = loads.map(|(i, b)| b * self.packing.demand(i)[j]).sum();
            let capacity = BigInt::from(self.packing.capacity()[j]);
            needed.is_positive() && needed * load.denom() == load.numer() * capacity * &self.unit
        })
    }

    /// Returns `y_i = b_i v_i / ρ`.
    fn worths(&self, values: &Fractions, load: &BigRational) -> Vec<BigRational> {
        let numerator = &values.denominator * &self.unit * load.numer();
        let whole = BigRational::new(numerator, load.denom().clone());
        let pairs = self.loads.iter().zip(&values.numerators);
        pairs
            .map(|(b, v)| BigRational::from_integer(b * v) / &whole)
            .collect()
    }

    /// Values `v` (K) of running jobs at which each schedule of the mix is worth 1; 0 for types without
    /// a price in doubles.
    fn values(&self, solution: &Solution, mix: &[Schedule], nodes: u64) -> Option<Fractions> {
        let prices = &solution.certificate.prices;
        let mut priced: Vec<usize> = (0..prices.len()).filter(|&i| prices[i] > 0.0).collect();
        priced.sort_by(|&a, &b| prices[b].total_cmp(&prices[a]));
        let row = |u: &[u32]| priced.iter().map(|&i| u[i]).collect::<Vec<u32>>();
        let mut rows: Vec<Vec<u32>> = mix.iter().map(|u| row(u)).collect();
        let mut echelon = Echelon::default();
        let mut rank = rows.iter().filter(|row| echelon.admit(row)).count();
        if rank < priced.len() {
            let mut tried = 0;
            let guide = &solution.certificate.servers[0].resource_prices;
            // `v_i = ρ y_i / b_i` in doubles.
            let value = |(i, y)| solution.certificate.load * y / self.offered(i);
            let rough: Vec<f64> = prices.iter().enumerate().map(value).collect();
            knapsack::near(&self.packing, &rough, guide, TIGHT, nodes, |u| {
                let row = row(&u);
                if echelon.admit(&row) {
                    rank += 1;
                    rows.push(row);
                }
                tried += 1;
                rank < priced.len() && tried < TRIED
            });
        }
        let equations = rows.into_iter().map(|row| (row, BigInt::one()));
        Some(solve_independent(equations, priced.len())?.spread(&priced, prices.len()))
    }
}

/// Solves the first independent equations in `unknowns` unknowns; unknowns that depend on others are
/// 0. The caller checks the other equations.
fn solve_independent(
    equations: impl Iterator<Item = (Vec<u32>, BigInt)>,
    unknowns: usize,
) -> Option<Fractions> {
    let mut echelon = Echelon::default();
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    for (row, b) in equations {
        if rows.len() < unknowns && echelon.admit(&row) {
            rows.push(row);
            right.push(b);
        }
    }
    let columns = echelon.columns();
    let of_columns = |row: &Vec<u32>| columns.iter().map(|&c| row[c]).collect();
    let square: Vec<Vec<u32>> = rows.iter().map(of_columns).collect();
    Some(system::solve(&square, &right)?.spread(&columns, unknowns))
}

/// Returns the schedules with a positive time, in the order of the mix.
fn in_use(
    schedules: &[Schedule],
    used: Vec<usize>,
    times: Fractions,
) -> (Vec<Schedule>, Fractions) {
    let positive = used.into_iter().zip(times.numerators);
    let positive = positive.filter(|(_, x)| x.is_positive());
    let positive = positive.sorted_by_key(|(s, _)| *s);
    let (used, numerators) = positive.map(|(s, x)| (schedules[s].clone(), x)).unzip();
    (
        used,
        Fractions {
            numerators,
            ..times
        },
    )
}
#[cfg(test)]
mod tests;
