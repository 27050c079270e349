//! The restricted master program, kept alive in HiGHS between rounds so that each solve
//! starts from the last basis.

use std::collections::HashSet;

use nalgebra::{DMatrix, DVector};

use highs::{ColProblem, HighsModelStatus, Model, Row, Sense, Solution};

use super::ProgramError;
use super::problem::{Column, Problem};

/// Why there is a model: a failed solve ends the work on it.
const MODEL: &str = "HiGHS gives the model back";

/// Columns for whose equations the largest pivots are looked for.
const FULL_PIVOTS: usize = 200;

/// The largest coefficient where the solver has no optimum of the program as it is.
const COARSE: f64 = 1e7;

/// A bound on t that is never reached: in units of the load's fluid bound t is at most 1. With it no
/// direction is unbounded, whatever the solver drops of a row whose coefficients are large.
const MOST: f64 = 4.0;

/// The master over the columns found so far.
pub(super) struct Master<'a> {
    problem: &'a Problem,
    /// What each row is divided by (K): [`Problem::scaled`], or more where the solver fails.
    scaled: Vec<f64>,
    /// `None` while HiGHS solves, and after a failure.
    model: Option<Model>,
    rows: Vec<Row>,
    /// One a site: its weights have at most the sum 1.
    convexity: Vec<Row>,
    columns: Vec<Column>,
    known: HashSet<Column>,
}

/// An optimum of the master.
pub(super) struct Primal {
    /// t, recomputed from the weights.
    pub value: f64,
    /// One weight a column, in the master's column order.
    pub weights: Vec<f64>,
    /// `v_i = y_i/b_i` (K): what a running job of each type is worth; nonnegative, `Σ b_i v_i = 1`.
    pub values: Vec<f64>,
    /// What a schedule on one server of each site has to be worth more than, to improve t.
    pub bars: Vec<f64>,
}

impl<'a> Master<'a> {
    /// Returns a master without columns.
    pub(super) fn new(problem: &'a Problem) -> Result<Self, ProgramError> {
        Master::scaled(problem, problem.scaled.clone(), f64::INFINITY)
    }

    fn scaled(problem: &'a Problem, scaled: Vec<f64>, most: f64) -> Result<Self, ProgramError> {
        let mut lp = ColProblem::new();
        // Rows are divided by b_i: unscaled, a type of rate 1e-9 starves within tolerance.
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

    /// Returns the columns that the master knows, in order.
    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Adds the new ones among the columns; returns how many there were.
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
            // With coefficients of very different size presolve drops the small ones.
            self.model().set_option("presolve", "off");
            solution = self.run();
        }
        if solution.is_err() {
            self.coarsen()?;
            solution = self.run();
        }
        let solution = solution.map_err(ProgramError::Solver)?;
        let weights: Vec<f64> = solution.columns()[1..].iter().map(|p| p.max(0.0)).collect();
        // In a maximization HiGHS gives the duals of ≥ rows as negative numbers. They belong to the
        // scaled rows: divided by the scale they are what a running job is worth.
        let (of_types, of_convexity) = solution.dual_rows().split_at(self.rows.len());
        let scaled = of_types.iter().zip(&self.scaled);
        let raw: Vec<f64> = scaled.map(|(y, s)| (-y).max(0.0) / s).collect();
        let worths = raw.iter().zip(&self.problem.offered);
        let total: f64 = worths.map(|(v, b)| v * b).sum();
        if total.is_nan() || total <= 0.0 {
            return Err(ProgramError::Solver("an optimum without prices".into()));
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

    /// Runs HiGHS on the master as it stands: an optimum, or what it ended as.
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

    /// Makes the same master anew, with coefficients of at most [`COARSE`]: a type that needs less of the
    /// time than one over it is given that much. The weights found are a mix as any other, and
    /// prices prove what they prove; but the two sides may not meet.
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

    /// Returns the weights with the equations of their basis solved anew: with N columns in use on H
    /// sites, N + 1 − H rows are tight. The solver's tolerance is absolute, and a rare type's row has
    /// coefficients of 1e9 and more. Kept only if t does not fall.
    pub(super) fn polished(&self, weights: Vec<f64>) -> Vec<f64> {
        let used: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] > 0.0).collect();
        let served = self.served(&weights);
        let mut tight: Vec<usize> = (0..self.rows.len()).collect();
        tight.sort_by(|&a, &b| served[a].total_cmp(&served[b]));
        let mut sites: Vec<usize> = used.iter().map(|&s| self.columns[s].0).collect();
        sites.sort_unstable();
        sites.dedup();
        let n = used.len();
        let equations = (n + 1).saturating_sub(sites.len());
        if equations > tight.len() {
            return weights;
        }
        // What a column in full use adds to a type's row.
        let factor = |Column(site, schedule): &Column, i: usize| {
            let site = &self.problem.sites[*site];
            let place = site.types.binary_search(&i);
            place.map_or(0.0, |place| {
                site.count * f64::from(schedule[place]) / self.problem.scaled[i]
            })
        };
        let is_on = |s: usize, site: usize| f64::from(u8::from(self.columns[s].0 == site));
        // Unknowns: the weights in use, then t. Rows: the tight types, then Σ π = 1 a site.
        let entry = |row: usize, s: usize| match (row < equations, s < n) {
            (true, true) => factor(&self.columns[used[s]], tight[row]),
            (true, false) => -1.0,
            (false, true) => is_on(used[s], sites[row - equations]),
            (false, false) => 0.0,
        };
        let system = DMatrix::from_fn(n + 1, n + 1, entry);
        let right = DVector::from_fn(n + 1, |row, _| f64::from(u8::from(row >= equations)));
        // With many columns the search for them takes most of the time.
        let solved = if n <= FULL_PIVOTS {
            system.full_piv_lu().solve(&right)
        } else {
            system.lu().solve(&right)
        };
        let Some(solved) = solved else {
            return weights;
        };
        let mut better = vec![0.0; weights.len()];
        for (place, s) in used.into_iter().enumerate() {
            better[s] = solved[place];
        }
        let is_mix = better.iter().all(|p| *p >= 0.0);
        if is_mix && self.coverage(&better) >= self.coverage(&weights) {
            better
        } else {
            weights
        }
    }

    /// t of the weights as they are, recomputed, not as the solver states it.
    pub(super) fn coverage(&self, weights: &[f64]) -> f64 {
        let served = self.served(weights).into_iter();
        served.fold(f64::INFINITY, f64::min)
    }

    /// Returns `Σ_s π_s u_si / b_i` for each type, the weights of each site normalized.
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

    /// With coarse coefficients the program over all schedules has the optimum of the one with fine
    /// ones, here that of section 7 of the MSR paper, 1/.9; and beside a type that is given more than it
    /// needs, the others lose what that takes.
    #[test]
    fn a_coarser_master_has_nearly_the_same_optimum() {
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
