//! The simulator of several servers on one clock, each with an online policy of its own; jobs are
//! sent to them by a [`Router`]. The engine is that of one server.

mod numbering;
mod servers;

use super::ends::{Ends, Known, Memoryless};
use super::engine::{Engine, counters};
use super::measures::{self, Run, classes};
use crate::multiresource::artifact::{Checked, Family, Routing};
use crate::multiresource::policy::{Policy, Router, Violation, online};
use crate::multiresource::workload::{JobType, Workload};
use crate::simulation::{Progress, Settings, replicate};
use numbering::Numbering;
use servers::FleetServers;

/// Servers that are alike.
#[derive(Clone, Copy, Debug)]
pub struct Alike<'a> {
    /// One of them, with the types that it serves.
    pub workload: &'a Workload,
    /// How many they are, ≥ 1.
    pub count: u32,
}

/// Simulates the policy of a fleet, with these policies of its shapes: those of the artifact, or
/// with another way of backfilling. Types and resources of the run are the fleet's; a job's dominant
/// share is that of the fleet's [envelope](crate::multiresource::workload::Fleet::envelope).
///
/// # Errors
/// When a policy makes a decision that no server could carry out.
pub fn simulate_fleet(
    checked: &Checked,
    policies: &[Family],
    routing: Routing,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let site = checked.workload();
    let fleet = site.fleet();
    let pairs = fleet.shapes().iter().zip(site.servers());
    let shapes: Vec<Alike<'_>> = pairs
        .map(|(shape, workload)| Alike {
            workload,
            count: shape.count(),
        })
        .collect();
    let router = Router::new(checked, routing);
    let policy = |h: usize| online(&policies[h], shapes[h].workload);
    simulate_servers(
        fleet.envelope(),
        &shapes,
        policy,
        &router,
        settings,
        progress,
    )
}

/// Simulates servers of several shapes on which all jobs of `arriving` are sent by `router`;
/// `policy` makes the rule of a server of shape h, of any family and whatever the laws of sizes and
/// arrivals are. The types of a server are those of `arriving` with the same name, and likewise the
/// resources; the jobs of a batch are sent one by one. One server, to which everything is sent, has
/// the results of [`simulate`](super::simulate).
///
/// # Errors
/// When a policy makes a decision that no server could carry out, or a job is sent to a server that
/// does not serve its type.
pub fn simulate_servers<P: Policy + Send>(
    arriving: &Workload,
    shapes: &[Alike<'_>],
    policy: impl Fn(usize) -> P,
    router: &Router,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let memoryless = arriving.types().iter().all(JobType::is_memoryless);
    let asks = |policy: P| policy.needs_sizes() || policy.needs_limits();
    let asked = (0..shapes.len()).any(|h| asks(policy(h)));
    if memoryless && !asked && !settings.common_sizes {
        let ends = |_: &Workload| Memoryless;
        run(arriving, shapes, &policy, router, ends, settings, progress)
    } else {
        let ends = Known::new;
        run(arriving, shapes, &policy, router, ends, settings, progress)
    }
}

fn run<P: Policy + Send, E: Ends + Send>(
    arriving: &Workload,
    shapes: &[Alike<'_>],
    policy: &impl Fn(usize) -> P,
    router: &Router,
    ends: impl Fn(&Workload) -> E,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let numbering = Numbering::new(arriving, shapes);
    let classes = classes(arriving);
    let engine = |r: u32| {
        let servers = |service: &mut _, routing| {
            FleetServers::new(shapes, &numbering, router, policy, &ends, service, routing)
        };
        Engine::new(&classes, arriving, servers, settings, r)
    };
    let replicated = replicate(&classes, engine, settings, progress)?;
    let counters = counters(&replicated.engines);
    let mut run = measures::run(arriving, &replicated.results(), counters);
    // Measured by what `arriving` has of each resource, and told of what all servers have.
    let resources = arriving.resources().iter().zip(numbering.capacity());
    let parts = resources.map(|(resource, all)| resource.capacity().value() / all);
    for (used, part) in run.own.utilization.iter_mut().zip(parts) {
        *used *= part;
    }
    Ok(run)
}
