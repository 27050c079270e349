//! The nodes of a site as the servers of a fleet.

use std::sync::Arc;

use super::Slurm;
use super::jobs::{Facts, Jobs};
use crate::configuration::{Node, Partition, Site};
use itertools::Itertools as _;
use synth_cluster::policy::{Knows, Policy, Priority, Unsuitable};
use synth_cluster::simulator::OtherRule;
use synth_cluster::workload::{self, Fleet, Known};
use synth_core::number::Decimal;
use synth_trace::trace::{Servers, Shape};

/// MiB in a GiB, in which logs tell memory.
const GIB: f64 = 1024.0;

impl Site {
    /// Returns the site of a fleet of which nothing else is known: one partition with all servers, first come first served
    /// with backfilling.
    pub fn plain(fleet: &Fleet) -> Self {
        let node = |n: usize| Node {
            name: format!("n{}", n + 1),
            weight: 1,
            is_up: true,
            ..Node::default()
        };
        let count = fleet.servers();
        Site {
            nodes: (0..count).map(node).collect(),
            partitions: vec![Partition {
                name: "all".into(),
                nodes: (0..count).collect(),
                is_default: true,
                ..Partition::default()
            }],
            ..Site::default()
        }
    }

    /// Returns the nodes as servers, those that have the same together, and by node which server it is.
    pub fn servers(&self) -> (Servers, Vec<usize>) {
        let mut gres: Vec<&str> = Vec::new();
        for (name, _) in self.nodes.iter().flat_map(|node| &node.has.gres) {
            if !gres.contains(&name.as_str()) {
                gres.push(name);
            }
        }
        let knows_memory =
            self.scheduler.counts_memory && self.nodes.iter().any(|node| node.has.memory.is_some());
        let capacity = |node: &Node| {
            let has = &node.has;
            let decimal = |amount: f64| Decimal::new(amount).unwrap_or(Decimal::ZERO);
            let memory = has.memory.unwrap_or(0) as f64 / GIB;
            let of = |name: &&str| {
                let own = has.gres.iter().filter(|(own, _)| own == name);
                decimal(own.map(|(_, count)| *count as f64).sum())
            };
            let mut amounts = vec![decimal(has.cpus.unwrap_or(0) as f64)];
            amounts.extend(knows_memory.then(|| decimal(memory)));
            amounts.extend(gres.iter().map(of));
            amounts
        };
        let mut shapes: Vec<(Shape, Vec<usize>)> = Vec::new();
        for (n, node) in self.nodes.iter().enumerate() {
            let capacity = capacity(node);
            match shapes
                .iter_mut()
                .find(|(shape, _)| shape.capacity == capacity)
            {
                Some((shape, nodes)) => {
                    shape.count += 1;
                    nodes.push(n);
                }
                None => shapes.push((Shape { count: 1, capacity }, vec![n])),
            }
        }
        let mut servers = vec![0; self.nodes.len()];
        let in_order = shapes.iter().flat_map(|(_, nodes)| nodes);
        for (server, node) in in_order.enumerate() {
            servers[*node] = server;
        }
        let mut resources = vec!["cpu".to_owned()];
        resources.extend(knows_memory.then(|| "memory".to_owned()));
        resources.extend(gres.into_iter().map(str::to_owned));
        let shapes = shapes.into_iter().map(|(shape, _)| shape).collect();
        (Servers::new(resources, shapes), servers)
    }
}

/// The rule by its name, for a site or for plain servers.
#[derive(Clone, Debug, Default)]
pub struct SlurmRule {
    /// The site and the facts of the jobs that come; without it one partition has all.
    pub at: Option<(Arc<Site>, Arc<[Facts]>)>,
    /// The order that a submit script gives jobs by their site factor.
    pub order: Option<Priority>,
    /// What a clock shows at time 0 \[s\]: plans are made in whole steps of that.
    pub clock: f64,
    /// How long a second is in the rule's time, where that is not the workload's unit.
    pub second: Option<f64>,
}

impl SlurmRule {
    const NAME: &'static str = "slurm";

    /// Returns the rule that `slurm` names, or `slurm+saf` with the order of a submit script; `None` where another one is
    /// named.
    ///
    /// # Errors
    /// Where there is no such order: which there are.
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
                "there is no order `{order}` of slurm: write slurm, or slurm+ and one of {}",
                orders().map(|(name, _)| *name).join(", ")
            )),
        })
    }
}

impl OtherRule for SlurmRule {
    fn name(&self) -> &'static str {
        SlurmRule::NAME
    }

    fn knows(&self, fleet: &Fleet) -> Knows {
        match fleet.envelope().known() {
            Some(Known::Limit(_) | Known::TypeLimit) => Knows::Estimates,
            _ => Knows::Sizes,
        }
    }

    fn rule(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        let by_sizes = self.knows(fleet) == Knows::Sizes;
        let (site, jobs, servers) = match &self.at {
            Some((site, facts)) => {
                let servers = in_fleet(site, fleet);
                (site.clone(), Jobs::ByNumber(facts.clone()), servers)
            }
            None => {
                let site = Arc::new(Site::plain(fleet));
                let facts = vec![Facts::default(); fleet.types().len()];
                let servers = (0..fleet.servers()).map(Some).collect();
                (site, Jobs::ByType(facts.into()), servers)
            }
        };
        let rule = Slurm::new(site, jobs, fleet, &servers, by_sizes);
        Ok(Box::new(rule.with(self.order, self.clock, self.second)))
    }
}

/// Returns which server of a fleet each node of a site is; none of nodes that no job can use, which a fleet leaves out.
fn in_fleet(site: &Site, fleet: &Fleet) -> Vec<Option<usize>> {
    let (servers, places) = site.servers();
    let resources = fleet.envelope().resources();
    let has = |shape: &workload::Shape, name: &str| {
        let place = resources.iter().position(|own| own.name() == name);
        place.map_or(Decimal::ZERO, |j| shape.capacity()[j])
    };
    // A fleet puts shapes and resources in an order of its own.
    let mut next = 0;
    let shapes = fleet.shapes().iter().map(|shape| {
        next += shape.count() as usize;
        (next - shape.count() as usize, shape)
    });
    let own: Vec<_> = shapes.collect();
    let mut numbers = Vec::new();
    for shape in &servers.shapes {
        let amounts = || servers.resources.iter().zip(&shape.capacity);
        let is_it = |other| amounts().all(|(name, amount)| has(other, name) == *amount);
        let found = own.iter().find(|(_, other)| is_it(other));
        for n in 0..shape.count as usize {
            numbers.push(found.map(|(first, _)| first + n));
        }
    }
    places.into_iter().map(|server| numbers[server]).collect()
}
