//! Which node is which server.

use std::collections::HashMap;

use super::resources::Resources;
use synth_cluster::workload::{Fleet, Shape};
use synth_slurm::commands::{Amounts, Node};

/// The servers of a policy, in the order of its shapes, those of one shape in that of its nodes.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    /// By server its node; none where all nodes are one server.
    nodes: Vec<String>,
    places: HashMap<String, usize>,
    /// By server its shape.
    shapes: Vec<usize>,
    all: Vec<ServerShape>,
}

/// A shape of servers.
#[derive(Clone, Debug)]
pub(super) struct ServerShape {
    /// Capacity in whole units (R).
    pub units: Vec<u64>,
    /// The same as it is written.
    pub capacity: Vec<f64>,
}

impl Servers {
    pub fn new(fleet: &Fleet, written: Option<Vec<Vec<String>>>) -> Result<Self, String> {
        let shapes = fleet.shapes();
        if written.is_none() && !fleet.is_one_server() {
            return Err(format!(
                "the policy is of a fleet, and no file says which nodes are its servers: write `servers: {{{}: [n1, \"n[2-4]\"]}}` with {} nodes for this shape, and name the file by --types",
                shapes[0].name(),
                shapes[0].count()
            ));
        }
        let nodes: Vec<String> = written.into_iter().flatten().flatten().collect();
        let of_shape = |(h, shape): (usize, &Shape)| vec![h; shape.count() as usize];
        let all = |(h, shape): (usize, &Shape)| ServerShape {
            units: fleet.units(h),
            capacity: shape.capacity().iter().map(|c| c.value()).collect(),
        };
        Ok(Servers {
            places: nodes.iter().cloned().zip(0..).collect(),
            nodes,
            shapes: shapes.iter().enumerate().flat_map(of_shape).collect(),
            all: shapes.iter().enumerate().map(all).collect(),
        })
    }

    /// Returns how many servers there are.
    pub fn count(&self) -> usize {
        self.shapes.len()
    }

    /// Returns the shape of a server.
    pub fn shape(&self, server: usize) -> &ServerShape {
        &self.all[self.shapes[server]]
    }

    /// Returns the most whole units of resource j that a server has.
    pub fn most(&self, j: usize) -> u64 {
        self.all
            .iter()
            .map(|shape| shape.units[j])
            .max()
            .unwrap_or(0)
    }

    /// Returns the server that a node is, counted over the shapes in their order; `None` where it is none. Where no
    /// file says it, all nodes are the one server.
    pub fn of_node(&self, node: &str) -> Option<usize> {
        if self.nodes.is_empty() {
            Some(0)
        } else {
            self.places.get(node).copied()
        }
    }

    /// Returns the node that a server is; `None` where all nodes are one server.
    pub fn node(&self, server: usize) -> Option<&str> {
        self.nodes.get(server).map(String::as_str)
    }

    /// Checks that every node has what its server has.
    pub fn check(
        &self,
        nodes: &[Node],
        is_pooled: bool,
        resources: &Resources,
    ) -> Result<(), String> {
        if self.nodes.is_empty() {
            if nodes.is_empty() || nodes.len() > 1 && !is_pooled {
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
            return self.check_node(0, &name, &all, resources);
        }
        for (server, name) in self.nodes.iter().enumerate() {
            let node = nodes.iter().find(|node| node.name == *name);
            let node = node.ok_or_else(|| {
                format!("node `{name}` of `servers:` is not in the partition: `sinfo -N -p PARTITION` lists those that are")
            })?;
            self.check_node(server, name, &node.capacity, resources)?;
        }
        Ok(())
    }

    fn check_node(
        &self,
        server: usize,
        name: &str,
        capacity: &Amounts,
        resources: &Resources,
    ) -> Result<(), String> {
        let units = &self.shape(server).units;
        let found = resources.units_within(capacity);
        let names = resources.names().map(|(name, _)| name);
        for (j, resource) in names.enumerate() {
            if found[j] < units[j] && resources.is_counted(j) {
                return Err(format!(
                    "{name} has {} of `{resource}`, and the policy counts on {}: make the policy for what the node has, or say by --types in which unit the policy counts (`resources: {{memory: mem:1000M}}`)",
                    resources.amount(j, found[j]),
                    resources.amount(j, units[j])
                ));
            }
        }
        Ok(())
    }
}
