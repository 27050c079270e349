//! Schedules `u`, the schedulable set `S = {u ∈ Z₊^K : u·D ≤ P}`, and the fluid bound on the load.
//!
//! Source: §3.1 and eq. (3) of the MSR paper (see the [crate]).

mod depth_first;
mod enumeration;
mod knapsack;
mod step;

pub use depth_first::{DepthFirst, Item};
pub use enumeration::{Enumeration, enumerate, maximal};
pub use knapsack::Knapsack;
pub use step::{size_step, smallest_step, steps};

use crate::workload::{Fleet, JobType, Workload};

/// A schedule `u`: the number of jobs of each type that run together, in the workload's type order.
pub type Schedule = Vec<u32>;

/// The constraints `u·D ≤ P` for K types and R resources, represented with integers.
#[derive(Clone, Debug)]
pub struct Packing {
    demand: Vec<Vec<u64>>,
    capacity: Vec<u64>,
}

impl Packing {
    /// Creates the packing problem for a server with this workload.
    pub fn new(workload: &Workload) -> Self {
        let types = workload.types().iter();
        Packing {
            demand: types.map(|t| t.units().to_vec()).collect(),
            capacity: workload.resources().iter().map(|r| r.units()).collect(),
        }
    }

    /// Creates the packing problem for a single server with the resources of all servers of a
    /// fleet, on which any set of jobs that can run on the fleet fits. `None` on overflow.
    pub fn pooled(fleet: &Fleet) -> Option<Self> {
        let demand = |job: &JobType| -> Option<Vec<u64>> {
            let units = job.units().iter();
            let all = units.map(|units| units.checked_mul(job.nodes().into()));
            all.collect()
        };
        let mut capacity = vec![0_u64; fleet.envelope().resources().len()];
        for (h, shape) in fleet.shapes().iter().enumerate() {
            for (all, units) in capacity.iter_mut().zip(fleet.units(h)) {
                *all = all.checked_add(units.checked_mul(shape.count().into())?)?;
            }
        }
        let demand: Option<_> = fleet.types().iter().map(demand).collect();
        Some(Packing::of_units(demand?, capacity))
    }

    /// Creates a packing problem from the demands (K × R) and the capacities (R). Each type must
    /// fit and have a positive demand.
    pub fn of_units(demand: Vec<Vec<u64>>, capacity: Vec<u64>) -> Self {
        Packing { demand, capacity }
    }

    /// Returns the number of job types K.
    pub fn types(&self) -> usize {
        self.demand.len()
    }

    /// Returns the capacity `P` in integer units (R).
    pub fn capacity(&self) -> &[u64] {
        &self.capacity
    }

    /// Returns the demand of type `i` in integer units (R).
    pub fn demand(&self, i: usize) -> &[u64] {
        &self.demand[i]
    }

    /// Returns the demand of type `i` for a resource as a fraction of the capacity.
    pub fn share(&self, i: usize, resource: usize) -> f64 {
        match self.demand[i][resource] {
            0 => 0.0,
            units => units as f64 / self.capacity[resource] as f64,
        }
    }

    /// Returns the dominant share of type `i`: its largest fraction of any resource.
    pub fn dominant_share(&self, i: usize) -> f64 {
        let shares = (0..self.capacity.len()).map(|j| self.share(i, j));
        shares.fold(0.0, f64::max)
    }

    /// Returns the capacity that is not used by a schedule (R), or `None` if it does not fit.
    pub fn free_capacity(&self, schedule: &[u32]) -> Option<Vec<u64>> {
        let left = |j: usize| {
            let left = u128::from(self.capacity[j]).checked_sub(self.used(schedule, j))?;
            Some(u64::try_from(left).expect("at most the capacity is left"))
        };
        (0..self.capacity.len()).map(left).collect()
    }

    /// Returns the units of resource `j` that a schedule uses.
    pub fn used(&self, schedule: &[u32], j: usize) -> u128 {
        let jobs = schedule.iter().zip(&self.demand);
        jobs.map(|(u, d)| u128::from(*u) * u128::from(d[j])).sum()
    }

    /// Returns whether `u·D ≤ P`.
    pub fn fits(&self, schedule: &[u32]) -> bool {
        schedule.len() == self.types() && self.fits_in(schedule, &self.capacity)
    }

    pub(crate) fn fits_in(&self, schedule: &[u32], free: &[u64]) -> bool {
        let mut free = free.iter().enumerate();
        free.all(|(j, free)| self.used(schedule, j) <= u128::from(*free))
    }

    pub(crate) fn max_jobs_alone(&self, i: usize) -> u32 {
        self.max_jobs_in(i, &self.capacity)
    }

    /// Returns how many jobs of type `i` fit into the free capacity (R).
    pub fn max_jobs_in(&self, i: usize, free: &[u64]) -> u32 {
        let pairs = free.iter().zip(&self.demand[i]);
        let most = pairs.filter_map(|(free, d)| free.checked_div(*d)).min();
        let most = most.expect("a checked workload's types demand something");
        most.min(u32::MAX.into()) as u32
    }

    /// Subtracts `count` jobs of type `i` from the free capacity, which they must fit.
    pub fn take(&self, i: usize, count: u32, free: &mut [u64]) {
        for (free, d) in free.iter_mut().zip(&self.demand[i]) {
            *free -= u64::from(count) * d;
        }
    }

    /// Adds `count` jobs of type `i` back to the free capacity.
    pub fn release(&self, i: usize, count: u32, free: &mut [u64]) {
        for (free, d) in free.iter_mut().zip(&self.demand[i]) {
            *free += u64::from(count) * d;
        }
    }

    /// Adds jobs to a schedule in the given `order` of the types until it is maximal. If the
    /// schedule does not fit, it is returned without changes.
    pub fn extended_to_maximal(&self, mut schedule: Schedule, order: &[usize]) -> Schedule {
        let Some(mut free) = self.free_capacity(&schedule) else {
            return schedule;
        };
        for &i in order {
            let more = self.max_jobs_in(i, &free);
            self.take(i, more, &mut free);
            schedule[i] += more;
        }
        schedule
    }

    /// Returns whether no further job of any type fits.
    pub fn is_maximal(&self, schedule: &[u32]) -> bool {
        self.free_capacity(schedule)
            .is_some_and(|free| (0..self.types()).all(|i| self.max_jobs_in(i, &free) == 0))
    }
}

/// Returns the fluid bound `max_j Σ_i b_i D_ij / P_j ≤ ρ` on the load, for which a job can be
/// divided into parts. The capacities are rounded down to multiples of the units, since no job can
/// use the remainder.
pub fn fluid_bound(workload: &Workload) -> f64 {
    let resources = workload.resources().iter().enumerate();
    let fractions = resources.map(|(j, resource)| {
        let types = workload.types().iter();
        let work: f64 = types.map(|t| t.offered_load() * t.units()[j] as f64).sum();
        let units = resource.units() as f64;
        if work == 0.0 { 0.0 } else { work / units }
    });
    fractions.fold(0.0, f64::max)
}

/// Returns the index of the largest number, the first one if there are ties; 0 for an empty list.
pub fn index_of_largest(numbers: &[f64]) -> usize {
    let descending = (0..numbers.len()).rev();
    let largest = descending.max_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    largest.unwrap_or(0)
}

/// Returns `Σ_j units_j w_j`: the cost of these amounts at prices per unit.
pub fn price(units: &[u64], prices: &[f64]) -> f64 {
    units.iter().zip(prices).map(|(d, w)| *d as f64 * w).sum()
}

/// Returns `Σ_i v_i u_i`: the value of a schedule.
pub fn schedule_value(schedule: &[u32], values: &[f64]) -> f64 {
    let jobs = schedule.iter().zip(values);
    jobs.map(|(u, v)| f64::from(*u) * v).sum()
}
