use super::contender::With;
use super::measures::Run;
use super::on;
use crate::multiresource::artifact::{Family, Order, Placement, PooledEasyPolicy, PooledPolicy};
use crate::multiresource::policy::{FamilyRule, Policy, System, Violation};
use crate::multiresource::workload::{Fleet, Known};
use crate::simulation::sweep::Knows;
use crate::simulation::{Progress, Settings};

/// Simulates a policy that decides over all servers of a fleet, whose jobs wait in one place. Types and
/// resources of the run are the fleet's; a job's dominant share is that of its
/// [envelope](Fleet::envelope).
///
/// # Errors
/// When the policy makes a decision that no server could carry out.
pub fn simulate_pooled<P: Policy + Clone + Send>(
    fleet: &Fleet,
    policy: P,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let workload = fleet.envelope();
    let system = |policy: &P| System::of_fleet(fleet, policy.clocks(), policy.preempts());
    let mut run = on(workload, system, policy, settings, progress)?;
    // Measured by what the envelope has of each resource, and told of what all servers have.
    let own = &mut run.own;
    let capacity = fleet.capacity();
    for ((j, resource), all) in workload.resources().iter().enumerate().zip(capacity) {
        let units = |h: usize| f64::from(fleet.shapes()[h].count()) * fleet.units(h)[j] as f64;
        let units: f64 = (0..fleet.shapes().len()).map(units).sum();
        if let Some(used) = own.utilization.get_mut(j) {
            *used *= resource.capacity().value() / all;
        }
        if let Some(wasted) = own.wastage.get_mut(j).filter(|_| units > 0.0) {
            *wasted *= resource.units() as f64 / units;
        }
    }
    Ok(run)
}

/// The same of a policy that [pools](Family::pools) the servers, which has been checked against the fleet.
///
/// # Errors
/// As [`simulate_pooled`].
pub fn simulate_over(
    fleet: &Fleet,
    policy: &Family,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let simulation = Simulation {
        fleet,
        settings,
        progress,
    };
    made_over(fleet, policy, simulation).unwrap_or(Err(Violation::Nowhere(0)))
}

struct Simulation<'a, F> {
    fleet: &'a Fleet,
    settings: &'a Settings,
    progress: F,
}

impl<F: FnMut(Progress)> With for Simulation<'_, F> {
    type Output = Result<Run, Violation>;

    fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output {
        simulate_pooled(self.fleet, policy, self.settings, self.progress)
    }
}

/// Makes the rule of a policy that [pools](Family::pools) the servers, and hands it on; `None` of another policy.
pub(in crate::multiresource) fn made_over<U: With>(
    fleet: &Fleet,
    policy: &Family,
    with: U,
) -> Option<U::Output> {
    Some(match policy {
        Family::Pooled(policy) => with.with(policy.over(fleet)),
        Family::PooledEasy(policy) => with.with(policy.over(fleet)),
        Family::Guarded(policy) => with.with(policy.over(fleet)),
        Family::Partition(policy) => with.with(policy.over(fleet)),
        _ => return None,
    })
}

/// A rule over all servers of a fleet that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct PooledRule {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    make: fn() -> Family,
}

impl PooledRule {
    /// All of them.
    pub const ALL: &[PooledRule] = &[
        PooledRule {
            name: "fcfs",
            about: "first come, first served: stops at the first job that fits nowhere",
            make: || plain(Order::Fcfs, Placement::Best),
        },
        PooledRule {
            name: "first-fit",
            about: "scans the queue in order of arrival and starts each job that fits, on the first server",
            make: || plain(Order::Oldest, Placement::First),
        },
        PooledRule {
            name: "best-fit",
            about: "the same, on the server with the least room left",
            make: || plain(Order::Oldest, Placement::Best),
        },
        PooledRule {
            name: "most-servers-first",
            about: "the largest job that fits somewhere, by dominant share",
            make: || plain(Order::Largest, Placement::Best),
        },
        PooledRule {
            name: "least-servers-first",
            about: "the smallest job that fits somewhere, by dominant share",
            make: || plain(Order::Smallest, Placement::Best),
        },
        PooledRule {
            name: "easy-backfill",
            about: "EASY over all servers, by what is known of jobs",
            make: || PooledEasyPolicy { limits: true }.into(),
        },
        PooledRule {
            name: "easy-by-mean",
            about: "EASY over all servers, which takes each job to be as long as its type's mean",
            make: || PooledEasyPolicy { limits: false }.into(),
        },
    ];

    /// The rule of this name.
    pub fn named(name: &str) -> Option<&'static PooledRule> {
        PooledRule::ALL.iter().find(|rule| rule.name == name)
    }

    /// Its names, as a list in words.
    pub fn names() -> String {
        let names: Vec<&str> = PooledRule::ALL.iter().map(|rule| rule.name).collect();
        names.join(", ")
    }

    /// The rule as a policy.
    pub fn policy(&self) -> Family {
        (self.make)()
    }
}

fn plain(order: Order, placement: Placement) -> Family {
    PooledPolicy::plain(order, placement).into()
}

/// What a policy over a fleet knows of jobs.
pub fn knows_over(policy: &Family, fleet: &Fleet) -> Knows {
    match (policy.needs_limits(), fleet.envelope().known()) {
        (false, _) => Knows::Means,
        (true, Some(Known::Limit(_) | Known::TypeLimit)) => Knows::Estimates,
        (true, _) => Knows::Sizes,
    }
}
