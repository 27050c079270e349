//! This module selects an optimal mix for which a nonpreemptive loop drains only a few jobs.
//!
//! It minimizes `Σ_s π_s ‖u_s − t b‖₁` over the optimal face, because two schedules that are close
//! to the mean schedule `t b` are also close to each other. By complementary slackness, the worth
//! of each schedule in an optimal mix is exactly `t` at the prices of the certificate. Such
//! schedules are listed within a budget, starting with those closest to `t b`.

use good_lp::{
    Expression, ProblemVariables, ResolutionError, Solution as _, SolverModel, Variable,
    constraint, variable,
};
use itertools::Itertools;

use super::master::Master;
use super::pricing::quiet;
use super::problem::{Column, Problem, scaled_loads};
use super::{Knapsack, Mix, ProgramError, Solution};
use synth_multiresource::schedule::{Packing, Schedule, fluid_bound, schedule_value};
use synth_multiresource::workload::Workload;

const NODES_A_SCHEDULE: u64 = 100;

/// A schedule is on the face if its relative distance from the optimal worth is at most this value.
const SLACK: f64 = 1e-9;

/// The maximum number of entries of the program, in schedules × types.
const ENTRIES: usize = 100_000;

/// Returns the known schedules of the optimal face and up to `face` other ones, and their optimal
/// mix that is closest to `t b`, if the solver finds one.
pub(super) fn choose(
    workload: &Workload,
    packing: &Packing,
    solution: &Solution,
    known: &[Schedule],
    face: usize,
) -> Result<(Vec<Schedule>, Option<Mix>), ProgramError> {
    let t = 1.0 / solution.certificate.load;
    let offered: Vec<f64> = workload.types().iter().map(|t| t.offered_load()).collect();
    let centre: Vec<f64> = offered.iter().map(|b| t * b).collect();
    let values = solution.certificate.values(workload.types());
    let knapsack = Knapsack::new(packing, &values);
    let face = face.min(ENTRIES / offered.len());
    let floor = t * (1.0 - SLACK);
    let walked = knapsack.face(floor, &centre, face, NODES_A_SCHEDULE * face as u64);
    let is_optimal = |u: &&Schedule| schedule_value(u, &values) >= floor;
    let known = known.iter().filter(is_optimal);
    let used = solution.mixes[0].schedules.iter().chain(known).cloned();
    let columns: Vec<Schedule> = used.chain(walked).unique().collect();
    let (scaled, fluid) = (scaled_loads(workload), fluid_bound(workload));
    let Some(weights) = nearest_mix(&columns, &scaled, &centre, t * fluid) else {
        return Ok((columns, None));
    };
    // Since `t` is rounded, one more schedule may have a weight of about 1e-12. If the program is
    // solved again for these schedules only, its basis has at most K of them.
    let chosen = Mix::new(&columns, &weights).schedules;
    let problem = Problem::new(&workload.clone().into());
    let mut master = Master::new(&problem)?;
    master.add(chosen.iter().map(|u| Column(0, u.clone())).collect())?;
    let weights = master.solve().ok().map(|primal| primal.weights);
    let mix = weights.map(|weights| Mix::new(&chosen, &master.polished(weights)));
    Ok((columns, mix))
}

/// Solves `min Σ_s π_s ‖u_s − centre‖₁` s.t. `Σ_s π_s u_si / b_i ≥ t` (both scaled), `Σ π_s = 1`.
fn nearest_mix(columns: &[Schedule], scaled: &[f64], centre: &[f64], t: f64) -> Option<Vec<f64>> {
    let distance = |u: &Schedule| -> f64 {
        let pairs = u.iter().zip(centre);
        pairs.map(|(u, c)| (f64::from(*u) - c).abs()).sum()
    };
    let mut variables = ProblemVariables::new();
    let weights = variables.add_vector(variable().min(0.0), columns.len());
    let pairs = weights.iter().zip(columns);
    let objective: Expression = pairs.map(|(w, u)| distance(u) * *w).sum();
    let mut problem = quiet(variables.minimise(objective), 1e-10);
    for (i, b) in scaled.iter().enumerate() {
        let terms = weights.iter().zip(columns).filter(|(_, u)| u[i] > 0);
        let served: Expression = terms.map(|(w, u)| f64::from(u[i]) / b * *w).sum();
        problem = problem.with(constraint!(served >= t));
    }
    let total: Expression = weights.iter().copied().sum();
    problem = problem.with(constraint!(total == 1.0));
    let solution = problem.solve().ok()?;
    Some(weights.iter().map(|w| solution.value(*w)).collect())
}

/// Returns the weights (with sum 1) of the rows (N × K) that maximize `min_i (mean row)_i / b_i`.
pub(crate) fn max_min_weights(
    rows: &[Vec<f64>],
    offered: &[f64],
) -> Result<Vec<f64>, ProgramError> {
    let mut variables = ProblemVariables::new();
    let t = variables.add(variable().min(0.0));
    let weights = variables.add_vector(variable().min(0.0), rows.len());
    let mut program = quiet(variables.maximise(t), 1e-10);
    for (i, offered) in offered.iter().enumerate() {
        let terms = weights.iter().zip(rows).filter(|(_, row)| row[i] > 0.0);
        let served: Expression = terms.map(|(w, row)| row[i] / offered * *w).sum();
        program = program.with(constraint!(served - t >= 0.0));
    }
    let total: Expression = weights.iter().copied().sum();
    program = program.with(constraint!(total <= 1.0));
    let failed = |error: ResolutionError| ProgramError::Solver(error.to_string());
    let solution = program.solve().map_err(failed)?;
    let weight = |w: &Variable| solution.value(*w).max(0.0);
    let all: f64 = weights.iter().map(weight).sum();
    Ok(weights.iter().map(|w| weight(w) / all).collect())
}
