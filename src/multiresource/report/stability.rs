//! Stability: the load that a policy, or any policy, can sustain, and upgrades that raise it.

use itertools::Itertools as _;

use crate::multiresource::artifact::{Artifact, Family, Guard, Quantity};
use crate::multiresource::policy::time_of_turns;
use crate::multiresource::program::PROOF_GAP;
use crate::multiresource::synthesis::{Upgrade, Upgrades};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::{Cell, Section, load, number};
use synth_verb::table;

use super::unmet_by;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stability {
    /// Proved by the loads `ρ_i < 1`.
    Loads,
    /// Proved by `Σ λ_i/(μ_i c_i) < 1`; holds the sum.
    Turns(f64),
    /// Proved: from this many jobs on, a policy with loads `ρ_i < 1` takes over.
    Guard(u64),
    /// Proved by a Lyapunov function: a job's weight grows with the number of jobs of its type.
    Weights,
    /// Proved: all servers work while there is work for them.
    Fills,
    /// Proved: from this many jobs on, each type has slots of its own.
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

    /// Describes the stability. `seen` is whether the policy converged, if it was simulated.
    pub(super) fn words(self, is_fleet: bool, seen: Option<bool>) -> String {
        match self {
            Stability::Unproved if is_fleet && seen.is_none() => "proved only for exponential sizes and Poisson arrivals: each type has more slots than its offered load".into(),
            Stability::Unproved => match seen {
                Some(true) => "observed in simulation at this load, not proved",
                Some(false) => "neither proved nor observed, since its runs did not converge",
                None => "not proved for these sizes or arrivals, and not simulated; run `synth simulate`",
            }.into(),
            Stability::Turns(time) => format!("proved, since Σ λ_i/(μ_i c_i) = {} < 1", number(time)),
            Stability::Guard(jobs) => format!("proved by a guard: from {jobs} jobs in the system on, an MSR policy with all loads ρ_i below 1 takes over"),
            Stability::Partition(jobs) => format!("proved by a guard: from {jobs} jobs in the system on, each type has slots of its own with a load ρ_i below 1"),
            Stability::Loads if is_fleet => "proved: each type has more slots than its offered load".into(),
            Stability::Loads => "proved by the loads ρ_i < 1".into(),
            Stability::Weights => "proved for any load below 1 by a Lyapunov function: a job's weight grows with the number of jobs of its type".into(),
            Stability::Fills => "proved for any load below 1: all servers work whenever there are jobs for them".into(),
        }
    }
}

/// Describes the load and its proof. `best` is the load of the best schedules if the policy uses
/// others.
pub(super) fn load_of(fleet: &Fleet, artifact: &Artifact, best: Option<f64>) -> String {
    let evidence = &artifact.evidence;
    let (own, gap) = (load(evidence.load), evidence.gap);
    let proof = match evidence.proven {
        true if fleet.gangs().next().is_some() => {
            "a proved lower bound: jobs on several servers are split into tasks".into()
        }
        true => format!("proved to a relative gap of {PROOF_GAP:.0e}"),
        false => {
            format!(
                "NOT PROVED: an upper bound with a gap of {gap:.2e}; raise --time to continue the search"
            )
        }
    };
    let best = best.map_or(String::new(), |best| {
        let best = load(best);
        format!(" The policy does not use the best schedules; with them the load is {best}.")
    });
    format!("Load: ρ = {own} of the maximum that any policy can sustain ({proof}).{best}")
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

/// Returns the fraction of each resource (R) that the jobs need, ignoring server shapes.
pub(super) fn demand(fleet: &Fleet) -> Vec<f64> {
    let used = |j: usize| {
        let types = fleet.types().iter();
        let pieces = types.map(|kind| kind.offered_pieces() * kind.demand()[j].value());
        pieces.sum::<f64>()
    };
    let capacity = fleet.capacity().into_iter().enumerate();
    capacity.map(|(j, capacity)| used(j) / capacity).collect()
}

pub(super) fn growth(fleet: &Fleet, artifact: &Artifact) -> Section {
    let evidence = &artifact.evidence;
    // The load of a workload with gangs is only a bound, so the true limit may be lower.
    let is_bound = fleet.gangs().next().is_some();
    let [some, none] = [evidence.load, evidence.bound].map(|load| 1.0 / load);
    let is_tight = some >= none * (1.0 - PROOF_GAP);
    let proof = if is_tight { "proved" } else { "" };
    let own = of_this(artifact, fleet);
    let loads = [Quantity::Load, Quantity::LoadUnderGuard];
    let claims = artifact.claims.iter();
    let claims = claims.filter(|claim| loads.contains(&claim.quantity));
    let workload = fleet.envelope();
    let mut assumed = claims.filter_map(|claim| unmet_by(claim, artifact, workload).words());
    let how = match (own, assumed.next()) {
        (None, _) => "unknown; measure it with `synth compare --loads`".into(),
        (_, Some(assumed)) => format!("computed as if {assumed}"),
        _ if Stability::of(workload, &artifact.policy) == Stability::Unproved => {
            "by its loads".into()
        }
        _ => "proved".into(),
    };
    let some = Some(some).filter(|_| !is_bound);
    let rows = [
        ("this policy is stable below", own, &*how),
        ("some policy is stable below", some, proof),
        ("no policy is stable above", Some(none), proof),
    ];
    table!("If all arrival rates grow by the same factor", rows, (what, times, how) => {
        "" => what,
        "factor [1]" => times,
        "basis" => how,
    })
}

/// Returns the factor on all arrival rates below which the policy is stable, or `None` if unknown.
/// Loads are proportional to the arrival rates, so the largest load is 1 at that factor.
fn of_this(artifact: &Artifact, fleet: &Fleet) -> Option<f64> {
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

/// Returns the upgrades that lower the load, the most effective first. `load` is the present load
/// under the best policy.
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
        section
            .notes
            .push(format!("Without effect on the load: {names}."));
    }
    if upgrades.skipped > 0 {
        let skipped = upgrades.skipped;
        section.notes.push(format!(
            "{skipped} more upgrades were not examined for lack of time."
        ));
    }
    section
}

/// Returns the name of an upgrade: the smallest amount with which more jobs fit together.
fn name(fleet: &Fleet, step: &Upgrade) -> String {
    let Some(resource) = &step.resource else {
        return format!("1 more server {}", step.shape);
    };
    let more = step.more;
    let shape = fleet.shapes().iter().find(|s| s.name() == step.shape);
    match shape.map_or(1, |shape| shape.count()) {
        _ if fleet.is_one_server() => format!("{more} more {resource}"),
        1 => format!("{more} more {resource} on {}", step.shape),
        count => format!("{more} more {resource} on each of {count} {}", step.shape),
    }
}
