//! Lower bounds from prices. They are combined by a linear program or with the size distributions.

use good_lp::{
    Expression, ProblemVariables, Solution as _, SolverModel as _, Variable, constraint, variable,
};

use super::BoundError;
use crate::program::{SolveLimits, quiet, solve};
use synth_multiresource::artifact::{Objective, Preemption};
use synth_multiresource::bound::{
    CertificateError, Inequality, PriceCut, Proof, bound_by_sizes, check_prices, check_sizes, costs,
};
use synth_multiresource::workload::{Fleet, JobType};

/// The maximum number of depth-first nodes for each program that computes prices.
const WORK: u64 = 20_000_000;

/// The approximate number of programs over the first types.
const FIRSTS: usize = 32;

/// Returns the bound and its inequalities ([`PriceCut`]), none for that of jobs that never wait.
///
/// The prices of program (7) of the MSR paper are tried over all types, over each type alone, and
/// over the first types in the order of a single server: by decreasing cost per unit of work at the
/// prices of all types. The search ends once `is_over` returns `true`.
pub(super) fn by_prices(
    fleet: &Fleet,
    objective: Objective,
    preemption: Preemption,
    is_over: &dyn Fn() -> bool,
) -> Result<(f64, Vec<PriceCut>), BoundError> {
    let costs = costs(fleet.envelope(), objective)?;
    let mut cuts = Vec::new();
    let is_residual_known =
        preemption == Preemption::None || fleet.types().iter().all(JobType::is_memoryless);
    if is_residual_known && fleet.types().iter().all(JobType::is_poisson) {
        cuts = candidates(fleet, &costs, is_over);
    }
    let inequalities: Result<Vec<Inequality>, CertificateError> =
        cuts.iter().map(|cut| cut.inequality(fleet)).collect();
    let weights = combined(&inequalities?, &costs).unwrap_or_default();
    for (cut, weight) in cuts.iter_mut().zip(weights) {
        cut.weight = weight;
    }
    cuts.retain(|cut| cut.weight > 0.0);
    Ok((check_prices(&cuts, fleet, objective, preemption)?, cuts))
}

/// Returns the bound for any information about sizes, from these prices or of jobs without waits.
pub(super) fn by_sizes(
    fleet: &Fleet,
    objective: Objective,
    is_over: &dyn Fn() -> bool,
) -> Result<(f64, Proof), BoundError> {
    let least = check_prices(&[], fleet, objective, Preemption::None)?;
    let never_wait = (least, Proof::Prices(Vec::new()));
    if !fleet.types().iter().all(JobType::is_poisson) {
        return Ok(never_wait);
    }
    let cuts = candidates(fleet, &costs(fleet.envelope(), objective)?, is_over);
    let roughly = |cut: &PriceCut| bound_by_sizes(cut, fleet, objective, ROUGH).unwrap_or(0.0);
    let tried = cuts.into_iter().map(|cut| (roughly(&cut), cut));
    let Some((_, cut)) = tried.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Ok(never_wait);
    };
    match check_sizes(&cut, fleet, objective) {
        Ok(found) if found > least => Ok((found, Proof::Sizes(cut))),
        _ => Ok(never_wait),
    }
}

/// The relative precision of the bounds when the prices are compared.
const ROUGH: f64 = 0.05;

fn candidates(fleet: &Fleet, costs: &[f64], is_over: &dyn Fn() -> bool) -> Vec<PriceCut> {
    let k = costs.len();
    let Some(all) = cut(fleet, (0..k).collect()) else {
        return Vec::new();
    };
    let mut order: Vec<usize> = (0..k).collect();
    let types = fleet.types();
    let per_work = |i: usize| {
        let own = all.types.iter().position(|own| *own == i);
        let price = own.map_or(0.0, |at| all.values[at]);
        costs[i] / (price * f64::from(types[i].nodes()) * types[i].mean_size())
    };
    order.sort_by(|a, b| per_work(*b).total_cmp(&per_work(*a)));
    let firsts = (2..k).step_by(1 + k / FIRSTS).map(|n| order[..n].to_vec());
    let alone = (0..k).filter(|_| k > 1).map(|i| vec![i]);
    let tried = firsts.chain(alone).take_while(|_| !is_over());
    let cuts = tried.filter_map(|types| cut(fleet, types));
    cuts.chain([all]).collect()
}

/// Returns the prices of program (7) over some types, or `None` if none is positive.
fn cut(fleet: &Fleet, mut types: Vec<usize>) -> Option<PriceCut> {
    types.sort_unstable();
    let part = fleet.only(&types).ok()?;
    let limits = SolveLimits {
        work: WORK,
        face: 0,
        ..SolveLimits::default()
    };
    let found = solve(&part, &limits).ok()?.certificate;
    let pairs = found.prices.iter().zip(part.types());
    let values: Vec<f64> = pairs.map(|(y, kind)| y / kind.offered_tasks()).collect();
    // If the price of a type is 0, nothing is proved about its jobs, so the type is left out.
    let priced = types.iter().zip(&values).filter(|(_, v)| **v > 0.0);
    let priced: Vec<usize> = priced.map(|(i, _)| *i).collect();
    match priced.len() {
        0 => None,
        all if all == types.len() => Some(PriceCut {
            types,
            values,
            servers: found.servers,
            weight: 0.0,
        }),
        _ => cut(fleet, priced),
    }
}

/// Returns the weights of the inequalities in the largest bound, the dual of the least cost.
fn combined(inequalities: &[Inequality], costs: &[f64]) -> Option<Vec<f64>> {
    let mut variables = ProblemVariables::new();
    let weights = variables.add_vector(variable().min(0.0), inequalities.len());
    let pairs = || weights.iter().zip(inequalities);
    let bound: Expression = pairs().map(|(w, own)| own.least * *w).sum();
    let mut program = quiet(variables.maximise(bound), 1e-10);
    for (i, cost) in costs.iter().enumerate() {
        let taken: Expression = pairs().map(|(w, own)| own.factors[i] / cost * *w).sum();
        program = program.with(constraint!(taken <= 1.0));
    }
    let solution = program.solve().ok()?;
    let weight = |w: &Variable| solution.value(*w).max(0.0);
    Some(weights.iter().map(weight).collect())
}
