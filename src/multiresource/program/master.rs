//! The restricted master program, kept alive in HiGHS between rounds so that each solve
//! starts from the last basis.

use std::collections::HashSet;

use nalgebra::{DMatrix, DVector};

use highs::{ColProblem, HighsModelStatus, Model, Row, Sense, Solution};

use super::ProgramError;
use super::problem::{Column, Problem};

/// Why there is a model: a failed solve ends the work on it.
const MODEL: &str = "HiGHS gives the model back";

/// The master over the columns found so far.
pub(super) struct Master<'a> {
    problem: &'a Problem,
    /// `None` while HiGHS solves, and after a failure.
    model: Option<Model>,
    rows: Vec<Row>,
    /// One a site: its weights have at most the sum 1.
    convexity: Vec<Row>,
    /// For each site the resources whose capacity bounds the *average* use of its schedules.
    on_average: Vec<Vec<(usize, Row)>>,
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
    /// Prices of the whole capacity of the resources that are bounded on average, by site.
    pub resource_prices: Vec<Vec<f64>>,
}

impl<'a> Master<'a> {
    /// A master whose columns may use more than the capacity of these resources of each site (H), as
    /// long as their mix does not; without such resources all columns are schedules that fit.
    pub fn new(problem: &'a Problem, on_average: &[Vec<usize>]) -> Result<Self, ProgramError> {
        let mut lp = ColProblem::new();
        // Rows are divided by b_i: unscaled, a type of rate 1e-9 starves within tolerance.
        let rows: Vec<Row> = problem.scaled.iter().map(|_| lp.add_row(0.0..)).collect();
        let convexity = problem.sites.iter().map(|_| lp.add_row(..=1.0)).collect();
        let on_average = on_average
            .iter()
            .map(|site| site.iter().map(|&j| (j, lp.add_row(..=1.0))).collect())
            .collect();
        lp.add_column(1.0, 0.0.., rows.iter().map(|r| (*r, -1.0)));
        let mut model = lp.try_optimise(Sense::Maximise).map_err(refused)?;
        model.make_quiet();
        for (option, value) in [
            ("primal_feasibility_tolerance", 1e-10),
            ("dual_feasibility_tolerance", 1e-10),
        ] {
            model.set_option(option, value);
        }
        model.set_option("threads", 1);
        Ok(Master {
            problem,
            model: Some(model),
            rows,
            convexity,
            on_average,
            columns: Vec::new(),
            known: HashSet::new(),
        })
    }

    /// The columns that the master knows, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Adds the new ones among the columns; returns how many there were.
    pub fn add(&mut self, columns: Vec<Column>) -> Result<usize, ProgramError> {
        let before = self.columns.len();
        for column in columns {
            if !self.known.contains(&column) {
                let factors = self.factors(&column);
                self.model()
                    .try_add_column(0.0, 0.0.., factors)
                    .map_err(refused)?;
                self.known.insert(column.clone());
                self.columns.push(column);
            }
        }
        Ok(self.columns.len() - before)
    }

    fn model(&mut self) -> &mut Model {
        self.model.as_mut().expect(MODEL)
    }

    fn factors(&self, column: &Column) -> Vec<(Row, f64)> {
        let site = &self.problem.sites[column.site];
        let jobs = || column.schedule.iter().enumerate().filter(|(_, u)| **u > 0);
        let served = jobs().map(|(place, u)| {
            let i = site.types[place];
            let factor = site.count * f64::from(*u) / self.problem.scaled[i];
            (self.rows[i], factor)
        });
        let used = self.on_average[column.site].iter().map(|&(j, row)| {
            let used = jobs().map(|(place, u)| f64::from(*u) * site.share(place, j));
            (row, used.sum::<f64>())
        });
        served
            .chain(used.filter(|(_, share)| *share > 0.0))
            .chain([(self.convexity[column.site], 1.0)])
            .collect()
    }

    pub fn solve(&mut self) -> Result<Primal, ProgramError> {
        let mut solution = self.run()?;
        if solution.is_err() {
            // With coefficients of very different size presolve drops the small ones.
            self.model().set_option("presolve", "off");
            solution = self.run()?;
        }
        let solution = solution.map_err(|status| ProgramError::Solver(format!("{status:?}")))?;
        let weights: Vec<f64> = solution.columns()[1..].iter().map(|p| p.max(0.0)).collect();
        // In a maximization HiGHS gives the duals of ≥ rows as negative numbers. They belong to the
        // scaled rows: divided by the scale they are what a running job is worth.
        let duals = solution.dual_rows();
        let (of_types, of_sites) = duals.split_at(self.rows.len());
        let (of_convexity, of_resources) = of_sites.split_at(self.convexity.len());
        let scaled = of_types.iter().zip(&self.problem.scaled);
        let raw: Vec<f64> = scaled.map(|(y, s)| (-y).max(0.0) / s).collect();
        let total: f64 = raw
            .iter()
            .zip(&self.problem.offered)
            .map(|(v, b)| v * b)
            .sum();
        if total.is_nan() || total <= 0.0 {
            return Err(ProgramError::Solver("an optimum without prices".into()));
        }
        let sites = &self.problem.sites;
        let per_server =
            |(site, dual): (&super::problem::Site, &f64)| dual.max(0.0) / site.count / total;
        let bars = sites.iter().zip(of_convexity).map(per_server).collect();
        let mut resources = of_resources.iter();
        let resource_prices = sites.iter().zip(&self.on_average).map(|(site, bounded)| {
            let duals = resources.by_ref().take(bounded.len());
            duals.map(|dual| per_server((site, dual))).collect()
        });
        Ok(Primal {
            value: self.coverage(&weights),
            values: raw.iter().map(|v| v / total).collect(),
            resource_prices: resource_prices.collect(),
            bars,
            weights,
        })
    }

    /// Runs HiGHS on the master as it stands: an optimum, or the status that it ended with.
    fn run(&mut self) -> Result<Result<Solution, HighsModelStatus>, ProgramError> {
        let model = self.model.take().expect(MODEL);
        let solved = model.try_solve().map_err(refused)?;
        let (status, solution) = (solved.status(), solved.get_solution());
        self.model = Some(Model::from(solved));
        Ok(if status == HighsModelStatus::Optimal {
            Ok(solution)
        } else {
            Err(status)
        })
    }

    /// The weights with the equations of their basis solved anew: with N columns in use on H
    /// sites, N + 1 − H rows are tight. The solver's tolerance is absolute, and a rare type's row has
    /// coefficients of 1e9 and more. Kept only if t does not fall.
    pub fn polished(&self, weights: Vec<f64>) -> Vec<f64> {
        let used: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] > 0.0).collect();
        let served = self.served(&weights);
        let mut tight: Vec<usize> = (0..self.rows.len()).collect();
        tight.sort_by(|&a, &b| served[a].total_cmp(&served[b]));
        let mut sites: Vec<usize> = used.iter().map(|&s| self.columns[s].site).collect();
        sites.sort_unstable();
        sites.dedup();
        let n = used.len();
        let equations = (n + 1).saturating_sub(sites.len());
        if equations > tight.len() {
            return weights;
        }
        // Unknowns: the weights in use, then t. Rows: the tight types, then Σ π = 1 a site.
        let entry = |row: usize, s: usize| match (row < equations, s < n) {
            (true, true) => self.factor(used[s], tight[row]),
            (true, false) => -1.0,
            (false, true) => f64::from(u8::from(
                self.columns[used[s]].site == sites[row - equations],
            )),
            (false, false) => 0.0,
        };
        let system = DMatrix::from_fn(n + 1, n + 1, entry);
        let right = DVector::from_fn(n + 1, |row, _| f64::from(u8::from(row >= equations)));
        let Some(solved) = system.full_piv_lu().solve(&right) else {
            return weights;
        };
        let mut better = vec![0.0; weights.len()];
        for (place, s) in used.into_iter().enumerate() {
            better[s] = solved[place];
        }
        let sound = better.iter().all(|p| *p >= 0.0);
        if sound && self.coverage(&better) >= self.coverage(&weights) {
            better
        } else {
            weights
        }
    }

    /// What a column in full use adds to a type's row.
    fn factor(&self, column: usize, i: usize) -> f64 {
        let Column { site, schedule } = &self.columns[column];
        let site = &self.problem.sites[*site];
        match site.types.binary_search(&i) {
            Ok(place) => site.count * f64::from(schedule[place]) / self.problem.scaled[i],
            Err(_) => 0.0,
        }
    }

    /// t of the weights as they are, recomputed, not as the solver states it.
    pub fn coverage(&self, weights: &[f64]) -> f64 {
        let served = self.served(weights).into_iter();
        served.fold(f64::INFINITY, f64::min)
    }

    /// `Σ_s π_s u_si / b_i` for each type, the weights of each site normalized.
    fn served(&self, weights: &[f64]) -> Vec<f64> {
        let used = || self.columns.iter().zip(weights).filter(|(_, p)| **p > 0.0);
        let mut totals = vec![0.0; self.problem.sites.len()];
        for (column, weight) in used() {
            totals[column.site] += weight;
        }
        let mut served = vec![0.0; self.rows.len()];
        for (column, weight) in used() {
            let site = &self.problem.sites[column.site];
            let part = site.count * weight / totals[column.site];
            for (&i, u) in site.types.iter().zip(&column.schedule) {
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
