//! Program (7) for one server.

use super::generation::{Generation, Proof};
use super::least_drain;
use super::problem::{Column, Problem};
use super::solution::{Certificate, Limits, Mix, ProgramError, Solution};
use crate::multiresource::schedule::{Fluid, Packing, Schedule};
use crate::multiresource::workload::{JobType, Workload};

/// Solves the program by column generation. Whether the optimum is proven: [`Certificate::proven`].
///
/// # Errors
/// When HiGHS does not end optimal.
pub fn solve(workload: &Workload, limits: &Limits) -> Result<Solution, ProgramError> {
    solve_from(workload, limits, &[])
}

/// Solves the program, starting from schedules known to be good, such as those of a policy for nearly
/// the same workload. Those that do not fit are left out.
///
/// # Errors
/// As [`solve`].
pub fn solve_from(
    workload: &Workload,
    limits: &Limits,
    known: &[Schedule],
) -> Result<Solution, ProgramError> {
    check_range(workload)?;
    let packing = Packing::new(workload);
    let problem = Problem::new(workload);
    let fitting = known.iter().filter(|u| packing.fits(u)).cloned();
    let columns = fitting.chain(starting_columns(workload, &packing));
    let columns = columns.map(|schedule| Column { site: 0, schedule });
    let mut generation = Generation::new(&problem, columns.collect())?;
    generation.run(limits)?;
    let columns: Vec<Schedule> = generation
        .master
        .columns()
        .iter()
        .map(|c| c.schedule.clone())
        .collect();
    let mix = Mix::new(&columns, &generation.weights);
    let mut solution = Solution {
        certificate: certificate(&problem, &generation.proof, mix.load(workload)),
        mix,
        face: Vec::new(),
        rounds: generation.rounds,
        columns: columns.len(),
    };
    if solution.certificate.proven() && limits.face > 0 {
        let settled = least_drain::choose(workload, &packing, &solution, &columns, limits.face)?;
        solution.face = settled.face;
        if let Some(mix) = settled.mix {
            solution.certificate.load = mix.load(workload);
            solution.mix = mix;
        }
    }
    Ok(solution)
}

fn certificate(problem: &Problem, proof: &Proof, load: f64) -> Certificate {
    let prices = proof.values.iter().zip(&problem.offered);
    Certificate {
        load,
        prices: prices.map(|(v, b)| v * b).collect(),
        resource_prices: proof.resource_prices[0].clone(),
        tree: proof.trees[0].clone(),
        bound: 1.0 / proof.t,
    }
}

fn check_range(workload: &Workload) -> Result<(), ProgramError> {
    in_range(
        "the fluid bound on the load".into(),
        Fluid::new(workload).bound(),
    )?;
    check_types(workload.types())
}

pub(super) fn check_types(types: &[JobType]) -> Result<(), ProgramError> {
    for job_type in types {
        let figures = [
            ("offered load", job_type.offered_load()),
            ("arrival rate", job_type.arrival_rate()),
            ("mean size", job_type.mean_size()),
        ];
        for (what, value) in figures {
            in_range(format!("the {what} of type `{}`", job_type.name()), value)?;
        }
    }
    Ok(())
}

fn in_range(what: String, value: f64) -> Result<(), ProgramError> {
    match (1e-100..=1e100).contains(&value) {
        true => Ok(()),
        false => Err(ProgramError::OutOfRange { what, value }),
    }
}

/// Roundings of the mean schedule in the first master.
const ROUNDINGS: usize = 256;

/// Schedules for the first master: a maximal one around each type, so that every type is
/// served; and roundings of the mean schedule at the fluid bound, filled up starting with
/// each type. Where jobs are small these already fill the bottleneck and meet the bound.
pub(super) fn starting_columns(workload: &Workload, packing: &Packing) -> Vec<Schedule> {
    let k = packing.types();
    let load = |i: usize| workload.types()[i].offered_load();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| load(b).total_cmp(&load(a)).then(a.cmp(&b)));
    let fluid = Fluid::new(workload).bound();
    let mean: Schedule = (0..k).map(|i| (load(i) / fluid) as u32).collect();
    let around = |i: usize| {
        let alone = (0..k)
            .map(|h| if h == i { workload.most_alone(i) } else { 0 })
            .collect();
        packing.filled(alone, &order)
    };
    let near = |i: usize| {
        let turned: Vec<usize> = (i..k).chain(0..i).collect();
        packing.filled(mean.clone(), &turned)
    };
    // With very many types some hundred roundings suffice.
    (0..k)
        .map(around)
        .chain((0..k.min(ROUNDINGS)).map(near))
        .collect()
}
