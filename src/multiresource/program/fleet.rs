//! The program of a fleet: n_h servers of each shape h, one linear program over all of them.
//!
//! ```text
//! maximize t   s.t.   Σ_h n_h Σ_{s∈S_h} π_hs u_hsi / b_i − t ≥ 0  (each type i),
//!                     Σ_s π_hs ≤ 1  (each shape h),   π ≥ 0;                        ρ = 1/t
//! ```
//!
//! Servers of one shape are alike and the constraints convex, so one mix for each shape is as good as
//! one for each server. Prices `y ≥ 0, Σ y_i = 1` bound t from above by `Σ_h n_h z_h`, one knapsack a shape:
//! `z_h = max_{u∈S_h} Σ_i (y_i/b_i) u_i`. The certificate is both sides, as for one server.
//!
//! *Gangs.* A job that takes g servers at once is g pieces here, which may be apart in time: `b_i` counts pieces.
//! So the bound holds of all policies; that some policy attains it is not said where there are gangs.

use super::generation::Generation;
use super::problem::{Column, Problem};
use super::solution::gap;
use super::solve::{check_types, starting_columns};
use super::{Knapsack, Limits, Mix, PROOF_GAP, ProgramError, Tree};
use crate::multiresource::schedule::{self, Packing, Schedule};
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// The solved program of a fleet.
#[derive(Clone, Debug)]
pub struct FleetSolution {
    /// The best mix of each shape (H), over the types of its own server, in their order; none is
    /// empty.
    pub mixes: Vec<Mix>,
    /// The proof that they are best, or the gap that is left.
    pub certificate: FleetCertificate,
    /// Work done: master programs solved.
    pub rounds: usize,
    /// Work done: columns in the last master.
    pub columns: usize,
}

/// Two-sided evidence for the load of a fleet.
#[derive(Clone, Debug)]
pub struct FleetCertificate {
    /// `max_i ρ_i` of the mixes: the load ρ from above.
    pub load: f64,
    /// Prices `y` (K of the fleet), nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// What a server of each shape is worth at these prices (H).
    pub servers: Vec<ServerBound>,
    /// No policy has a load below this: `1 / Σ_h n_h z_h`.
    pub bound: f64,
}

/// A bound on the worth of schedules on a server, at given values of running jobs.
#[derive(Clone, Debug)]
pub struct ServerBound {
    /// `z_h ≥ max_u Σ_i (y_i/b_i) u_i`.
    pub worth: f64,
    /// Prices of the resources' integer units (R_h), at which each job costs its value at least.
    pub resource_prices: Vec<f64>,
    /// The search that proves it, where it takes prices of its own at each node.
    pub tree: Option<Tree>,
}

impl FleetCertificate {
    /// Relative gap `load/bound − 1`.
    pub fn gap(&self) -> f64 {
        gap(self.load, self.bound)
    }

    /// Whether the gap is small enough to be called a proof.
    pub fn proven(&self) -> bool {
        self.gap() <= PROOF_GAP
    }
}

/// Solves the program of a fleet by column generation. Whether the optimum is proven:
/// [`FleetCertificate::proven`].
///
/// # Errors
/// When HiGHS does not end optimal, or numbers are out of its range.
pub fn solve_fleet(fleet: &Fleet, limits: &Limits) -> Result<FleetSolution, ProgramError> {
    solve_fleet_from(fleet, limits, &[])
}

/// Solves the program, starting from schedules of each shape (H) known to be good, over all types (K), such as those of
/// nearly the same fleet. Those that do not fit are left out.
///
/// # Errors
/// As [`solve_fleet`].
pub fn solve_fleet_from(
    fleet: &Fleet,
    limits: &Limits,
    known: &[Vec<Schedule>],
) -> Result<FleetSolution, ProgramError> {
    check_types(fleet.types())?;
    let problem = Problem::of_fleet(fleet);
    let mut columns = Vec::new();
    for (site, shape) in fleet.shapes().iter().enumerate() {
        let (packing, types) = (&problem.sites[site].packing, shape.types());
        let own = |all: &Schedule| types.iter().map(|&i| all[i]).collect::<Schedule>();
        let known = known.get(site).into_iter().flatten().map(own);
        let fitting = known.filter(|u| packing.fits(u));
        let schedules = fitting.chain(starting_columns(shape.server(), packing));
        columns.extend(schedules.map(|schedule| Column { site, schedule }));
    }
    let mut generation = Generation::new(&problem, columns)?;
    generation.run(limits)?;
    let columns = generation.master.columns();
    let mix = |site: usize| {
        let own = columns
            .iter()
            .zip(&generation.weights)
            .filter(|(c, _)| c.site == site);
        let (schedules, mut weights): (Vec<Schedule>, Vec<f64>) = own
            .map(|(column, weight)| (column.schedule.clone(), *weight))
            .unzip();
        // A shape that the optimum does not need gets a schedule, too.
        if weights.iter().all(|weight| *weight <= 0.0) {
            weights[0] = 1.0;
        }
        Mix::new(&schedules, &weights)
    };
    let mixes: Vec<Mix> = (0..problem.sites.len()).map(mix).collect();
    let proof = &generation.proof;
    let prices = proof.values.iter().zip(&problem.offered);
    let servers = proof.worths.iter().zip(&proof.resource_prices).enumerate();
    Ok(FleetSolution {
        certificate: FleetCertificate {
            load: load(fleet, &mixes),
            prices: prices.map(|(v, b)| v * b).collect(),
            servers: servers
                .map(|(site, (worth, resource_prices))| ServerBound {
                    worth: *worth,
                    resource_prices: resource_prices.clone(),
                    tree: proof.trees[site].clone(),
                })
                .collect(),
            bound: 1.0 / proof.t,
        },
        rounds: generation.rounds,
        columns: columns.len(),
        mixes,
    })
}

/// `max_i ρ_i`.
pub(super) fn load(fleet: &Fleet, mixes: &[Mix]) -> f64 {
    let types = fleet.types().iter().zip(served(fleet, mixes));
    let loads = types.map(|(job_type, served)| job_type.offered_pieces() / served);
    loads.fold(0.0, f64::max)
}

/// `y_i/b_i` (K).
pub(super) fn values(types: &[JobType], prices: &[f64]) -> Vec<f64> {
    let pairs = types.iter().zip(prices);
    pairs
        .map(|(job_type, y)| y / job_type.offered_pieces())
        .collect()
}

/// The largest worth of a schedule on one server at these values (K) of running jobs, if the search
/// ends within this many nodes, else a bound on it; a schedule of the mix attains it where the mix is
/// best. And prices of the resources' units that cover the values.
pub(super) fn worth(server: &Workload, values: &[f64], mix: &Mix, nodes: u64) -> (f64, Vec<f64>) {
    let packing = Packing::new(server);
    let worths = mix.schedules.iter().map(|u| schedule::worth(u, values));
    let known = worths.fold(0.0, f64::max);
    let knapsack = Knapsack::new(&packing, values);
    let priced = knapsack.solve(known, nodes);
    (priced.bound, knapsack.resource_prices())
}

/// See [`FleetSolution::served`].
pub(super) fn served(fleet: &Fleet, mixes: &[Mix]) -> Vec<f64> {
    let mut total = vec![0.0; fleet.types().len()];
    for (shape, mix) in fleet.shapes().iter().zip(mixes) {
        for (&i, served) in shape.types().iter().zip(mix.mean_schedule()) {
            total[i] += f64::from(shape.count()) * served;
        }
    }
    total
}
