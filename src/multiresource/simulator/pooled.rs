use super::Simulation;
use super::contender::With;
use super::measures::Run;
use crate::multiresource::artifact::{Family, Order, Placement, PooledEasyPolicy, PooledPolicy};
use crate::multiresource::policy::{FamilyRule, Policy, Violation};
use crate::multiresource::workload::{Fleet, Known};
use crate::simulation::sweep::Knows;
use crate::simulation::{Progress, Settings};

/// Tells what was measured by what the envelope has of each resource of what all servers have.
pub(super) fn of_all_servers(run: &mut Run, fleet: &Fleet) {
    let own = &mut run.own;
    let resources = fleet.envelope().resources().iter().enumerate();
    for ((j, resource), all) in resources.zip(fleet.capacity()) {
        let units = |h: usize| f64::from(fleet.shapes()[h].count()) * fleet.units(h)[j] as f64;
        let units: f64 = (0..fleet.shapes().len()).map(units).sum();
        if let Some(used) = own.utilization.get_mut(j) {
            *used *= resource.capacity().value() / all;
        }
        if let Some(wasted) = own.wastage.get_mut(j).filter(|_| units > 0.0) {
            *wasted *= resource.units() as f64 / units;
        }
    }
}

/// Simulates a policy that [pools](Family::pools) the servers, which has been checked against the fleet.
///
/// # Errors
/// As [`super::simulate`].
pub fn simulate_over(
    fleet: &Fleet,
    policy: &Family,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    begin_over(fleet, policy, settings)?.run(settings, &mut progress)
}

/// Begins such a simulation.
///
/// # Errors
/// Where the policy is one of a single server.
pub fn begin_over<'w>(
    fleet: &'w Fleet,
    policy: &Family,
    settings: &Settings,
) -> Result<Simulation<'w>, Violation> {
    made_over(fleet, policy, Begin { fleet, settings }).ok_or(Violation::Nowhere(0))
}

struct Begin<'w, 's> {
    fleet: &'w Fleet,
    settings: &'s Settings,
}

impl<'w> With for Begin<'w, '_> {
    type Output = Simulation<'w>;

    fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output {
        Simulation::on_fleet(self.fleet, &policy, self.settings)
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
