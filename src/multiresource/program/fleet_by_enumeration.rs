use good_lp::{
    DualValues, Expression, ProblemVariables, Solution as _, SolutionWithDual, SolverModel,
    constraint, variable,
};

use super::fleet::{FleetCertificate, FleetSolution, ServerBound, load, values, worth};
use super::{Mix, ProgramError};
use crate::multiresource::schedule::{Fluid, Packing, Schedule, maximal};
use crate::multiresource::workload::{Fleet, Shape};

/// Candidates that the listing of a shape's maximal schedules may look at.
const VISITS: usize = 20_000_000;

/// Nodes of each knapsack that bounds the load.
const NODES: u64 = 20_000_000;

/// A second way to the load of a fleet, for small systems: list the maximal schedules of each
/// shape, then solve the program over all of them as one linear program. `None` when a shape has
/// more than `budget` of them.
///
/// Maximal ones suffice, since a larger schedule serves what a smaller one serves; and every server
/// always works on one of them, so that no mix is empty.
///
/// # Errors
/// When HiGHS does not end optimal.
pub fn solve_fleet_by_enumeration(
    fleet: &Fleet,
    budget: usize,
) -> Result<Option<FleetSolution>, ProgramError> {
    let all = |shape: &Shape| maximal(&Packing::new(shape.server()), budget, VISITS);
    let Some(all) = fleet.shapes().iter().map(all).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let (weights, prices) = optimum(fleet, &all)?;
    let pairs = all.iter().zip(&weights);
    let mixes: Vec<Mix> = pairs.map(|(all, raw)| Mix::new(all, raw)).collect();
    let (mut bound, mut servers) = (0.0, Vec::new());
    let of_types = values(fleet.types(), &prices);
    for (shape, mix) in fleet.shapes().iter().zip(&mixes) {
        let own: Vec<f64> = shape.types().iter().map(|&i| of_types[i]).collect();
        let (worth, prices) = worth(shape.server(), &own, mix, NODES)?;
        bound += f64::from(shape.count()) * worth;
        servers.push(ServerBound {
            worth,
            resource_prices: prices,
            relaxed: None,
        });
    }
    Ok(Some(FleetSolution {
        certificate: FleetCertificate {
            load: load(fleet, &mixes),
            prices,
            servers,
            bound: 1.0 / bound,
        },
        mixes,
        rounds: 1,
        columns: all.iter().map(Vec::len).sum(),
    }))
}

/// The weights of each shape's schedules and the prices of the types, nonnegative and of sum 1.
fn optimum(
    fleet: &Fleet,
    all: &[Vec<Schedule>],
) -> Result<(Vec<Vec<f64>>, Vec<f64>), ProgramError> {
    // Rows in units of the fleet's fluid load, so that t is about 1.
    let scale = fluid(fleet);
    let mut variables = ProblemVariables::new();
    let t = variables.add(variable().min(0.0));
    let weights: Vec<Vec<_>> = all
        .iter()
        .map(|all| variables.add_vector(variable().min(0.0), all.len()))
        .collect();
    let mut served = vec![Expression::from(0.0); fleet.types().len()];
    for ((shape, all), weights) in fleet.shapes().iter().zip(all).zip(&weights) {
        for (k, &i) in shape.types().iter().enumerate() {
            let each = f64::from(shape.count()) * scale / fleet.types()[i].offered_load();
            let terms = weights.iter().zip(all).filter(|(_, u)| u[k] > 0);
            served[i] += terms
                .map(|(w, u)| each * f64::from(u[k]) * *w)
                .sum::<Expression>();
        }
    }
    let mut problem = variables.maximise(t).using(good_lp::highs);
    problem.set_verbose(false);
    let mut problem = problem
        .set_threads(1)
        .set_option("primal_feasibility_tolerance", 1e-10)
        .set_option("dual_feasibility_tolerance", 1e-10);
    let rows = served
        .into_iter()
        .map(|served| constraint!(served - t >= 0.0));
    let rows: Vec<_> = rows.map(|row| problem.add_constraint(row)).collect();
    for weights in &weights {
        let total: Expression = weights.iter().copied().sum();
        problem = problem.with(constraint!(total == 1.0));
    }
    let mut solution = problem
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

/// A load of the order of the fleet's: from the fluid bound of each shape.
fn fluid(fleet: &Fleet) -> f64 {
    let of_shape = |shape: &Shape| f64::from(shape.count()) / Fluid::new(shape.server()).bound();
    1.0 / fleet.shapes().iter().map(of_shape).sum::<f64>()
}
