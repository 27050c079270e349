//! Which type a job belongs to.

use std::path::Path;

use super::document::{Condition, TypesFile};
use super::resources::{UNCOUNTED, resources};
use synth_core::document::text_of;
use synth_core::number::shown;
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::{Fleet, Shape};
use synth_operator::{Amounts, JobTypes, Nodes, Resources, prices};
use synth_slurm::commands::{NodeRow, QueueRow, expand};

/// The jobs and nodes of a cluster as a policy counts them.
///
/// A job belongs to the cheapest type, by the prices of the policy's certificate, that holds at least what the job has
/// of each resource, so that every schedule of types is one of jobs; or to the first type of a file of which it meets
/// a condition, if that type holds it. Of types with one demand it belongs to the one of the least `limit` that is not
/// below its time limit, or of the largest. A job on one node has a type of one node; a gang, which takes several at once,
/// one of at least as many, that holds at least what the job has on each.
#[derive(Clone, Debug)]
pub struct TypeMap {
    pub(super) resources: Resources,
    pub(super) nodes: Nodes,
    /// By server its capacity in whole units (R).
    units: Vec<Vec<u64>>,
    types: JobTypes<Condition>,
    /// All nodes are one server, so that on how many a job runs does not count.
    pub(super) is_pooled: bool,
}

/// Why a job has no type, in words that follow a number of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Untyped(pub &'static str);

impl Untyped {
    /// It takes several nodes, and the policy is of one server.
    pub(crate) const ONE_SERVER: Self = Untyped(
        "of several nodes (the policy is of one server: make one of a fleet, with `nodes:`)",
    );
    /// It takes several nodes, and no type has as many with what it needs on each.
    pub(crate) const GANG: Self =
        Untyped("of several nodes (no type has as many nodes with what they need on each)");
    /// It has all of its nodes, and no type has all CPUs of a server.
    pub(crate) const EXCLUSIVE: Self =
        Untyped("with whole nodes (no type has all CPUs of a server)");
    /// No type holds it, or none that the file names is its own.
    pub(crate) const DEMAND: Self = Untyped("that no type holds");
    /// It is one of several that start together with demands of their own.
    pub(crate) const COMPONENT: Self = Untyped("of heterogeneous jobs");
    /// Its generic resources are not known before it starts.
    pub(crate) const GRES: Self =
        Untyped("with generic resources that are not known before they start");
    /// It names its nodes or their features, and in a fleet the policy chooses them.
    pub(crate) const OWN_NODES: Self = Untyped("that name their nodes or features (-w, -C)");
}

impl TypeMap {
    /// For a policy, and a file that says more (`--types`).
    ///
    /// # Errors
    /// When the file cannot be read or has faults, when it is not known what Slurm calls a resource or which nodes are the
    /// servers of a fleet, or when demand alone does not tell types apart.
    pub fn new(policy: &Checked, file: Option<&Path>) -> Result<Self, String> {
        let fleet = policy.workload();
        let written = match file {
            None => TypesFile::default(),
            Some(path) => {
                let name = path.display().to_string();
                let unread = |why| {
                    format!(
                        "cannot read the types {name}: {why}: check the path that --types names"
                    )
                };
                let text = text_of(path).map_err(unread)?;
                TypesFile::parse(&text, &name, fleet).map_err(|why| why.to_string())?
            }
        };
        TypeMap::of(fleet, prices(policy), written)
    }

    /// Returns the same for a fleet, with prices of whole units of its resources, or none.
    pub(super) fn of(fleet: &Fleet, prices: &[f64], written: TypesFile) -> Result<Self, String> {
        let shapes = fleet.shapes();
        if written.servers.is_none() && !fleet.is_one_server() {
            return Err(format!(
                "the policy is of a fleet, and no file says which nodes are its servers: write `servers: {{{}: [n1, \"n[2-4]\"]}}` with {} nodes for this shape, and name the file by --types",
                shapes[0].name(),
                shapes[0].count()
            ));
        }
        let named = |name: &str| written.resources.get(name).cloned();
        let resources = resources(fleet.envelope(), named)?;
        // What Slurm does not count, every job may have.
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

    /// Returns the type of a job, or why it has none.
    pub(super) fn find(&self, row: &QueueRow) -> Result<usize, Untyped> {
        if row.key.id.is_component() {
            return Err(Untyped::COMPONENT);
        }
        let mut resources = self.resources.iter();
        if row.has_unknown_gres && resources.any(|own| own.source.starts_with("gres/")) {
            return Err(Untyped::GRES);
        }
        let counted = match self.is_pooled {
            true => 1..=1,
            false => row.nodes..=row.most_nodes.min(self.types.most_nodes()),
        };
        let mut found = counted.map(|nodes| self.on_nodes(row, nodes));
        found
            .find_map(Result::transpose)
            .unwrap_or(Err(if row.nodes == 1 || self.is_pooled {
                Untyped::DEMAND
            } else if self.units.len() == 1 {
                Untyped::ONE_SERVER
            } else {
                Untyped::GANG
            }))
    }

    /// Returns the type of a job that runs on so many nodes, if there is one.
    fn on_nodes(&self, row: &QueueRow, nodes: u32) -> Result<Option<usize>, Untyped> {
        let mut units = match self.is_pooled {
            true => self.resources.units(&row.amounts),
            false => self.resources.units(&row.on_each(nodes)),
        };
        if row.is_exclusive {
            // All of what a server has: without CPUs nothing else starts there.
            let cpus = self.resources.iter().position(|own| own.source == "cpu");
            let cpus = cpus.filter(|_| !self.is_pooled).ok_or(Untyped::EXCLUSIVE)?;
            units[cpus] = self.units.iter().map(|own| own[cpus]).max().unwrap_or(0);
        }
        let limit = row.time_limit.map_or(f64::INFINITY, |s| s as f64);
        let is_met = |own: &Condition| own.is_met(row, limit);
        let found = self.types.find(&units, nodes, limit, is_met);
        match found {
            None if row.is_exclusive => Err(Untyped::EXCLUSIVE),
            found => Ok(found),
        }
    }

    /// Returns on which servers a running job is; `None` where one of its nodes is none of them.
    pub(super) fn servers_of(&self, row: &QueueRow) -> Option<Vec<usize>> {
        let nodes = expand(&row.node_list)?;
        nodes.iter().map(|node| self.nodes.server(node)).collect()
    }

    /// Checks that the nodes of the partition have what the policy's servers have.
    ///
    /// # Errors
    /// When a node is missing or has less, or when there are several for one server; says what to do.
    pub fn check_nodes(&self, nodes: &[NodeRow]) -> Result<(), String> {
        let servers = self.nodes.of_servers();
        if servers.is_empty() {
            if nodes.is_empty() || nodes.len() > 1 && !self.is_pooled {
                return Err(format!(
                    "the policy is of one server, and the partition has {} nodes: make a policy of a fleet, whose document has `servers:`, or take all nodes for one server with --pool: then jobs may wait though the policy starts them, since what is free lies on several nodes",
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
                format!("node `{name}` of `servers:` is not in the partition: `sinfo -N -p PARTITION` lists those that are")
            })?;
            self.check_node(server, name, &node.capacity)?;
        }
        Ok(())
    }

    fn check_node(&self, server: usize, name: &str, capacity: &Amounts) -> Result<(), String> {
        let found = self.resources.units_within(capacity);
        for (j, own) in self.resources.iter().enumerate() {
            let amount = |units: u64| shown(self.resources.amount(j, units));
            let (found, units) = (found[j], self.units[server][j]);
            if found < units && own.source != UNCOUNTED {
                return Err(format!(
                    "{name} has {} of `{}`, and the policy counts on {}: make the policy for what the node has, or say by --types in which unit the policy counts (`resources: {{memory: mem:1000M}}`)",
                    amount(found),
                    own.name,
                    amount(units)
                ));
            }
        }
        Ok(())
    }
}
