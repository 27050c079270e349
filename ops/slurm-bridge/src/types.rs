use std::path::Path;

use super::document::{Condition, TypesFile};
use super::resources::{UNCOUNTED, resources};
use synth_core::document::text_of;
use synth_core::number::format_number;
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::{Fleet, Shape};
use synth_operator::{Amounts, JobTypes, Nodes, Resources, prices};
use synth_slurm::commands::{NodeRow, QueueRow, expand};

/// Maps the jobs and nodes of a cluster to the types and servers of a policy.
///
/// The demand of a type must be at least as large as the demand of the job, so every schedule of
/// types is also feasible for the jobs. Among these types, the cheapest one is selected, using the
/// prices of the certificate, or the first one with a matching condition if a file contains
/// `types:`. If several types have the same demand, the one with the smallest `limit` that is at
/// least the time limit of the job is selected, or the one with the largest `limit` if all are
/// smaller. The type of a job on one node has one node. The type of a job on several nodes must
/// have at least as many nodes, and its demand must be sufficient on each of them.
#[derive(Clone, Debug)]
pub struct TypeMap {
    pub(super) resources: Resources,
    pub(super) nodes: Nodes,
    /// The capacity of each server in whole units (R).
    units: Vec<Vec<u64>>,
    types: JobTypes<Condition>,
    /// Whether all nodes are one server, so that the number of nodes of a job is ignored.
    pub(super) is_pooled: bool,
}

/// The reasons why a job has no type, which are printed after `because` or a colon.
pub(super) mod untyped {
    pub(crate) const ONE_SERVER: &str = "several nodes are requested, and the policy is for one server (generate one for a fleet, with `nodes:`)";
    pub(crate) const GANG: &str =
        "several nodes are requested, and no type has as many nodes with sufficient resources";
    pub(crate) const EXCLUSIVE: &str =
        "whole nodes are requested, and no type has all CPUs of a server";
    /// No type is large enough, or no condition in the file matches.
    pub(crate) const DEMAND: &str = "no type fits";
    pub(crate) const COMPONENT: &str = "components of heterogeneous jobs are not supported";
    pub(crate) const GRES: &str = "the amount of a generic resource is unknown before the start";
    /// If the policy is for a fleet, the nodes are chosen by the policy.
    pub(crate) const OWN_NODES: &str = "nodes or features are requested by name (-w, -C)";
}

impl TypeMap {
    /// Creates the mapping for a policy and the file of `--types`, if there is one.
    ///
    /// # Errors
    /// If the file is not valid, or a type, resource or server cannot be assigned.
    pub fn new(policy: &Checked, file: Option<&Path>) -> Result<Self, String> {
        let fleet = policy.workload();
        let written = match file {
            None => TypesFile::default(),
            Some(path) => {
                let name = path.display().to_string();
                let unread =
                    |why| format!("cannot read the types {name}: {why}: check the path of --types");
                let text = text_of(path).map_err(unread)?;
                TypesFile::parse(&text, &name, fleet).map_err(|why| why.to_string())?
            }
        };
        TypeMap::of(fleet, prices(policy), written)
    }

    /// The `prices` are per whole unit of each resource. The slice is empty if there are no prices.
    pub(super) fn of(fleet: &Fleet, prices: &[f64], written: TypesFile) -> Result<Self, String> {
        let shapes = fleet.shapes();
        if written.servers.is_none() && !fleet.is_one_server() {
            return Err(format!(
                "the policy is for a fleet, and its servers are not mapped to nodes: write `servers: {{{}: [n1, \"n[2-4]\"]}}` with {} nodes for this shape into a file, and pass it with --types",
                shapes[0].name(),
                shapes[0].count()
            ));
        }
        let named = |name: &str| written.resources.get(name).cloned();
        let resources = resources(fleet.envelope(), named)?;
        // If a resource is not counted by Slurm, it is not limited.
        let demands = fleet.types().iter().map(|job| {
            let pairs = resources.iter().zip(job.units());
            let counted = pairs.map(|(own, units)| u64::from(own.source != UNCOUNTED) * units);
            counted.collect()
        });
        let of_shape = |(h, shape): (usize, &Shape)| vec![fleet.units(h); shape.count() as usize];
        Ok(TypeMap {
            types: JobTypes::new(fleet, prices, demands.collect(), written.rules)?,
            nodes: Nodes::new(written.servers.unwrap_or_default()),
            units: shapes.iter().enumerate().flat_map(of_shape).collect(),
            resources,
            is_pooled: false,
        })
    }

    pub(super) fn find(&self, row: &QueueRow) -> Result<usize, &'static str> {
        if row.key.id.is_component() {
            return Err(untyped::COMPONENT);
        }
        let mut resources = self.resources.iter();
        if row.has_unknown_gres && resources.any(|own| own.source.starts_with("gres/")) {
            return Err(untyped::GRES);
        }
        let counts = match self.is_pooled {
            true => 1..=1,
            false => row.nodes..=row.most_nodes.min(self.types.most_nodes()),
        };
        for nodes in counts {
            if let Some(i) = self.on_nodes(row, nodes)? {
                return Ok(i);
            }
        }
        Err(match self.units.len() {
            _ if row.nodes == 1 || self.is_pooled => untyped::DEMAND,
            1 => untyped::ONE_SERVER,
            _ => untyped::GANG,
        })
    }

    fn on_nodes(&self, row: &QueueRow, nodes: u32) -> Result<Option<usize>, &'static str> {
        let mut units = match self.is_pooled {
            true => self.resources.units(&row.amounts),
            false => self.resources.units(&row.on_each(nodes)),
        };
        if row.is_exclusive {
            // If a job has all CPUs of a server, no other job can be started there.
            let cpus = self.resources.iter().position(|own| own.source == "cpu");
            let cpus = cpus.filter(|_| !self.is_pooled).ok_or(untyped::EXCLUSIVE)?;
            units[cpus] = self.units.iter().map(|own| own[cpus]).max().unwrap_or(0);
        }
        let limit = row.time_limit.map_or(f64::INFINITY, |s| s as f64);
        let is_met = |own: &Condition| own.is_met(row, limit);
        let found = self.types.find(&units, nodes, limit, is_met);
        match found {
            None if row.is_exclusive => Err(untyped::EXCLUSIVE),
            found => Ok(found),
        }
    }

    pub(super) fn servers_of(&self, row: &QueueRow) -> Option<Vec<usize>> {
        let nodes = expand(&row.node_list)?;
        nodes.iter().map(|node| self.nodes.server(node)).collect()
    }

    /// Checks that the nodes have the capacity of the servers of the policy.
    ///
    /// # Errors
    /// If a node is missing or is too small, or several nodes would be used as one server.
    pub fn check_nodes(&self, nodes: &[NodeRow]) -> Result<(), String> {
        let servers = self.nodes.of_servers();
        if servers.is_empty() {
            if nodes.is_empty() || nodes.len() > 1 && !self.is_pooled {
                return Err(format!(
                    "the policy is for one server, but the partition has {} nodes: generate a policy for a fleet (a workload with `servers:`), or treat all nodes as one server with --pool, but then a job may have to wait after it was started, because the free capacity can be on several nodes",
                    nodes.len()
                ));
            }
            let capacities = nodes.iter().map(|node| &node.capacity);
            let all = capacities.fold(Amounts::default(), Amounts::plus);
            let name = match nodes {
                [node] => node.name.clone(),
                _ => format!("all {} nodes together", nodes.len()),
            };
            return self.check_node(0, &name, &all);
        }
        for (server, name) in servers.iter().flatten().enumerate() {
            let node = nodes.iter().find(|node| node.name == *name);
            let node = node.ok_or_else(|| {
                format!("node `{name}` of `servers:` is not in the partition: `sinfo -N -p PARTITION` lists its nodes")
            })?;
            self.check_node(server, name, &node.capacity)?;
        }
        Ok(())
    }

    fn check_node(&self, server: usize, name: &str, capacity: &Amounts) -> Result<(), String> {
        let found = self.resources.units_within(capacity);
        for (j, own) in self.resources.iter().enumerate() {
            let amount = |units: u64| format_number(self.resources.amount(j, units));
            let (found, units) = (found[j], self.units[server][j]);
            if found < units && own.source != UNCOUNTED {
                return Err(format!(
                    "{name} has {} of `{}`, but the policy expects {}: generate the policy for the capacity of the node, or use --types to set the unit in which the policy counts (`resources: {{memory: mem:1000M}}`)",
                    amount(found),
                    own.name,
                    amount(units)
                ));
            }
        }
        Ok(())
    }
}
