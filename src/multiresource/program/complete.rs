use good_lp::{Expression, ProblemVariables, Solution as _, SolverModel, constraint, variable};

use super::{Mix, ProgramError};
use crate::multiresource::schedule::{Packing, enumerate};
use crate::multiresource::workload::Workload;

/// The second way to the load, for small systems: enumerate `S`, then solve program (7) over
/// all of it as one linear program. `None` when `S` has more than `budget` schedules.
///
/// # Errors
/// When HiGHS does not end optimal.
pub fn solve_by_enumeration(
    workload: &Workload,
    budget: usize,
) -> Result<Option<Mix>, ProgramError> {
    let all = enumerate(&Packing::new(workload), budget);
    if !all.complete {
        return Ok(None);
    }
    let mut variables = ProblemVariables::new();
    let t = variables.add(variable().min(0.0));
    let weights = variables.add_vector(variable().min(0.0), all.schedules.len());
    let mut problem = variables.maximise(t).using(good_lp::highs);
    problem.set_verbose(false);
    let mut problem = problem
        .set_threads(1)
        .set_option("primal_feasibility_tolerance", 1e-10);
    for (i, job_type) in workload.types().iter().enumerate() {
        let terms = weights.iter().zip(&all.schedules).filter(|(_, u)| u[i] > 0);
        let served: Expression = terms
            .map(|(w, u)| f64::from(u[i]) / job_type.offered_load() * *w)
            .sum();
        problem = problem.with(constraint!(served - t >= 0.0));
    }
    let total: Expression = weights.iter().copied().sum();
    problem = problem.with(constraint!(total <= 1.0));
    let solution = problem
        .solve()
        .map_err(|e| ProgramError::Solver(e.to_string()))?;
    let raw: Vec<f64> = weights.iter().map(|w| solution.value(*w)).collect();
    Ok(Some(Mix::new(&all.schedules, &raw)))
}
