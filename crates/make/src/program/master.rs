//! This module contains the restricted master program. It is kept in HiGHS between the rounds, so
//! that each solve starts from the basis of the previous one.

use std::collections::HashSet;

use itertools::Itertools;
use nalgebra::{DMatrix, DVector};

use highs::{ColProblem, HighsModelStatus, Model, Row, Sense, Solution};

use super::ProgramError;
use super::problem::{Column, Problem};

const MODEL: &str = "HiGHS gives the model back";

/// The equations of at most this number of columns are solved with full pivoting.
const FULL_PIVOTS: usize = 200;

const COARSE: f64 = 1e7;

/// An upper bound on `t ≤ 1` that only matters if the solver ignores small coefficients.
const MOST: f64 = 4.0;

pub(super) struct Master<'a> {
    problem: &'a Problem,
    /// The divisor of each row (K): [`Problem::scaled_loads`], or more if the solver fails with it.
    scaled: Vec<f64>,
    /// `None` while HiGHS is running, and after an error.
    model: Option<Model>,
    rows: Vec<Row>,
    convexity: Vec<Row>,
    pub columns: Vec<Column>,
    known: HashSet<Column>,
}

pub(super) struct Primal {
    /// The value of `t`, which is computed again from the weights.
    pub value: f64,
    pub weights: Vec<f64>,
    /// The value `v_i = y_i/b_i ≥ 0` of a running job of each type (K), with `Σ b_i v_i = 1`.
    pub values: Vec<f64>,
    /// For each site, the worth of a schedule must be greater than this value to improve `t`.
    pub bars: Vec<f64>,
}

impl<'a> Master<'a> {
    pub(super) fn new(problem: &'a Problem) -> Result<Self, ProgramError> {
        Master::scaled(problem, problem.scaled_loads.clone(), f64::INFINITY)
    }

    fn scaled(problem: &'a Problem, scaled: Vec<f64>, most: f64) -> Result<Self, ProgramError> {
        let mut lp = ColProblem::new();
        // If the rows were not divided by `b_i`, the tolerance would starve a type of rate 1e-9.
        let rows: Vec<Row> = scaled.iter().map(|_| lp.add_row(0.0..)).collect();
        let convexity = problem.sites.iter().map(|_| lp.add_row(..=1.0)).collect();
        lp.add_column(1.0, 0.0..=most, rows.iter().map(|r| (*r, -1.0)));
        let mut model = lp.try_optimise(Sense::Maximise).map_err(refused)?;
        model.make_quiet();
        model.set_option("primal_feasibility_tolerance", 1e-10);
        model.set_option("dual_feasibility_tolerance", 1e-10);
        model.set_option("threads", 1);
        Ok(Master {
            problem,
            scaled,
            model: Some(model),
            rows,
            convexity,
            columns: Vec::new(),
            known: HashSet::new(),
        })
    }

    pub(super) fn add(&mut self, columns: Vec<Column>) -> Result<usize, ProgramError> {
        let before = self.columns.len();
        for column in columns {
            if self.known.insert(column.clone()) {
                let factors = self.factors(&column);
                let added = self.model().try_add_column(0.0, 0.0.., factors);
                added.map_err(refused)?;
                self.columns.push(column);
            }
        }
        Ok(self.columns.len() - before)
    }

    fn model(&mut self) -> &mut Model {
        self.model.as_mut().expect(MODEL)
    }

    fn factors(&self, column: &Column) -> Vec<(Row, f64)> {
        let site = &self.problem.sites[column.0];
        let jobs = site.types.iter().zip(&column.1).filter(|(_, u)| **u > 0);
        let factor = |i: usize, u: u32| site.count * f64::from(u) / self.scaled[i];
        let served = jobs.map(|(&i, &u)| (self.rows[i], factor(i, u)));
        served.chain([(self.convexity[column.0], 1.0)]).collect()
    }

    pub(super) fn solve(&mut self) -> Result<Primal, ProgramError> {
        let mut solution = self.run();
        if solution.is_err() && self.model.is_some() {
            // If the coefficients differ by many orders of magnitude, presolve may remove the small
            // ones, so it is left out. The last resort are coefficients in a smaller range.
            self.model().set_option("presolve", "off");
            solution = self.run();
        }
        if solution.is_err() {
            self.coarsen()?;
            solution = self.run();
        }
        let solution = solution.map_err(ProgramError::Solver)?;
        let weights: Vec<f64> = solution.columns()[1..].iter().map(|p| p.max(0.0)).collect();
        // The dual of a `≥` row is negative if HiGHS maximizes. It is for a scaled row, so the
        // worth of a running job is this value divided by the scale.
        let (of_types, of_convexity) = solution.dual_rows().split_at(self.rows.len());
        let scaled = of_types.iter().zip(&self.scaled);
        let raw: Vec<f64> = scaled.map(|(y, s)| (-y).max(0.0) / s).collect();
        let worths = raw.iter().zip(&self.problem.offered);
        let total: f64 = worths.map(|(v, b)| v * b).sum();
        if total.is_nan() || total <= 0.0 {
            return Err(ProgramError::Solver("optimum without prices".into()));
        }
        let bars = self.problem.sites.iter().zip(of_convexity);
        let bars = bars.map(|(site, dual)| dual.max(0.0) / site.count / total);
        Ok(Primal {
            value: self.coverage(&weights),
            values: raw.iter().map(|v| v / total).collect(),
            bars: bars.collect(),
            weights,
        })
    }

    fn run(&mut self) -> Result<Solution, String> {
        let model = self.model.take().expect(MODEL);
        let solved = model.try_solve().map_err(|status| format!("{status:?}"))?;
        let (status, solution) = (solved.status(), solved.get_solution());
        self.model = Some(Model::from(solved));
        match status {
            HighsModelStatus::Optimal => Ok(solution),
            other => Err(format!("{other:?}")),
        }
    }

    /// Builds the master again with coefficients of at most [`COARSE`]. Rare types may then get
    /// more time than they need, so the weights and prices are valid, but the gap may not close.
    fn coarsen(&mut self) -> Result<(), ProgramError> {
        let mut scaled = self.scaled.clone();
        for Column(site, schedule) in &self.columns {
            let site = &self.problem.sites[*site];
            for (&i, u) in site.types.iter().zip(schedule) {
                scaled[i] = scaled[i].max(site.count * f64::from(*u) / COARSE);
            }
        }
        let columns = std::mem::take(&mut self.columns);
        *self = Master::scaled(self.problem, scaled, MOST)?;
        self.model().set_option("presolve", "off");
        self.add(columns)?;
        Ok(())
    }

    /// Solves the equations of the basis again in full precision, because the absolute tolerance of
    /// the solver is too large for rare types, unless this makes `t` smaller. If `N` columns are
    /// used on `H` sites, then `N + 1 − H` rows are tight.
    pub(super) fn polished(&self, weights: Vec<f64>) -> Vec<f64> {
        let used: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] > 0.0).collect();
        let served = self.served(&weights);
        let mut tight: Vec<usize> = (0..self.rows.len()).collect();
        tight.sort_by(|&a, &b| served[a].total_cmp(&served[b]));
        let sites = used.iter().map(|&s| self.columns[s].0);
        let sites = sites.sorted_unstable().dedup().collect_vec();
        let n = used.len();
        let equations = (n + 1).saturating_sub(sites.len());
        if equations > tight.len() {
            return weights;
        }
        let factor = |Column(site, schedule): &Column, i: usize| {
            let site = &self.problem.sites[*site];
            let place = site.types.binary_search(&i);
            place.map_or(0.0, |place| {
                site.count * f64::from(schedule[place]) / self.problem.scaled_loads[i]
            })
        };
        let is_on = |s: usize, site: usize| f64::from(u8::from(self.columns[s].0 == site));
        // The unknowns are the weights in use and `t`. The last rows are `Σ π = 1` for each site.
        let entry = |row: usize, s: usize| match (row < equations, s < n) {
            (true, true) => factor(&self.columns[used[s]], tight[row]),
            (true, false) => -1.0,
            (false, true) => is_on(used[s], sites[row - equations]),
            (false, false) => 0.0,
        };
        let system = DMatrix::from_fn(n + 1, n + 1, entry);
        let right = DVector::from_fn(n + 1, |row, _| f64::from(u8::from(row >= equations)));
        let solved = match n {
            0..=FULL_PIVOTS => system.full_piv_lu().solve(&right),
            _ => system.lu().solve(&right),
        };
        let Some(solved) = solved else {
            return weights;
        };
        let mut better = vec![0.0; weights.len()];
        for (place, s) in used.into_iter().enumerate() {
            better[s] = solved[place];
        }
        let is_mix = better.iter().all(|p| *p >= 0.0);
        match is_mix && self.coverage(&better) >= self.coverage(&weights) {
            true => better,
            false => weights,
        }
    }

    pub(super) fn coverage(&self, weights: &[f64]) -> f64 {
        let served = self.served(weights).into_iter();
        served.fold(f64::INFINITY, f64::min)
    }

    /// Returns `Σ_s π_s u_si / b_i` for each type, with the weights of each site normalized.
    fn served(&self, weights: &[f64]) -> Vec<f64> {
        let used = || self.columns.iter().zip(weights).filter(|(_, p)| **p > 0.0);
        let mut totals = vec![0.0; self.problem.sites.len()];
        for (Column(site, _), weight) in used() {
            totals[*site] += weight;
        }
        let mut served = vec![0.0; self.rows.len()];
        for (Column(h, schedule), weight) in used() {
            let site = &self.problem.sites[*h];
            let part = site.count * weight / totals[*h];
            for (&i, u) in site.types.iter().zip(schedule) {
                served[i] += part * f64::from(*u);
            }
        }
        for (served, offered) in served.iter_mut().zip(&self.problem.offered) {
            *served /= offered;
        }
        served
    }
}

fn refused(status: highs::HighsStatus) -> ProgramError {
    ProgramError::Solver(format!("{status:?}"))
}
#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use synth_multiresource::schedule::{Packing, enumerate};
    use synth_multiresource::workload::Workload;

    #[test]
    fn coarse_master_has_nearly_the_same_optimum() {
        for (rare, tolerance) in [(1.0, 1e-12), (1e-12, 1e-6)] {
            let text = include_str!("../../../../models/section7.yaml");
            let text = text.replace(
                "arrival_rate: 1.8",
                &format!("arrival_rate: {}", 1.8 * rare),
            );
            let workload = Workload::parse(&text, "rare").unwrap().workload;
            let problem = Problem::new(&workload.clone().into());
            let all = enumerate(&Packing::new(&workload), 10_000).schedules;
            let columns = all.into_iter().map(|schedule| Column(0, schedule));
            let mut master = Master::new(&problem).unwrap();
            master.add(columns.collect()).unwrap();
            let fine = master.solve().unwrap();
            master.coarsen().unwrap();
            let coarse = master.solve().unwrap();
            let relative = coarse.value / fine.value - 1.0;
            assert!(relative.abs() <= tolerance, "{rare}: {relative}");
            let worth: f64 = coarse
                .values
                .iter()
                .zip(&problem.offered)
                .map(|(v, b)| v * b)
                .sum();
            assert!((worth - 1.0).abs() < 1e-12);
        }
    }
}
