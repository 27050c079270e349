//! The restricted master program, kept alive in HiGHS between rounds so that each solve
//! starts from the last basis.

use std::collections::HashSet;

use highs::{ColProblem, HighsModelStatus, Model, Row, Sense};

use super::ProgramError;
use crate::schedule::Schedule;

/// The master over the columns found so far.
pub(super) struct Master {
    /// `None` only while HiGHS solves.
    model: Option<Model>,
    rows: Vec<Row>,
    convexity: Row,
    offered: Vec<f64>,
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
    pub fn new(offered: &[f64], columns: Vec<Schedule>) -> Result<Self, ProgramError> {
        let mut problem = ColProblem::new();
        // Rows are divided by b_i: unscaled, a type of rate 1e-9 starves within tolerance.
        let rows: Vec<Row> = offered.iter().map(|_| problem.add_row(0.0..)).collect();
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
            offered: offered.to_vec(),
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
                    .map(|i| (self.rows[i], f64::from(schedule[i]) / self.offered[i]));
                let factors: Vec<(Row, f64)> = coverage.chain([(self.convexity, 1.0)]).collect();
                model.try_add_column(0.0, 0.0.., factors).map_err(refused)?;
                self.columns.push(schedule.clone());
            }
        }
        Ok(self.columns.len() - before)
    }

    pub fn solve(&mut self) -> Result<Primal, ProgramError> {
        let model = self
            .model
            .take()
            .ok_or_else(|| ProgramError::Solver("lost".into()))?;
        let solved = model.try_solve().map_err(refused)?;
        let (status, solution) = (solved.status(), solved.get_solution());
        self.model = Some(Model::from(solved));
        if status != HighsModelStatus::Optimal {
            return Err(ProgramError::Solver(format!("{status:?}")));
        }
        let weights: Vec<f64> = solution.columns()[1..].iter().map(|p| p.max(0.0)).collect();
        // In a maximization HiGHS gives the duals of ≥ rows as negative numbers.
        let duals = solution.dual_rows().iter().take(self.rows.len());
        let raw: Vec<f64> = duals.map(|y| (-y).max(0.0)).collect();
        let total: f64 = raw.iter().sum();
        Ok(Primal {
            value: self.coverage(&weights),
            prices: raw.iter().map(|y| y / total).collect(),
            weights,
        })
    }

    /// t of the weights as they are, by recomputation and not by the solver's word.
    fn coverage(&self, weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let served = |i: usize| -> f64 {
            let parts = self
                .columns
                .iter()
                .zip(weights)
                .map(|(u, p)| p * f64::from(u[i]));
            parts.sum::<f64>() / self.offered[i] / total
        };
        (0..self.rows.len())
            .map(served)
            .fold(f64::INFINITY, f64::min)
    }
}

fn refused(status: highs::HighsStatus) -> ProgramError {
    ProgramError::Solver(format!("{status:?}"))
}
