//! Which node is which server.

use std::collections::HashMap;

use super::TypesError;
use super::resources::Resources;
use crate::multiresource::workload::{Fleet, Shape};
use crate::slurm::{Amounts, Node};

/// The servers of a policy, in the order of its shapes, those of one shape in that of its nodes.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    /// By server its node; none where all nodes are one server.
    nodes: Vec<String>,
    places: HashMap<String, usize>,
    /// By server its shape, by shape its name and its capacity in whole units (R).
    shapes: Vec<usize>,
    wanted: Vec<(String, Vec<u64>)>,
}

impl Servers {
    pub fn new(fleet: &Fleet, said: Option<Vec<Vec<String>>>) -> Result<Self, TypesError> {
        let shapes = fleet.shapes();
        let said = match said {
            Some(said) => said,
            None if fleet.is_one_server() => Vec::new(),
            None => {
                return Err(TypesError::NoServers {
                    shape: shapes[0].name().into(),
                    count: shapes[0].count(),
                });
            }
        };
        let wanted = |(h, shape): (usize, &Shape)| (shape.name().to_owned(), fleet.units(h));
        let of_shape = said
            .iter()
            .enumerate()
            .flat_map(|(h, nodes)| vec![h; nodes.len()]);
        let shapes_of: Vec<usize> = of_shape.collect();
        let nodes: Vec<String> = said.into_iter().flatten().collect();
        let places = nodes
            .iter()
            .cloned()
            .enumerate()
            .map(|(place, node)| (node, place));
        Ok(Servers {
            places: places.collect(),
            nodes,
            shapes: shapes_of,
            wanted: shapes.iter().enumerate().map(wanted).collect(),
        })
    }

    pub fn of_node(&self, node: &str) -> Option<usize> {
        match self.nodes.is_empty() {
            true => Some(0),
            false => self.places.get(node).copied(),
        }
    }

    pub fn node(&self, server: usize) -> Option<&str> {
        self.nodes.get(server).map(String::as_str)
    }

    /// Whether every node has what its server has.
    pub fn check(
        &self,
        nodes: &[Node],
        is_pooled: bool,
        resources: &Resources,
    ) -> Result<(), TypesError> {
        if self.nodes.is_empty() {
            let [node] = nodes else {
                return match is_pooled && !nodes.is_empty() {
                    true => self.check_pool(nodes, resources),
                    false => Err(TypesError::Nodes { nodes: nodes.len() }),
                };
            };
            return self.check_node(0, &node.name, &node.capacity, resources);
        }
        for (name, shape) in self.nodes.iter().zip(&self.shapes) {
            let node = nodes.iter().find(|node| node.name == *name);
            let node = node.ok_or_else(|| TypesError::NoNode { node: name.clone() })?;
            self.check_node(*shape, name, &node.capacity, resources)?;
        }
        Ok(())
    }

    fn check_pool(&self, nodes: &[Node], resources: &Resources) -> Result<(), TypesError> {
        let capacities = nodes.iter().map(|node| &node.capacity);
        let all = capacities.fold(Amounts::default(), Amounts::plus);
        let name = format!("all {} nodes together", nodes.len());
        self.check_node(0, &name, &all, resources)
    }

    fn check_node(
        &self,
        shape: usize,
        name: &str,
        capacity: &Amounts,
        resources: &Resources,
    ) -> Result<(), TypesError> {
        let (_, wanted) = &self.wanted[shape];
        let found = resources.units_within(capacity);
        let names = resources.names().map(|(name, _)| name);
        for (j, resource) in names.enumerate() {
            if found[j] < wanted[j] && resources.is_counted(j) {
                return Err(TypesError::Capacity {
                    node: name.to_owned(),
                    resource: resource.to_owned(),
                    found: resources.told(j, found[j]),
                    wanted: resources.told(j, wanted[j]),
                });
            }
        }
        Ok(())
    }
}
