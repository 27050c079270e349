//! This module computes the optimum as exact fractions, with a proof from both sides. If we set
//! `x_s = ρ π_s`, then program (7) and its dual are
//!
//! ```text
//! ρ  =  min Σ_s x_s    s.t.  Σ_s x_s u_si ≥ b_i,  x ≥ 0
//!    =  max Σ_i b_i v_i  s.t.  v·u ≤ 1 (each u ∈ S),  v ≥ 0
//! ```
//!
//! and the prices of the certificate are `y_i = b_i v_i / ρ`. If the offered loads `b` are
//! rational, then so are the vertices of both programs. The floating-point solution determines
//! which schedules are in use, which types are tight, and which types have a price. Then `x` solves
//! the equations of the tight types, and `v` those of the schedules in use (as in Applegate, Cook,
//! Dash, Espinoza, Operations Research Letters 35, 2007). All constraints, and that both values are
//! equal, are verified with integers, so the proof does not depend on the floating-point solution.
//!
//! Only independent rows are used, so there is no special case for degenerate optima. If the
//! schedules in use do not determine the prices, other schedules of worth 1 are added. In general,
//! a search is needed to prove that no schedule is worth more (see [`is_bounded`]), but not if `ρ`
//! is equal to the fluid bound: then the values are `v_i = D_ij/P_j` for the bottleneck `j`.

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

const CORRECTIONS: usize = 8;

/// The maximum relative slack of a tight type, or distance of a worth from 1.
const TIGHT: f64 = 1e-7;

/// The maximum relative amount by which the exact load can be greater than the floating-point load.
const ROUNDING: f64 = 1e-9;

const TRIED: usize = 5_000;

/// Returns the optimum as exact fractions, or `None` if a load is not rational or the solution is
/// too far from a vertex. At most `nodes` nodes are searched for a proof.
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

/// The program with integer coefficients, where `b_i = loads_i / unit`.
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

    fn offered(&self, i: usize) -> f64 {
        nearest(&BigRational::new(self.loads[i].clone(), self.unit.clone()))
    }

    /// Returns `ρ = Σ_s x_s`, from times in multiples of 1/unit.
    fn load(&self, times: &Fractions) -> BigRational {
        let total: BigInt = times.numerators.iter().sum();
        BigRational::new(total, &times.denominator * &self.unit)
    }

    /// Returns the schedules with `x_s > 0` and their times as multiples of `1/unit`. They are
    /// feasible, and their load is at most the floating-point load, up to [`ROUNDING`].
    fn times(&self, solution: &Solution) -> Option<(Vec<Schedule>, Fractions)> {
        let Mix { schedules, weights } = &solution.mixes[0];
        let mut used: Vec<usize> = (0..schedules.len()).collect();
        // Of linearly dependent schedules, those with the smallest weights are left out.
        used.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let mut order = self.by_tightness(solution);
        for _ in 0..CORRECTIONS {
            let basis: Vec<&Schedule> = used.iter().map(|&s| &schedules[s]).collect();
            let row = |i: usize| basis.iter().map(|u| u[i]).collect::<Vec<u32>>();
            let rows = order.iter().map(|&i| (row(i), self.loads[i].clone()));
            let times = solve_independent(rows, basis.len())?;
            let served = |i: usize| dot(&row(i), &times.numerators);
            let is_starved = |&i: &usize| served(i) < &self.loads[i] * &times.denominator;
            let starved: Vec<usize> = (0..self.loads.len()).filter(is_starved).collect();
            if starved.is_empty() && times.numerators.iter().all(|x| !x.is_negative()) {
                let most = solution.certificate.load * (1.0 + ROUNDING);
                return (nearest(&self.load(&times)) <= most)
                    .then(|| in_use(schedules, used, times));
            }
            // Due to rounding errors, some schedules are not in use, or other types are tight.
            let signs = used.iter().zip(&times.numerators);
            let kept = signs.filter(|(_, x)| !x.is_negative());
            used = kept.map(|(s, _)| *s).collect();
            order.sort_by_key(|i| !starved.contains(i));
        }
        None
    }

    fn by_tightness(&self, solution: &Solution) -> Vec<usize> {
        let served = solution.mixes[0].mean_schedule();
        let load = solution.certificate.load;
        let slack = |i: usize| served[i] / self.offered(i) * load - 1.0;
        let slack: Vec<f64> = (0..served.len()).map(slack).collect();
        // If a type has slack, its price is a rounding error.
        let priced = |i: usize| slack[i] < TIGHT && solution.certificate.prices[i] > TIGHT;
        let mut order: Vec<usize> = (0..served.len()).collect();
        order.sort_by(|&a, &b| {
            let by_price = priced(b).cmp(&priced(a));
            by_price.then(slack[a].total_cmp(&slack[b]))
        });
        order
    }

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
        let (numerators, denominator) = (&values.numerators, &values.denominator);
        let is_one = |u: &Schedule| dot(u, numerators) == *denominator;
        let are_prices = !numerators.iter().any(Signed::is_negative);
        let worths = self.worths(&values, load);
        let guide = &solution.certificate.servers[0].resource_prices;
        let is_proof = are_prices
            && mix.iter().all(is_one)
            && worths.iter().sum::<BigRational>().is_one()
            && is_bounded(&self.packing, numerators, denominator, guide, nodes);
        is_proof.then_some(worths)
    }

    /// Returns a resource j with `Σ_i b_i D_ij / P_j = ρ`, if there is one.
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
        let products = self.loads.iter().zip(&values.numerators);
        let products = products.map(|(b, v)| BigRational::from_integer(b * v));
        products.map(|product| product / &whole).collect()
    }

    /// Returns the values `v` (K) at which each schedule of the mix is worth 1 (0 without a price).
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
            // `v_i = ρ y_i / b_i` in floating point.
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

/// Solves the first independent equations, with dependent unknowns set to 0. The rest is unchecked.
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

fn in_use(
    schedules: &[Schedule],
    used: Vec<usize>,
    mut times: Fractions,
) -> (Vec<Schedule>, Fractions) {
    let all = used.into_iter().zip(times.numerators);
    let positive = all.filter(|(_, x)| x.is_positive());
    let positive = positive.sorted_by_key(|(s, _)| *s);
    let used;
    (used, times.numerators) = positive.map(|(s, x)| (schedules[s].clone(), x)).unzip();
    (used, times)
}
#[cfg(test)]
mod tests;
