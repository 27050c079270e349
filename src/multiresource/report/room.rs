//! Why a policy, or any policy, cannot carry more load.

use super::percent;
use crate::multiresource::artifact::{Artifact, Family, Guard, Quantity};
use crate::multiresource::policy::time_of_turns;
use crate::multiresource::schedule::Fluid;
use crate::multiresource::workload::{Fleet, Workload};

/// What is known of a policy's stability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// Proved, by the loads `ρ_i < 1`.
    Loads,
    /// Proved, since `Σ λ_i/(μ_i c_i)` is this, below 1.
    Turns(f64),
    /// Proved, since a policy with loads `ρ_i < 1` takes over from so many jobs in the system on.
    Guard(u64),
    /// Proved, since each of so many jobs weighs the more of them there are.
    Weights,
    /// Proved, since all servers work while there is work for them.
    Fills,
    /// Proved, since slots for each type take over from so many jobs in the system on.
    Partition(u64),
    /// Not proved.
    Unproved,
}

impl Stability {
    /// Returns what is known of that of a policy.
    pub fn of(workload: &Workload, policy: &Family) -> Self {
        match policy {
            _ if !policy.is_proved_stable(workload) => Stability::Unproved,
            Family::Guarded(policy) => match &policy.guard {
                Guard::Partition(_) => Stability::Partition(policy.from),
                _ => Stability::Guard(policy.from),
            },
            Family::MaxWeight(_) => Stability::Weights,
            Family::ServerFilling(_) => Stability::Fills,
            Family::StaticQuickswap(_) => Stability::Turns(time_of_turns(workload)),
            _ => Stability::Loads,
        }
    }
}

/// Returns the load if jobs could be cut into pieces: what is less than the load is lost since jobs do not pack.
pub fn in_pieces(fleet: &Fleet) -> f64 {
    if fleet.is_one_server() {
        Fluid::new(fleet.envelope()).bound()
    } else {
        demand(fleet).into_iter().fold(0.0, f64::max)
    }
}

/// Describes what binds, the largest first: resources of shapes, each with its share of the price of all servers. The proof is
/// at these prices.
pub fn binding(fleet: &Fleet, artifact: &Artifact) -> Vec<String> {
    let mut all = Vec::new();
    for (shape, at) in fleet.shapes().iter().zip(&artifact.evidence.servers) {
        for (resource, price) in shape.server().resources().iter().zip(&at.resource_prices) {
            let price = f64::from(shape.count()) * resource.units() as f64 * price;
            all.push((price, shape.name(), resource.name()));
        }
    }
    let total: f64 = all.iter().map(|own| own.0).sum();
    all.iter_mut().for_each(|own| own.0 /= total);
    all.retain(|own| own.0 > 1e-9);
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let words = all.into_iter().map(|(share, shape, resource)| {
        let share = percent(share);
        if fleet.is_one_server() {
            format!("{resource} ({share})")
        } else {
            format!("{resource} of {shape} ({share})")
        }
    });
    words.collect()
}

/// Returns what part of all that there is of each resource (R) the jobs need, whatever the shapes.
pub fn demand(fleet: &Fleet) -> Vec<f64> {
    let used = |j: usize| {
        let types = fleet.types().iter();
        let pieces = types.map(|kind| kind.offered_pieces() * kind.demand()[j].value());
        pieces.sum::<f64>()
    };
    let capacity = fleet.capacity().into_iter().enumerate();
    capacity.map(|(j, capacity)| used(j) / capacity).collect()
}

/// Returns the factor on all arrival rates below which the policy is stable, under what is assumed of sizes and arrivals there;
/// `None` if that is not known. Loads scale with the arrivals: the largest of them is 1 at that factor.
pub fn of_this(artifact: &Artifact, fleet: &Fleet) -> Option<f64> {
    let workload = fleet.envelope();
    let load = match (&artifact.policy, Stability::of(workload, &artifact.policy)) {
        (Family::Partition(policy), _) => {
            let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
            let slots = policy.jobs(0, &nodes);
            let pairs = fleet.types().iter().zip(slots);
            let loads = pairs.map(|(kind, slots)| kind.offered_load() / slots as f64);
            (policy.assignments.len() == 1).then(|| loads.fold(0.0, f64::max))
        }
        (Family::Msr(_), _) => largest(artifact, Quantity::Load),
        (Family::Guarded(_), _) => largest(artifact, Quantity::LoadUnderGuard),
        (_, Stability::Turns(_)) => Some(time_of_turns(workload)),
        (_, Stability::Weights | Stability::Fills) => Some(artifact.evidence.load),
        _ => None,
    };
    load.map(|load| 1.0 / load)
}

/// Returns the largest load of a type that is claimed.
fn largest(artifact: &Artifact, quantity: Quantity) -> Option<f64> {
    let claims = artifact.claims.iter();
    let loads = claims.filter(|own| own.quantity == quantity && own.job_type.is_some());
    loads.map(|own| own.value).reduce(f64::max)
}
