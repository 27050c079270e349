//! Which schedules, and what fraction of time each: program (7) of the MSR paper, linear
//! over the columns `u ∈ S`, solved by column generation with a certificate.
//!
//! ```text
//! maximize t   s.t.   Σ_s π_s u_si / b_i − t ≥ 0  (each type i),   Σ_s π_s ≤ 1,   π ≥ 0;     ρ = 1/t
//! ```
//!
//! A basic solution has at most K schedules (theorem 2). Prices `y ≥ 0, Σ y_i = 1` bound it
//! from above: `t ≤ max_{u∈S} Σ_i (y_i/b_i) u_i` for *any* such y (Farley, Operations
//! Research 38, 1990). The certificate is both sides: the mix, and the prices.
//!
//! Corrected against the paper: its `ρ_i = λ_i/(πW)_i` lacks `μ_i`.

mod balance;
mod complete;
mod exact;
mod exchange;
mod fleet;
mod fleet_by_enumeration;
mod generation;
mod least_drain;
mod master;
mod pricing;
mod problem;
mod relaxation;
mod table;

pub use balance::{BALANCE_GAP, Balanced, Balancing, UnknownWeight, balance};
pub use complete::solve_by_enumeration;
pub use exact::{Exact, Inexact, Prices, Unproven, exact};
pub use fleet::{FleetCertificate, FleetSolution, ServerBound, solve_fleet};
pub use fleet_by_enumeration::solve_fleet_by_enumeration;
pub use pricing::{Knapsack, Priced};

use std::time::Duration;

use crate::multiresource::schedule::{Fluid, Packing, Schedule};
use crate::multiresource::workload::{JobType, Workload};
use generation::{Generation, Proof};
use problem::{Column, Problem};

/// A certificate is a proof when its relative gap is at most this.
pub const PROOF_GAP: f64 = 1e-9;

/// Loads within this of 1 cannot be told from 1 in double precision: such a workload is not
/// called stabilizable.
pub const LOAD_MARGIN: f64 = 1e-11;

/// Limits on the work of [`solve`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall-clock limit of the column generation; past it the answer is "not proven".
    pub time: Duration,
    /// Nodes that one pricing proof may visit.
    pub nodes: u64,
    /// Schedules of the optimal face that the choice among optima looks at; 0 for no such choice.
    pub face: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(60),
            nodes: 20_000_000,
            face: 20_000,
        }
    }
}

/// A mix of schedules: the fraction of time `π_s` that each is used.
#[derive(Clone, Debug)]
pub struct Mix {
    /// The schedules `W` (N × K), each in `S`.
    pub schedules: Vec<Schedule>,
    /// The weights `π` (N), positive, of sum 1.
    pub weights: Vec<f64>,
}

impl Mix {
    /// A mix from raw weights: what is not positive is dropped, the rest normalized. Nothing
    /// positive is pruned, however small: a weight of 7e-10 may be what serves a rare type.
    fn new(schedules: &[Schedule], weights: &[f64]) -> Self {
        let kept = || schedules.iter().zip(weights).filter(|(_, p)| **p > 0.0);
        let total: f64 = kept().map(|(_, p)| p).sum();
        Mix {
            schedules: kept().map(|(u, _)| u.clone()).collect(),
            weights: kept().map(|(_, p)| p / total).collect(),
        }
    }

    /// The mean schedule `πW`: how many jobs of each type are in service on average.
    pub fn mean_schedule(&self) -> Vec<f64> {
        let types = self.schedules.first().map_or(0, Vec::len);
        let mean = |i: usize| {
            self.schedules
                .iter()
                .zip(&self.weights)
                .map(|(u, p)| p * f64::from(u[i]))
                .sum()
        };
        (0..types).map(mean).collect()
    }

    /// `ρ_i = b_i / (πW)_i` for each type, recomputed from the mix itself.
    pub fn loads(&self, workload: &Workload) -> Vec<f64> {
        let served = self.mean_schedule();
        workload
            .types()
            .iter()
            .zip(served)
            .map(|(t, s)| t.offered_load() / s)
            .collect()
    }
}

/// Two-sided evidence for the load.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// `max_i ρ_i` of the emitted mix: the load ρ from above.
    pub load: f64,
    /// Prices `y` (K), nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// Prices of the resources' integer units (R): `D_i·w ≥ y_i/b_i` for every type, the
    /// dual of the priced knapsack's relaxation. They name what is scarce.
    pub resource_prices: Vec<f64>,
    /// Where the bound is that of a relaxation: which.
    pub relaxed: Option<Relaxed>,
    /// No policy has a load below this: `1 / max_{u∈S} Σ_i (y_i/b_i) u_i`.
    pub bound: f64,
}

/// A bound that needs no search: the knapsack with some resources kept whole, the others priced.
#[derive(Clone, Debug)]
pub struct Relaxed {
    /// Resources that are kept whole, by index.
    pub whole: Vec<usize>,
    /// Prices of the units of the others (R), 0 for those kept.
    pub prices: Vec<f64>,
}

impl Certificate {
    fn new(problem: &Problem, proof: &Proof, loads: Vec<f64>) -> Self {
        let prices = proof.values.iter().zip(&problem.offered);
        Certificate {
            load: loads.into_iter().fold(0.0, f64::max),
            prices: prices.map(|(v, b)| v * b).collect(),
            resource_prices: proof.resource_prices[0].clone(),
            relaxed: proof.relaxed_site(0),
            bound: 1.0 / proof.t,
        }
    }

    /// Relative gap `load/bound − 1`.
    pub fn gap(&self) -> f64 {
        (self.load / self.bound - 1.0).max(0.0)
    }

    /// Whether the gap is small enough to be called a proof.
    pub fn proven(&self) -> bool {
        self.gap() <= PROOF_GAP
    }
}

/// The solved program.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The best mix; of the many optima, one with little to drain.
    pub mix: Mix,
    /// The proof that it is best, or the gap that is left.
    pub certificate: Certificate,
    /// Schedules that other optimal mixes may use, those of the mix among them; none where there was
    /// no choice among optima.
    pub face: Vec<Schedule>,
    /// Work done: master programs solved.
    pub rounds: usize,
    /// Work done: columns in the last master.
    pub columns: usize,
}

/// Why there is no solution to speak of.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// HiGHS ended with anything but an optimum: its answer is not used.
    #[error(
        "the linear program ended as {0}, not as optimal; its answer is not used. Please report this with the workload"
    )]
    Solver(String),
    /// Numbers beyond what double precision can relate to each other.
    #[error(
        "{what} is {value:e}; from 1e-100 to 1e100 can be handled. Choose a time unit in which rates and sizes are in that range, or leave a type out that never comes"
    )]
    OutOfRange {
        /// What it is, and of which type.
        what: String,
        /// Its value.
        value: f64,
    },
}

/// Solves the program by column generation; never silently: see [`Certificate::proven`].
///
/// # Errors
/// When HiGHS does not end optimal.
pub fn solve(workload: &Workload, limits: &Limits) -> Result<Solution, ProgramError> {
    solve_from(workload, limits, &[])
}

/// Solves the program, starting from schedules known to be good: those of a policy for nearly the
/// same workload, say. Those that do not fit are passed over.
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
    let optimum = Mix::new(&columns, &generation.weights);
    let mut solution = Solution {
        certificate: Certificate::new(&problem, &generation.proof, optimum.loads(workload)),
        mix: optimum,
        face: Vec::new(),
        rounds: generation.rounds,
        columns: columns.len(),
    };
    if solution.certificate.proven() && limits.face > 0 {
        let settled = least_drain::choose(workload, &packing, &solution, &columns, limits.face)?;
        solution.face = settled.face;
        if let Some(mix) = settled.mix {
            solution.certificate =
                Certificate::new(&problem, &generation.proof, mix.loads(workload));
            solution.mix = mix;
        }
    }
    Ok(solution)
}

fn check_range(workload: &Workload) -> Result<(), ProgramError> {
    in_range(
        "the fluid bound on the load".into(),
        Fluid::new(workload).bound(),
    )?;
    check_types(workload.types())
}

fn check_types(types: &[JobType]) -> Result<(), ProgramError> {
    for kind in types {
        let figures = [
            ("offered load", kind.offered_load()),
            ("arrival rate", kind.arrival_rate()),
            ("mean size", kind.mean_size()),
        ];
        for (what, value) in figures {
            in_range(format!("the {what} of type `{}`", kind.name()), value)?;
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

/// Relative distance at which both sides of the certificate are taken as met.
const MET: f64 = 1e-11;

/// Schedules for the first master: a maximal one around each type, so that everybody is
/// served; and roundings of the mean schedule at the fluid bound, filled up starting with
/// each type. Where jobs are small these already fill the bottleneck and meet the bound.
fn starting_columns(workload: &Workload, packing: &Packing) -> Vec<Schedule> {
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
    // Of very many types some hundred roundings do.
    (0..k)
        .map(around)
        .chain((0..k.min(ROUNDINGS)).map(near))
        .collect()
}

#[cfg(test)]
mod tests;
