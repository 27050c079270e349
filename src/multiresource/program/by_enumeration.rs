//! The second way to the load, for small systems: all schedules in one linear program.

use good_lp::{
    DualValues, Expression, ProblemVariables, Solution as _, SolutionWithDual, SolverModel,
    constraint, variable,
};

use super::problem::Problem;
use super::solve::load;
use super::{Certificate, Knapsack, Mix, ProgramError, ServerBound, Solution};
use crate::multiresource::schedule::{self, Packing, Schedule, maximal};
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// Candidates that the listing of a shape's maximal schedules may visit.
const VISITS: usize = 20_000_000;

/// Nodes of each knapsack that bounds the load.
const NODES: u64 = 20_000_000;

/// How long each of some rows (N × K) is served for the largest `min_i (mean row)_i / b_i`: N numbers of sum 1.
///
/// # Errors
/// When HiGHS does not end optimal.
pub fn most_even(rows: &[Vec<f64>], offered: &[f64]) -> Result<Vec<f64>, ProgramError> {
    let mut variables = ProblemVariables::new();
    let t = variables.add(variable().min(0.0));
    let weights = variables.add_vector(variable().min(0.0), rows.len());
    let mut program = variables.maximise(t).using(good_lp::highs);
    program.set_verbose(false);
    let mut program = program
        .set_threads(1)
        .set_option("primal_feasibility_tolerance", 1e-10);
    for (i, offered) in offered.iter().enumerate() {
        let terms = weights.iter().zip(rows).filter(|(_, row)| row[i] > 0.0);
        let served: Expression = terms.map(|(w, row)| row[i] / offered * *w).sum();
        program = program.with(constraint!(served - t >= 0.0));
    }
    let total: Expression = weights.iter().copied().sum();
    program = program.with(constraint!(total <= 1.0));
    let solution = program
        .solve()
        .map_err(|e| ProgramError::Solver(e.to_string()))?;
    let raw = weights.iter().map(|w| solution.value(*w).max(0.0));
    let raw: Vec<f64> = raw.collect();
    let all: f64 = raw.iter().sum();
    Ok(raw.iter().map(|weight| weight / all).collect())
}

/// Lists the maximal schedules of each shape, then solves the program of the fleet over all of them.
/// `None` when a shape has more than `budget` of them.
///
/// Maximal ones suffice, since a larger schedule serves what a smaller one serves; and every server
/// always works on one of them, so that no mix is empty.
///
/// # Errors
/// When HiGHS does not end optimal.
pub fn solve_by_enumeration(
    fleet: &Fleet,
    budget: usize,
) -> Result<Option<Solution>, ProgramError> {
    let problem = Problem::new(fleet);
    let sites = problem.sites.iter();
    let all = sites.map(|site| maximal(&site.packing, budget, VISITS));
    let Some(all) = all.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let (weights, prices) = optimum(&problem, &all)?;
    let pairs = all.iter().zip(&weights);
    let mixes: Vec<Mix> = pairs.map(|(all, raw)| Mix::new(all, raw)).collect();
    let (mut bound, mut servers) = (0.0, Vec::new());
    let of_types = values(fleet.types(), &prices);
    for (shape, mix) in fleet.shapes().iter().zip(&mixes) {
        let own: Vec<f64> = shape.types().iter().map(|&i| of_types[i]).collect();
        let (worth, prices) = worth(shape.server(), &own, mix, NODES);
        bound += f64::from(shape.count()) * worth;
        servers.push(ServerBound {
            worth,
            resource_prices: prices,
            tree: None,
        });
    }
    Ok(Some(Solution {
        certificate: Certificate {
            load: load(fleet, &mixes),
            prices,
            servers,
            bound: 1.0 / bound,
        },
        mixes,
        face: Vec::new(),
        rounds: 1,
        columns: all.iter().map(Vec::len).sum(),
    }))
}

/// The weights of each site's schedules and the prices of the types, nonnegative and of sum 1.
fn optimum(
    problem: &Problem,
    all: &[Vec<Schedule>],
) -> Result<(Vec<Vec<f64>>, Vec<f64>), ProgramError> {
    let mut variables = ProblemVariables::new();
    let t = variables.add(variable().min(0.0));
    let weights: Vec<Vec<_>> = all
        .iter()
        .map(|all| variables.add_vector(variable().min(0.0), all.len()))
        .collect();
    let mut served = vec![Expression::from(0.0); problem.types()];
    for ((site, all), weights) in problem.sites.iter().zip(all).zip(&weights) {
        for (k, &i) in site.types.iter().enumerate() {
            let each = site.count / problem.scaled[i];
            let terms = weights.iter().zip(all).filter(|(_, u)| u[k] > 0);
            served[i] += terms
                .map(|(w, u)| each * f64::from(u[k]) * *w)
                .sum::<Expression>();
        }
    }
    let mut program = variables.maximise(t).using(good_lp::highs);
    program.set_verbose(false);
    let mut program = program
        .set_threads(1)
        .set_option("primal_feasibility_tolerance", 1e-10)
        .set_option("dual_feasibility_tolerance", 1e-10);
    let rows = served
        .into_iter()
        .map(|served| constraint!(served - t >= 0.0));
    let rows: Vec<_> = rows.map(|row| program.add_constraint(row)).collect();
    for weights in &weights {
        let total: Expression = weights.iter().copied().sum();
        program = program.with(constraint!(total == 1.0));
    }
    let mut solution = program
        .solve()
        .map_err(|e| ProgramError::Solver(e.to_string()))?;
    let value = |w: &good_lp::Variable| solution.value(*w);
    let weights = weights.iter().map(|w| w.iter().map(value).collect());
    let weights = weights.collect();
    let duals = solution.compute_dual();
    // In a maximization the duals of ≥ rows come out negative.
    let raw: Vec<f64> = rows
        .iter()
        .map(|row| (-duals.dual(row.clone())).max(0.0))
        .collect();
    let total: f64 = raw.iter().sum();
    Ok((weights, raw.iter().map(|y| y / total).collect()))
}

/// `y_i/b_i` (K).
fn values(types: &[JobType], prices: &[f64]) -> Vec<f64> {
    let pairs = types.iter().zip(prices);
    pairs
        .map(|(job_type, y)| y / job_type.offered_pieces())
        .collect()
}

/// The largest worth of a schedule on one server at these values (K) of running jobs, if the search
/// ends within this many nodes, else a bound on it; a schedule of the mix attains it where the mix is
/// best. And prices of the resources' units that cover the values.
fn worth(server: &Workload, values: &[f64], mix: &Mix, nodes: u64) -> (f64, Vec<f64>) {
    let packing = Packing::new(server);
    let worths = mix.schedules.iter().map(|u| schedule::worth(u, values));
    let known = worths.fold(0.0, f64::max);
    let knapsack = Knapsack::new(&packing, values);
    let priced = knapsack.solve(known, nodes);
    (priced.bound, knapsack.resource_prices())
}
