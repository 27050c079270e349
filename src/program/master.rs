//! The restricted master program, kept alive in HiGHS between rounds so that each solve
//! starts from the last basis.

use std::collections::HashSet;

use nalgebra::{DMatrix, DVector};

use highs::{ColProblem, HighsModelStatus, Model, Row, Sense, Solution};

use super::ProgramError;
use crate::schedule::{Fluid, Schedule};
use crate::workload::{JobType, Workload};

/// The master over the columns found so far.
pub(super) struct Master {
    /// `None` only while HiGHS solves.
    model: Option<Model>,
    rows: Vec<Row>,
    convexity: Row,
    offered: Vec<f64>,
    scaled: Vec<f64>,
    columns: Vec<Schedule>,
    known: HashSet<Schedule>,
}

/// An optimum of the master.
pub(super) struct Primal {
    /// t, recomputed from the weights.
    pub value: f64,
    /// One weight a column, in the master's column order.
    pub weights: Vec<f64>,
    /// y: nonnegative, of sum 1.
    pub prices: Vec<f64>,
}

impl Master {
    pub fn new(workload: &Workload, columns: Vec<Schedule>) -> Result<Self, ProgramError> {
        let scaled = scaled_loads(workload);
        let mut problem = ColProblem::new();
        // Rows are divided by b_i: unscaled, a type of rate 1e-9 starves within tolerance.
        let rows: Vec<Row> = scaled.iter().map(|_| problem.add_row(0.0..)).collect();
        let convexity = problem.add_row(..=1.0);
        problem.add_column(1.0, 0.0.., rows.iter().map(|r| (*r, -1.0)));
        let mut model = problem.try_optimise(Sense::Maximise).map_err(refused)?;
        model.make_quiet();
        for (option, value) in [
            ("primal_feasibility_tolerance", 1e-10),
            ("dual_feasibility_tolerance", 1e-10),
        ] {
            model.set_option(option, value);
        }
        model.set_option("threads", 1);
        let mut master = Master {
            model: Some(model),
            rows,
            convexity,
            offered: workload.types().iter().map(|t| t.offered_load()).collect(),
            scaled,
            columns: Vec::new(),
            known: HashSet::new(),
        };
        master.add(&columns)?;
        Ok(master)
    }

    /// The schedules that the master knows, in column order.
    pub fn columns(&self) -> &[Schedule] {
        &self.columns
    }

    /// Adds those of the schedules that are new; tells how many were.
    pub fn add(&mut self, schedules: &[Schedule]) -> Result<usize, ProgramError> {
        let Some(model) = &mut self.model else {
            return Ok(0);
        };
        let before = self.columns.len();
        for schedule in schedules {
            if self.known.insert(schedule.clone()) {
                let coverage = (0..self.rows.len())
                    .filter(|&i| schedule[i] > 0)
                    .map(|i| (self.rows[i], f64::from(schedule[i]) / self.scaled[i]));
                let factors: Vec<(Row, f64)> = coverage.chain([(self.convexity, 1.0)]).collect();
                model.try_add_column(0.0, 0.0.., factors).map_err(refused)?;
                self.columns.push(schedule.clone());
            }
        }
        Ok(self.columns.len() - before)
    }

    pub fn solve(&mut self) -> Result<Primal, ProgramError> {
        let mut solution = self.run()?;
        if solution.is_err() {
            // With coefficients of very different size presolve drops the small ones.
            if let Some(model) = &mut self.model {
                model.set_option("presolve", "off");
            }
            solution = self.run()?;
        }
        let solution = solution.map_err(|status| ProgramError::Solver(format!("{status:?}")))?;
        let weights = solution.columns()[1..].iter().map(|p| p.max(0.0));
        let weights = self.polished(weights.collect());
        // In a maximization HiGHS gives the duals of ≥ rows as negative numbers. They are for
        // the scaled rows: the price of a running job is what they say of 1/scaled.
        let duals = solution
            .dual_rows()
            .iter()
            .zip(&self.scaled)
            .zip(&self.offered);
        let raw: Vec<f64> = duals.map(|((y, s), b)| (-y).max(0.0) / s * b).collect();
        let total: f64 = raw.iter().sum();
        if total.is_nan() || total <= 0.0 {
            return Err(ProgramError::Solver("an optimum without prices".into()));
        }
        Ok(Primal {
            value: self.coverage(&weights),
            prices: raw.iter().map(|y| y / total).collect(),
            weights,
        })
    }

    /// Runs HiGHS on the master as it stands: an optimum, or the status that it ended with.
    fn run(&mut self) -> Result<Result<Solution, HighsModelStatus>, ProgramError> {
        let lost = || ProgramError::Solver("lost".into());
        let model = self.model.take().ok_or_else(lost)?;
        let solved = model.try_solve().map_err(refused)?;
        let (status, solution) = (solved.status(), solved.get_solution());
        self.model = Some(Model::from(solved));
        Ok(if status == HighsModelStatus::Optimal {
            Ok(solution)
        } else {
            Err(status)
        })
    }

    /// The weights with the equations of their basis solved anew: with N columns in use, N
    /// rows are tight. The solver's tolerance is absolute, and in front of a rare type's
    /// weight stand coefficients of 1e9 and more. Kept only if t does not fall.
    fn polished(&self, weights: Vec<f64>) -> Vec<f64> {
        let used: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] > 0.0).collect();
        let served = self.served(&weights);
        let mut tight: Vec<usize> = (0..self.rows.len()).collect();
        tight.sort_by(|&a, &b| served[a].total_cmp(&served[b]));
        let n = used.len();
        if n > tight.len() {
            return weights;
        }
        // Unknowns: the weights in use, then t. Rows: the tight types, then Σ π = 1.
        let entry = |row: usize, s: usize| match (row < n, s < n) {
            (true, true) => f64::from(self.columns[used[s]][tight[row]]) / self.scaled[tight[row]],
            (true, false) => -1.0,
            (false, in_use) => f64::from(u8::from(in_use)),
        };
        let system = DMatrix::from_fn(n + 1, n + 1, entry);
        let right = DVector::from_fn(n + 1, |row, _| f64::from(u8::from(row == n)));
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

    /// t of the weights as they are, by recomputation and not by the solver's word.
    fn coverage(&self, weights: &[f64]) -> f64 {
        self.served(weights)
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    }

    /// `Σ_s π_s u_si / b_i` for each type, the weights normalized.
    fn served(&self, weights: &[f64]) -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        let of_type = |i: usize| -> f64 {
            let parts = self
                .columns
                .iter()
                .zip(weights)
                .map(|(u, p)| p * f64::from(u[i]));
            parts.sum::<f64>() / self.offered[i] / total
        };
        (0..self.rows.len()).map(of_type).collect()
    }
}

/// Offered loads in units of the fluid bound, so that t is about 1 and the coefficients
/// `u_i / scaled_i` are what HiGHS can hold: it drops those below 1e-9 and refuses those above
/// 1e15. A type so rare that it would need less than 1e-13 of the time is given that much.
pub(super) fn scaled_loads(workload: &Workload) -> Vec<f64> {
    let fluid = Fluid::new(workload).bound();
    let scaled = |(i, kind): (usize, &JobType)| {
        (kind.offered_load() / fluid).max(1e-13 * f64::from(workload.most_alone(i)))
    };
    workload.types().iter().enumerate().map(scaled).collect()
}

fn refused(status: highs::HighsStatus) -> ProgramError {
    ProgramError::Solver(format!("{status:?}"))
}
