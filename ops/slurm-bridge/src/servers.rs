//! Which node is which server.

use std::collections::HashMap;

use super::resources::{Resources, Source};
use synth_core::number::shown;
use synth_multiresource::workload::{Fleet, Shape};
use synth_slurm::commands::{Amounts, NodeRow};

/// The servers of a policy, in the order of its shapes, those of one shape in that of its nodes.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    /// By server its node; none where all nodes are one server.
    nodes: Vec<String>,
    places: HashMap<String, usize>,
    /// By server its capacity in whole units (R).
    units: Vec<Vec<u64>>,
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
        let of_shape = |(h, shape): (usize, &Shape)| vec![fleet.units(h); shape.count() as usize];
        Ok(Servers {
            places: nodes.iter().cloned().zip(0..).collect(),
            nodes,
            units: shapes.iter().enumerate().flat_map(of_shape).collect(),
        })
    }

    /// Returns how many servers there are.
    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// Returns the most whole units of resource j that a server has.
    pub fn most(&self, j: usize) -> u64 {
        self.units.iter().map(|own| own[j]).max().unwrap_or(0)
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
        nodes: &[NodeRow],
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
        let found = resources.units_within(capacity);
        let amount = |j: usize, units: u64| shown(resources.amount(j, units));
        for (j, (name_of, source)) in resources.names().enumerate() {
            let (found, units) = (found[j], self.units[server][j]);
            if found < units && *source != Source::Nothing {
                return Err(format!(
                    "{name} has {} of `{name_of}`, and the policy counts on {}: make the policy for what the node has, or say by --types in which unit the policy counts (`resources: {{memory: mem:1000M}}`)",
                    amount(j, found),
                    amount(j, units)
                ));
            }
        }
        Ok(())
    }
}
