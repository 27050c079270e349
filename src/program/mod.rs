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

mod complete;
mod exact;
mod least_drain;
mod master;
mod pricing;

pub use complete::solve_by_enumeration;
pub use exact::{Exact, Inexact, Prices, Unproven, exact};
pub use pricing::{Knapsack, Priced};

use std::time::{Duration, Instant};

use crate::schedule::{Fluid, Packing, Schedule};
use crate::workload::{JobType, Workload};
use master::Master;

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
    /// Schedules of the optimal face that the choice among optima looks at.
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
    /// No policy has a load below this: `1 / max_{u∈S} Σ_i (y_i/b_i) u_i`.
    pub bound: f64,
}

impl Certificate {
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
    check_range(workload)?;
    let packing = Packing::new(workload);
    let mut generation = Generation::new(workload, &packing)?;
    let started = Instant::now();
    while !generation.round(limits.nodes)? && started.elapsed() < limits.time {}
    let columns = generation.master.columns();
    let optimum = Mix::new(columns, &generation.weights);
    let mut solution = Solution {
        certificate: generation.certificate(workload, &optimum),
        mix: optimum,
        rounds: generation.rounds,
        columns: columns.len(),
    };
    if solution.certificate.proven() {
        let settled = least_drain::choose(workload, &packing, &solution, columns, limits.face)?;
        if let Some(mix) = settled {
            solution.certificate = generation.certificate(workload, &mix);
            solution.mix = mix;
        }
    }
    Ok(solution)
}

fn check_range(workload: &Workload) -> Result<(), ProgramError> {
    let of_type = |kind: &JobType| {
        [
            (
                format!("the offered load of type `{}`", kind.name()),
                kind.offered_load(),
            ),
            (
                format!("the arrival rate of type `{}`", kind.name()),
                kind.arrival_rate(),
            ),
            (
                format!("the mean size of type `{}`", kind.name()),
                kind.mean_size(),
            ),
        ]
    };
    let server = (
        "the fluid bound on the load".to_string(),
        Fluid::new(workload).bound(),
    );
    let mut all = workload.types().iter().flat_map(of_type).chain([server]);
    match all.find(|(_, value)| !(1e-100..=1e100).contains(value)) {
        Some((what, value)) => Err(ProgramError::OutOfRange { what, value }),
        None => Ok(()),
    }
}

/// Nodes for the first look of each pricing; a proof that needs more gets more.
const FIRST_LOOK: u64 = 2_000;

/// Roundings of the mean schedule in the first master.
const ROUNDINGS: usize = 256;

/// Relative distance at which both sides of the certificate are taken as met.
const MET: f64 = 1e-11;

/// Column generation under way.
struct Generation<'a> {
    packing: &'a Packing,
    offered: Vec<f64>,
    master: Master,
    weights: Vec<f64>,
    prices: Vec<f64>,
    resource_prices: Vec<f64>,
    /// Least upper bound on t so far, and the prices above are those that gave it.
    bound: f64,
    effort: u64,
    rounds: usize,
}

impl<'a> Generation<'a> {
    fn new(workload: &Workload, packing: &'a Packing) -> Result<Self, ProgramError> {
        let offered: Vec<f64> = workload.types().iter().map(|t| t.offered_load()).collect();
        let master = Master::new(workload, starting_columns(workload, packing))?;
        let fluid = Fluid::new(workload);
        let work = |i: usize| offered[i] * packing.demand(i)[fluid.bottleneck] as f64;
        let total: f64 = (0..offered.len()).map(work).sum();
        let mut resource_prices = vec![0.0; packing.capacity().len()];
        resource_prices[fluid.bottleneck] = 1.0 / total;
        Ok(Generation {
            prices: (0..offered.len()).map(|i| work(i) / total).collect(),
            resource_prices,
            bound: 1.0 / fluid.bound(),
            packing,
            offered,
            master,
            weights: Vec::new(),
            effort: FIRST_LOOK,
            rounds: 0,
        })
    }

    /// One master program and one pricing; `true` when the optimum is proven or no more can
    /// be proved within `nodes`.
    fn round(&mut self, nodes: u64) -> Result<bool, ProgramError> {
        self.rounds += 1;
        let primal = self.master.solve()?;
        self.weights = primal.weights;
        if primal.value >= self.bound * (1.0 - MET) {
            return Ok(true);
        }
        let values: Vec<f64> = primal
            .prices
            .iter()
            .zip(&self.offered)
            .map(|(y, b)| y / b)
            .collect();
        let knapsack = Knapsack::new(self.packing, &values)?;
        loop {
            let priced = knapsack.solve(primal.value, self.effort);
            if priced.bound < self.bound {
                self.bound = priced.bound;
                self.prices.clone_from(&primal.prices);
                self.resource_prices = knapsack.resource_prices();
            }
            if primal.value >= self.bound * (1.0 - MET) {
                return Ok(true);
            }
            if self.master.add(&priced.schedules)? > 0 {
                return Ok(false);
            }
            // Nothing better was found, and that is not yet a proof: look longer.
            if priced.exact || self.effort >= nodes {
                return Ok(true);
            }
            self.effort = (self.effort * 10).min(nodes);
        }
    }

    fn certificate(&self, workload: &Workload, mix: &Mix) -> Certificate {
        Certificate {
            load: mix.loads(workload).into_iter().fold(0.0, f64::max),
            prices: self.prices.clone(),
            resource_prices: self.resource_prices.clone(),
            bound: 1.0 / self.bound,
        }
    }
}

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
