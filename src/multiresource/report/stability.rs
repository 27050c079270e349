//! The load that one policy or any policy can sustain, and the upgrades that increase it.

use itertools::Itertools as _;

use crate::multiresource::artifact::{Artifact, Family, Guard, Quantity};
use crate::multiresource::policy::time_of_turns;
use crate::multiresource::program::PROOF_GAP;
use crate::multiresource::synthesis::{Upgrade, Upgrades};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::{Cell, Section, load, number, plural};
use synth_verb::table;

use super::unmet_by;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stability {
    /// The proof uses the loads `ρ_i < 1`.
    Loads,
    /// The proof uses `Σ λ_i/(μ_i c_i) < 1`, where the value is this sum.
    Turns(f64),
    /// From this number of jobs on, a policy with the loads `ρ_i < 1` is used.
    Guard(u64),
    Weights,
    Fills,
    /// From this number of jobs on, each type has its own slots.
    Partition(u64),
    Unproved,
}

impl Stability {
    pub(super) fn of(workload: &Workload, policy: &Family) -> Self {
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

    /// Describes the stability. If the policy was simulated, `seen` is whether it converged.
    pub(super) fn describe(self, is_fleet: bool, seen: Option<bool>) -> String {
        match self {
            Stability::Unproved if is_fleet && seen.is_none() => "proved only if the sizes are exponential and the arrivals are a Poisson process, because each type has more slots than its offered load".into(),
            Stability::Unproved => match seen {
                Some(true) => "the policy was stable in the simulation at this load, but there is no proof",
                Some(false) => "there is no proof, and the policy did not converge in the simulation",
                None => "there is no proof for these sizes or arrivals, and the policy has not been simulated; use `synth simulate` to test it",
            }.into(),
            Stability::Turns(time) => format!("proved, because the sum Σ λ_i/(μ_i c_i) = {} is less than 1", number(time)),
            Stability::Guard(jobs) => format!("proved, because if there are at least {jobs} jobs in the system, a guard switches to an MSR policy where the load ρ_i of each type is less than 1"),
            Stability::Partition(jobs) => format!("proved, because if there are at least {jobs} jobs in the system, a guard gives each type its own slots with a load ρ_i that is less than 1"),
            Stability::Loads if is_fleet => "proved, because the number of slots of each type is greater than its offered load".into(),
            Stability::Loads => "proved, because the load ρ_i of each type is less than 1".into(),
            Stability::Weights => "proved for any load below 1 using a Lyapunov function, because the weight of a job grows with the number of jobs of the same type".into(),
            Stability::Fills => "proved for any load below 1, because all servers are working if there are enough jobs for them".into(),
        }
    }
}

/// Describes the load. If there are better schedules or weights, `best` is the load with the best.
pub(super) fn load_of(fleet: &Fleet, artifact: &Artifact, best: Option<f64>) -> String {
    let evidence = &artifact.evidence;
    let (own, gap) = (load(evidence.load), evidence.gap);
    if let Some(best) = best.map(load) {
        return format!(
            "Load: ρ = {own} with these schedules and weights. With the best ones that were found, it would be {best}."
        );
    }
    let proof = match evidence.proven {
        true if fleet.gangs().next().is_some() => {
            "proved as a lower bound, where jobs that need multiple servers are split into tasks"
                .into()
        }
        true => format!("proved with a relative gap of {PROOF_GAP:.0e}"),
        false => format!(
            "NOT PROVED: this is an upper bound, and the gap is {gap:.2e}; use a larger value for `--time` to get a better bound"
        ),
    };
    format!("Load: ρ = {own} of the maximum that any policy can sustain ({proof}).")
}

pub(super) fn bottlenecks(fleet: &Fleet, artifact: &Artifact) -> Section {
    let mut all = Vec::new();
    for (shape, at) in fleet.shapes().iter().zip(&artifact.evidence.servers) {
        for (resource, price) in shape.server().resources().iter().zip(&at.resource_prices) {
            let price = f64::from(shape.count()) * resource.units() as f64 * price;
            all.push((price, shape.name(), resource.name()));
        }
    }
    let total: f64 = all.iter().map(|own| own.0).sum();
    all.retain(|own| own.0 / total > 1e-9);
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    table!("Bottlenecks", all, (price, shape, resource) => {
        "resource" => resource,
        "servers" => (!fleet.is_one_server()).then_some(shape),
        "of the shadow prices [%]" => price / total,
    })
}

/// Returns the fraction of each resource that the jobs need, ignoring the server shapes.
pub(super) fn demand(fleet: &Fleet) -> Vec<f64> {
    let used = |j: usize| -> f64 {
        let types = fleet.types().iter();
        let tasks = types.map(|kind| kind.offered_tasks() * kind.demand()[j].value());
        tasks.sum()
    };
    let capacity = fleet.capacity().into_iter().enumerate();
    capacity.map(|(j, capacity)| used(j) / capacity).collect()
}

pub(super) fn growth(fleet: &Fleet, artifact: &Artifact) -> Section {
    let evidence = &artifact.evidence;
    // If there are gangs, the load is only a lower bound, so the real limit may be lower.
    let is_bound = fleet.gangs().next().is_some();
    let [some, none] = [evidence.load, evidence.bound].map(|load| 1.0 / load);
    let is_tight = some >= none * (1.0 - PROOF_GAP);
    let proof = if is_tight { "proved" } else { "" };
    let own = stability_limit(artifact, fleet);
    let loads = [Quantity::Load, Quantity::LoadUnderGuard];
    let claims = artifact.claims.iter();
    let claims = claims.filter(|claim| loads.contains(&claim.quantity));
    let workload = fleet.envelope();
    let mut assumed = claims.filter_map(|claim| unmet_by(claim, artifact, workload).describe());
    let how = match (own, assumed.next()) {
        (None, _) => "this is not known; use `synth compare --loads` to measure it".into(),
        (_, Some(assumed)) => format!("this is computed as if {assumed}"),
        _ if Stability::of(workload, &artifact.policy) == Stability::Unproved => {
            "by its loads".into()
        }
        _ => "proved".into(),
    };
    let rows = [
        Some(("this policy is stable below", own, &*how)),
        (!is_bound).then_some(("some policy is stable below", Some(some), proof)),
        Some(("no policy is stable above", Some(none), proof)),
    ];
    table!("If all arrival rates grow by the same factor", rows.into_iter().flatten(), (what, times, how) => {
        "" => what,
        "factor [1]" => times,
        "basis" => how,
    })
}

/// Returns the factor on all arrival rates at which the largest load is 1, or `None` if it is not
/// known. The assumptions of the claims about sizes and arrivals also apply to this factor.
fn stability_limit(artifact: &Artifact, fleet: &Fleet) -> Option<f64> {
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

fn largest(artifact: &Artifact, quantity: Quantity) -> Option<f64> {
    let claims = artifact.claims.iter();
    let loads = claims.filter(|own| own.quantity == quantity && own.job_type.is_some());
    loads.map(|own| own.value).reduce(f64::max)
}

const SAME: f64 = 5e-5;

/// Returns the upgrades that reduce the `load` under the best policy, the most effective one first.
pub(super) fn upgrades(fleet: &Fleet, upgrades: &Upgrades, load: f64) -> Section {
    let helps = |step: &&Upgrade| load / step.load > 1.0 + SAME;
    let (helping, idle): (Vec<_>, Vec<_>) = upgrades.found.iter().partition(helps);
    let mut section = table!("Most effective upgrades", helping, step => {
        "upgrade" => name(fleet, step),
        "load ρ [1]" => match step.proven {
            true => Cell::Number(step.load),
            false => Cell::Signed("≤", step.load),
        },
        "more load [%]" => load / step.load - 1.0,
    });
    if !idle.is_empty() {
        let names = idle.iter().map(|step| name(fleet, step)).join("; ");
        section.notes.push(format!(
            "The following upgrades do not change the load: {names}."
        ));
    }
    if upgrades.skipped > 0 {
        let skipped = upgrades.skipped;
        section.notes.push(format!(
            "Upgrades that were not checked because the time was over: {skipped}."
        ));
    }
    section
}

/// Returns the name of the smallest upgrade with which other sets of jobs fit together.
fn name(fleet: &Fleet, step: &Upgrade) -> String {
    let Some(resource) = &step.resource else {
        return format!("1 more server {}", step.shape);
    };
    let more = step.more;
    let shape = fleet.shapes().iter().find(|s| s.name() == step.shape);
    match shape.map_or(1, |shape| shape.count()) {
        _ if fleet.is_one_server() => format!("{more} more {resource}"),
        1 => format!("{more} more {resource} on {}", step.shape),
        count => format!(
            "{more} more {resource} on each of {count} {}",
            plural(&step.shape)
        ),
    }
}
