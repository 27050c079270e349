use std::sync::Arc;

use super::SlurmPolicy;
use super::facts::Facts;
use crate::configuration::{SiteNode, SitePartition, SlurmSite};
use itertools::Itertools as _;
use synth_core::number::Decimal;
use synth_multiresource::policy::{Information, Policy, Priority, Unsuitable};
use synth_multiresource::simulator::ExternalRule;
use synth_multiresource::workload::{self, Fleet, SizeInformation};
use synth_traces::trace::{ServerShape, Servers};

impl SlurmSite {
    /// Returns the default site with one partition of all servers and FCFS with backfilling.
    pub fn single_partition(fleet: &Fleet) -> Self {
        let node = |n: usize| SiteNode {
            name: format!("n{}", n + 1),
            ..SiteNode::default()
        };
        let count = fleet.servers();
        SlurmSite {
            nodes: (0..count).map(node).collect(),
            partitions: vec![SitePartition {
                name: "all".into(),
                nodes: (0..count).collect(),
                is_default: true,
                ..SitePartition::default()
            }],
            ..SlurmSite::default()
        }
    }

    /// Returns the nodes as servers, grouped by capacity, and the server index of each node.
    pub fn servers(&self) -> (Servers, Vec<usize>) {
        let amounts = self.nodes.iter().flat_map(|node| &node.capacity.0);
        let names = amounts.filter_map(|(name, _)| match name.as_str() {
            "mem" => self.scheduler.counts_memory.then_some("memory"),
            name => Some(name),
        });
        let names = std::iter::once("cpu").chain(names).unique();
        let resources: Vec<String> = names.map(str::to_owned).collect();
        let decimal = |amount: f64| Decimal::new(amount).unwrap_or(Decimal::ZERO);
        let capacity = |node: &SiteNode| -> Vec<Decimal> {
            let amounts = resources.iter().map(|name| decimal(node.amount(name)));
            amounts.collect()
        };
        let capacities: Vec<Vec<Decimal>> = self.nodes.iter().map(capacity).collect();
        let shapes = ServerShape::group(capacities.iter().cloned());
        let of_node = |n: &usize| shapes.iter().position(|own| own.capacity == capacities[*n]);
        let mut servers = vec![0; capacities.len()];
        let in_order = (0..capacities.len()).sorted_by_cached_key(of_node);
        for (server, n) in in_order.enumerate() {
            servers[n] = server;
        }
        (Servers::new(resources, shapes), servers)
    }
}

/// The rule `slurm` for a site or for the servers of a fleet.
#[derive(Clone, Debug, Default)]
pub struct SlurmRule {
    /// The site and the facts of each job, or `None` to use [`SlurmSite::single_partition`].
    pub at: Option<(Arc<SlurmSite>, Arc<[Facts]>)>,
    /// The order of the jobs, if their site factors are set by a submit script.
    pub order: Option<Priority>,
    /// The time of day at time 0 \[s\], because plans use multiples of `bf_resolution`.
    pub clock: f64,
    /// The length of a second in the time unit of the rule, if it is not that of the workload.
    pub second: Option<f64>,
}

impl SlurmRule {
    const NAME: &'static str = "slurm";

    /// Returns the rule `slurm`, or `slurm+saf` with an order (an error if there is no such order),
    /// or `None` for other names.
    pub fn named(text: &str) -> Option<Result<Self, String>> {
        let order = text.strip_prefix(SlurmRule::NAME)?;
        if order.is_empty() {
            return Some(Ok(SlurmRule::default()));
        }
        let order = order.strip_prefix('+')?;
        let orders = || Priority::NAMED.iter().filter(|(name, _)| *name != "fcfs");
        let found = orders().find(|(name, _)| *name == order);
        Some(match found {
            Some((_, priority)) => Ok(SlurmRule {
                order: Some(*priority),
                ..SlurmRule::default()
            }),
            None => Err(format!(
                "`{order}` is not an order that can be used with slurm: use slurm, or slurm+ followed by one of {}",
                orders().map(|(name, _)| *name).join(", ")
            )),
        })
    }
}

impl ExternalRule for SlurmRule {
    fn name(&self) -> &'static str {
        SlurmRule::NAME
    }

    fn information(&self, fleet: &Fleet) -> Information {
        match fleet.envelope().size_information() {
            Some(SizeInformation::Limit(_) | SizeInformation::TypeLimit) => Information::Estimates,
            _ => Information::Sizes,
        }
    }

    fn rule(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        Ok(Box::new(self.on(fleet)))
    }
}

impl SlurmRule {
    /// Creates the rule for the servers of a fleet.
    pub(super) fn on(&self, fleet: &Fleet) -> SlurmPolicy {
        let plain = || (Arc::new(SlurmSite::single_partition(fleet)), Arc::default());
        let at = self.at.clone().unwrap_or_else(plain);
        let servers = match &self.at {
            Some((site, _)) => in_fleet(site, fleet),
            None => (0..fleet.servers()).map(Some).collect(),
        };
        SlurmPolicy::new(self, at, fleet, &servers)
    }
}

/// Returns the server of each node, or `None` if the node cannot be used by any job.
fn in_fleet(site: &SlurmSite, fleet: &Fleet) -> Vec<Option<usize>> {
    let (servers, places) = site.servers();
    let resources = fleet.envelope().resources();
    let has = |shape: &workload::Shape, name: &str| {
        let place = resources.iter().position(|own| own.name() == name);
        place.map_or(Decimal::ZERO, |j| shape.capacity()[j])
    };
    // The order of shapes and resources can be different in the fleet.
    let mut next = 0;
    let first = |shape| {
        let first = next;
        next += workload::Shape::count(shape) as usize;
        (first, shape)
    };
    let own: Vec<_> = fleet.shapes().iter().map(first).collect();
    let mut numbers = Vec::new();
    for shape in &servers.shapes {
        let amounts = || servers.resources.iter().zip(&shape.capacity);
        let is_it = |other| amounts().all(|(name, amount)| has(other, name) == *amount);
        let found = own.iter().find(|(_, other)| is_it(other));
        let of_shape = (0..shape.count as usize).map(|n| Some(found?.0 + n));
        numbers.extend(of_shape);
    }
    places.into_iter().map(|server| numbers[server]).collect()
}
