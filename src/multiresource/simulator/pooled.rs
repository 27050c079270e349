use super::Simulation;
use super::contender::{Contender, Failure, With};
use super::measures::Run;
use super::rules::Rule;
use crate::document::nearest;
use crate::multiresource::artifact::{Family, Order, Placement, PooledEasyPolicy, PooledPolicy};
use crate::multiresource::policy::{FamilyRule, Policy};
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

/// Rules on the servers of a fleet: on one server all that are made for one, and over several those that pool them.
impl Contender {
    /// Returns the rule that a text names for such servers.
    ///
    /// # Errors
    /// What is wrong with the name, and which there are.
    pub fn named(text: &str, fleet: &Fleet) -> Result<Self, String> {
        if fleet.is_one_server() {
            return Contender::parse(text).map_err(|why| why.to_string());
        }
        let known = Rule::named(text).map_or(text, |rule| rule.name);
        let rule = PooledRule::ALL.iter().find(|rule| rule.name == known);
        rule.map(|rule| rule.policy().into()).ok_or_else(|| {
            let names: Vec<&str> = PooledRule::ALL.iter().map(|rule| rule.name).collect();
            let meant = nearest(text, &names).map_or(String::new(), |near| format!(" (`{near}`?)"));
            format!(
                "no rule `{text}`{meant} over the servers of a fleet; these are {}",
                names.join(", ")
            )
        })
    }

    /// Simulates it on a fleet; see [`simulate`](super::simulate).
    ///
    /// # Errors
    /// Where the rule cannot serve the fleet; and as [`simulate`](super::simulate).
    pub fn simulate_on(
        &self,
        fleet: &Fleet,
        settings: &Settings,
        mut progress: impl FnMut(Progress),
    ) -> Result<Run, Failure> {
        let mut simulation = self.begin_on(fleet, settings)?;
        Ok(simulation.run(settings, &mut progress)?)
    }

    /// Begins a simulation on a fleet.
    ///
    /// # Errors
    /// Where the rule cannot serve the fleet.
    pub fn begin_on<'w>(
        &self,
        fleet: &'w Fleet,
        settings: &Settings,
    ) -> Result<Simulation<'w>, Failure> {
        self.made_on(fleet, Begin { fleet, settings })
    }

    /// Makes the rule for a fleet, and hands it on.
    ///
    /// # Errors
    /// Where the rule cannot serve the fleet.
    pub(in crate::multiresource) fn made_on<U: With>(
        &self,
        fleet: &Fleet,
        with: U,
    ) -> Result<U::Output, Failure> {
        self.fits(fleet)?;
        match (self, fleet.one_server()) {
            (rule, Some(workload)) => {
                let made = rule.made(workload, with);
                made.map_err(|why| rule.unsuitable(why, workload))
            }
            (Contender::Policy(policy), None) => over_all(policy, fleet, with),
            (_, None) => Err(Failure::Servers(FOR_ONE)),
        }
    }

    /// Whether the rule can serve this fleet.
    ///
    /// # Errors
    /// Why not, and which rules can.
    pub fn fits(&self, fleet: &Fleet) -> Result<(), Failure> {
        let pools = matches!(self, Contender::Policy(policy) if policy.pools());
        match (pools, fleet.one_server()) {
            (true, Some(_)) => Err(Failure::Servers(FOR_SEVERAL)),
            (false, None) => Err(Failure::Servers(FOR_ONE)),
            (false, Some(workload)) => self.fit(workload),
            (true, None) => Ok(()),
        }
    }

    /// Returns what the rule knows of the jobs of this fleet.
    pub fn knows_of(&self, fleet: &Fleet) -> Knows {
        match (self, fleet.one_server()) {
            (Contender::Policy(policy), None) => knows_over(policy, fleet),
            _ => self.knows(fleet.envelope()),
        }
    }
}

/// Makes the rule of a policy that [pools](Family::pools) the servers, and hands it on.
fn over_all<U: With>(policy: &Family, fleet: &Fleet, with: U) -> Result<U::Output, Failure> {
    Ok(match policy {
        Family::Pooled(policy) => with.with(policy.over(fleet)),
        Family::PooledEasy(policy) => with.with(policy.over(fleet)),
        Family::Guarded(policy) => with.with(policy.over(fleet)),
        Family::Partition(policy) => with.with(policy.over(fleet)),
        _ => return Err(Failure::Servers(FOR_ONE)),
    })
}

const FOR_SEVERAL: &str = "the policy is for a fleet, and here is one server";
const FOR_ONE: &str = "the policy is for one server, and here is a fleet";

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

    /// The rule as a policy.
    pub fn policy(&self) -> Family {
        (self.make)()
    }
}

fn plain(order: Order, placement: Placement) -> Family {
    PooledPolicy::plain(order, placement).into()
}

/// What a policy over a fleet knows of jobs.
fn knows_over(policy: &Family, fleet: &Fleet) -> Knows {
    match (policy.needs_limits(), fleet.envelope().known()) {
        (false, _) => Knows::Means,
        (true, Some(Known::Limit(_) | Known::TypeLimit)) => Knows::Estimates,
        (true, _) => Knows::Sizes,
    }
}

/// Simulates a policy that pools the servers by the engine of several, also where there is one.
#[cfg(test)]
pub(super) fn simulated(policy: &Family, fleet: &Fleet, settings: &Settings) -> Run {
    struct OverAll<'w, 's>(&'w Fleet, &'s Settings);

    impl<'w> With for OverAll<'w, '_> {
        type Output = Simulation<'w>;

        fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output {
            Simulation::over_all(self.0, &policy, self.1)
        }
    }

    let simulation = over_all(policy, fleet, OverAll(fleet, settings));
    let run = simulation.and_then(|mut own| Ok(own.run(settings, &mut |_| ())?));
    run.expect("a policy over all servers")
}
