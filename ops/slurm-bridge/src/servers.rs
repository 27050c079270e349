//! Which node is which server.

use std::collections::HashMap;

use synth_multiresource::workload::{Fleet, Shape};

/// The servers of a policy, in the order of its shapes, those of one shape in that of its nodes.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    /// By server its node; none where all nodes are one server.
    pub nodes: Vec<String>,
    places: HashMap<String, usize>,
    /// By server its capacity in whole units (R).
    pub units: Vec<Vec<u64>>,
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
}
