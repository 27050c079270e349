//! The simulator of a fleet: all servers on one clock, each with its shape's online policy, jobs
//! sent by a [`Router`]; the same invariants and the same statistics as of one server.

mod engine;
mod server;
mod servers;
mod tournament;

use super::calendar::{Calendar, Memoryless};
use super::{Progress, Run, Settings, replicate};
use crate::multiresource::artifact::{CheckedFleet, Family, Routing};
use crate::multiresource::policy::{Router, Violation};
use crate::multiresource::workload::{JobType, Workload};
use engine::FleetEngine;
use servers::Kind;

/// Simulates the policy of a fleet, with these policies of its shapes: those of the artifact, or
/// with another way of backfilling. Types and resources of the run are the fleet's; a job's dominant
/// share is that of the fleet's [envelope](crate::multiresource::workload::Fleet::envelope). Thresholds are not
/// watched.
///
/// # Errors
/// When a policy makes a decision that no server could carry out.
pub fn simulate_fleet(
    checked: &CheckedFleet,
    policies: &[Family],
    routing: Routing,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let fleet = checked.fleet();
    let router = Router::new(checked, routing);
    let pairs = checked.servers().iter().zip(policies);
    let kinds: Vec<Kind<'_>> = pairs
        .map(|(workload, policy)| Kind { workload, policy })
        .collect();
    let workload = fleet.envelope();
    let exponential = |kind: &JobType| kind.size().is_exponential();
    let all_exponential = fleet.types().iter().all(exponential);
    let run = if all_exponential && !settings.common_sizes {
        let ends = |_: &Workload| Memoryless;
        let engine = |r| FleetEngine::new(fleet, &kinds, &router, ends, settings, r);
        replicate(workload, engine, settings, progress)
    } else {
        let engine = |r| FleetEngine::new(fleet, &kinds, &router, Calendar::new, settings, r);
        replicate(workload, engine, settings, progress)
    };
    run.map(|run| Run {
        utilization: of_all(checked, &run.utilization),
        ..run
    })
}

/// Utilization of all servers together, from what it would be of the envelope alone.
fn of_all(checked: &CheckedFleet, utilization: &[f64]) -> Vec<f64> {
    let fleet = checked.fleet();
    let resources = fleet.envelope().resources().iter().zip(fleet.capacity());
    let parts = resources.map(|(resource, all)| resource.capacity().value() / all);
    utilization
        .iter()
        .zip(parts)
        .map(|(u, part)| u * part)
        .collect()
}
