use super::generation::Generation;
use super::least_drain;
use super::problem::{Column, Problem};
use super::solution::{LoadCertificate, Mix, ProgramError, Solution, SolveLimits};
use synth_core::number::format_number;
use synth_multiresource::schedule::{Packing, Schedule, fluid_bound};
use synth_multiresource::workload::{Fleet, Workload};

/// Solves program (7) by column generation. See also [`LoadCertificate::proven`].
///
/// # Errors
/// Returns an error if HiGHS finds no optimum or a number is out of range.
pub fn solve(
    servers: &(impl Clone + Into<Fleet>),
    limits: &SolveLimits,
) -> Result<Solution, ProgramError> {
    solve_from(&servers.clone().into(), limits, &[])
}

/// Solves program (7), starting with the `known` schedules (K) of each shape (H) that fit.
pub(crate) fn solve_from(
    fleet: &Fleet,
    limits: &SolveLimits,
    known: &[Vec<Schedule>],
) -> Result<Solution, ProgramError> {
    if let Some(workload) = fleet.one_server() {
        in_range("the fluid bound on the load", fluid_bound(workload))?;
    }
    for kind in fleet.types() {
        let check = |what, value| in_range(&format!("the {what} of type `{}`", kind.name()), value);
        check("offered load", kind.offered_load())?;
        check("arrival rate", kind.arrival_rate())?;
        check("mean size", kind.mean_size())?;
    }
    let problem = Problem::new(fleet);
    let columns = first_columns(fleet, &problem, known);
    let mut generation = Generation::new(&problem, columns, limits)?;
    generation.run()?;
    let columns = &generation.master.columns;
    let mixes = mixes(&problem, columns, &generation.weights);
    let proof = &generation.proof;
    let prices = proof.values.iter().zip(&problem.offered);
    let mut solution = Solution {
        certificate: LoadCertificate {
            load: load(fleet, &mixes),
            prices: prices.map(|(v, b)| v * b).collect(),
            servers: proof.servers.clone(),
            bound: 1.0 / proof.t,
        },
        mixes,
        exact: None,
        face: Vec::new(),
        rounds: generation.rounds,
        columns: columns.len(),
    };
    if let Some(workload) = fleet.one_server()
        && solution.certificate.proven()
        && limits.face > 0
    {
        let packing = &problem.sites[0].packing;
        let columns: Vec<Schedule> = columns.iter().map(|c| c.1.clone()).collect();
        let (face, mix) = least_drain::choose(workload, packing, &solution, &columns, limits.face)?;
        solution.face = face;
        if let Some(mix) = mix {
            solution.certificate.load = mix.load(workload);
            solution.mixes = vec![mix];
        }
    }
    Ok(solution)
}

fn first_columns(fleet: &Fleet, problem: &Problem, known: &[Vec<Schedule>]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (site, shape) in fleet.shapes().iter().enumerate() {
        let (packing, types) = (&problem.sites[site].packing, shape.types());
        let own = |all: &Schedule| types.iter().map(|&i| all[i]).collect::<Schedule>();
        let known = known.get(site).into_iter().flatten().map(own);
        let fitting = known.filter(|u| packing.fits(u));
        let schedules = fitting.chain(starting_columns(shape.server(), packing));
        columns.extend(schedules.map(|schedule| Column(site, schedule)));
    }
    columns
}

/// Returns the mix of each site over all types, or the first schedule if all its weights are 0.
fn mixes(problem: &Problem, columns: &[Column], weights: &[f64]) -> Vec<Mix> {
    let mix = |site: usize| {
        let pairs = columns.iter().zip(weights);
        let own = pairs.filter(|(Column(h, _), _)| *h == site);
        let own = own.map(|(column, weight)| (problem.over_all(column), *weight));
        let (schedules, mut weights): (Vec<Schedule>, Vec<f64>) = own.unzip();
        if weights.iter().all(|weight| *weight <= 0.0) {
            weights[0] = 1.0;
        }
        Mix::new(&schedules, &weights)
    };
    (0..problem.sites.len()).map(mix).collect()
}

fn in_range(what: &str, value: f64) -> Result<(), ProgramError> {
    let refused = || ProgramError::OutOfRange(format!("{what} is {}", format_number(value)));
    let is_in_range = (1e-100..=1e100).contains(&value);
    is_in_range.then_some(()).ok_or_else(refused)
}

const ROUNDINGS: usize = 256;

/// Returns a maximal schedule with each type, so that every type is served, and the rounded mean
/// schedule of the fluid bound, filled from each type on, which reaches the bound for small jobs.
fn starting_columns(workload: &Workload, packing: &Packing) -> Vec<Schedule> {
    let k = packing.types();
    let load = |i: usize| workload.types()[i].offered_load();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| load(b).total_cmp(&load(a)).then(a.cmp(&b)));
    let fluid = fluid_bound(workload);
    let mean: Schedule = (0..k).map(|i| (load(i) / fluid) as u32).collect();
    let around = |i: usize| {
        let mut alone = vec![0; k];
        alone[i] = workload.most_alone(i);
        packing.extended_to_maximal(alone, &order)
    };
    let near = |i: usize| {
        let turned: Vec<usize> = (i..k).chain(0..i).collect();
        packing.extended_to_maximal(mean.clone(), &turned)
    };
    let roundings = (0..k.min(ROUNDINGS)).map(near);
    (0..k).map(around).chain(roundings).collect()
}

/// Returns `max_i ρ_i`, where `ρ_i` is the offered load over the mean number of jobs in service.
fn load(fleet: &Fleet, mixes: &[Mix]) -> f64 {
    let mut served = vec![0.0; fleet.types().len()];
    for (shape, mix) in fleet.shapes().iter().zip(mixes) {
        for (served, own) in served.iter_mut().zip(mix.mean_schedule()) {
            *served += f64::from(shape.count()) * own;
        }
    }
    let types = fleet.types().iter().zip(served);
    let loads = types.map(|(job_type, served)| job_type.offered_tasks() / served);
    loads.fold(0.0, f64::max)
}
