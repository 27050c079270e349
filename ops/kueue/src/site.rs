//! Which node is which server, and what others use there.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::amounts::Amounts;
use crate::cluster::{Machine, Placed};
use crate::units::Resources;
use crate::view::Uid;
use synth_multiresource::workload::Fleet;
use synth_operator::Places;

/// The servers of a policy, in the order of its shapes.
pub struct Site {
    /// By server the name of its shape, and its node in a fleet.
    servers: Vec<(String, Option<Uid>)>,
    places: Places,
    by_node: HashMap<Uid, usize>,
    /// Nodes where nothing can be started, as they were last noted.
    closed: BTreeSet<Uid>,
    is_pooled: bool,
}

impl Site {
    /// Returns the servers of a fleet, without nodes.
    pub fn new(fleet: &Fleet) -> Self {
        let servers = fleet.shapes().iter().flat_map(|shape| {
            let server = (shape.name().to_owned(), None);
            std::iter::repeat_n(server, shape.count() as usize)
        });
        Site {
            servers: servers.collect(),
            places: Places::new(fleet),
            by_node: HashMap::new(),
            closed: BTreeSet::new(),
            is_pooled: fleet.is_one_server(),
        }
    }

    /// Checks that the nodes have what the policy's servers have.
    ///
    /// # Errors
    /// When there are fewer nodes of a shape, or less capacity on one server; says what to do.
    pub fn check(
        &mut self,
        machines: &HashMap<Uid, Machine>,
        resources: &Resources,
    ) -> Result<(), String> {
        let help = "make the policy for the nodes that are there, or let --nodes choose others";
        if self.is_pooled {
            let all = machines.values().map(|own| &own.capacity);
            let found = resources.units_within(&all.fold(Amounts::default(), Amounts::plus));
            let units = self.places.units(0);
            let pairs = resources.names().zip(found.iter().zip(units));
            let mut lacking = pairs.filter(|(_, (found, units))| found < units);
            return lacking.next().map_or(Ok(()), |((name, source), (found, units))| {
                Err(format!(
                    "all {} nodes together have {:.0} % of the policy's `{name}` ({source} in Kubernetes): {help}",
                    machines.len(),
                    100.0 * *found as f64 / *units as f64
                ))
            });
        }
        self.assign(machines, resources);
        let lacking = self.servers.iter().find(|own| own.1.is_none());
        lacking.map_or(Ok(()), |(shape, _)| {
            let alike = self.servers.iter().filter(|own| own.0 == *shape);
            Err(format!(
                "the policy has {} servers of the shape `{shape}`, and {} of {} nodes have as much as one: {help}",
                alike.clone().count(),
                alike.filter(|own| own.1.is_some()).count(),
                machines.len()
            ))
        })
    }

    /// Gives a node to each server that has none, the greatest shapes first: the first by name that has as much.
    fn assign(&mut self, machines: &HashMap<Uid, Machine>, resources: &Resources) {
        for (_, node) in &mut self.servers {
            *node = node.take().filter(|node| machines.contains_key(node));
        }
        let taken = self.servers.iter().filter_map(|own| own.1.as_deref());
        let taken: HashSet<&str> = taken.collect();
        let free = machines.iter().filter(|own| !taken.contains(&**own.0));
        let free = free.map(|(name, own)| (name, resources.units_within(&own.capacity)));
        let mut free: Vec<_> = free.collect();
        free.sort_unstable();
        let servers = self.servers.iter_mut().enumerate();
        let pairs = servers.map(|(n, own)| (own, self.places.units(n)));
        let mut open: Vec<_> = pairs.filter(|(own, _)| own.1.is_none()).collect();
        open.sort_by_key(|(_, units)| std::cmp::Reverse(*units));
        for ((_, node), units) in open {
            let holds = |found: &[u64]| units.iter().zip(found).all(|(own, found)| own <= found);
            if let Some(place) = free.iter().position(|(_, found)| holds(found)) {
                *node = Some(free.remove(place).0.clone());
            }
        }
        let nodes = self.servers.iter().enumerate();
        let nodes = nodes.filter_map(|(n, own)| Some((own.1.clone()?, n)));
        self.by_node = nodes.collect();
    }

    /// Returns the server that a node is.
    pub fn server(&self, node: &str) -> Option<usize> {
        self.by_node.get(node).copied()
    }

    /// Returns the nodes that these servers are.
    pub fn nodes(&self, servers: &[usize]) -> Vec<String> {
        let nodes = servers.iter().filter_map(|n| self.servers[*n].1.as_ref());
        nodes.map(ToString::to_string).collect()
    }

    /// Returns what is new of nodes where nothing can be started.
    pub fn closed(&mut self, machines: &HashMap<Uid, Machine>) -> Vec<String> {
        let is_server = |name: &Uid| self.is_pooled || self.by_node.contains_key(name);
        let closed = machines.iter().filter(|(_, own)| !own.is_open);
        let closed = closed.map(|(name, _)| name).filter(|own| is_server(own));
        let closed: BTreeSet<Uid> = closed.cloned().collect();
        let gone = closed.difference(&self.closed).map(|name| {
            format!("node {name} is not ready or takes no pods: nothing starts there, and what runs there goes on")
        });
        let back = self.closed.difference(&closed);
        let back = back.map(|name| format!("node {name} is back, or not there any more"));
        let notes = gone.chain(back).collect();
        self.closed = closed;
        notes
    }

    /// Says anew of each server what others use.
    pub fn forget(&mut self) {
        self.places.forget();
    }

    /// Returns the servers where this has changed, with what others use of each resource (R): pods that are not of the
    /// policy's jobs (`others`), and all of a node that is gone or takes no pods.
    pub fn occupied(
        &mut self,
        machines: &HashMap<Uid, Machine>,
        others: &[&Placed],
        resources: &Resources,
    ) -> Vec<(usize, Vec<f64>)> {
        if !self.is_pooled {
            self.assign(machines, resources);
        }
        let mut used: HashMap<&str, Amounts> = HashMap::new();
        for pod in others {
            let own = used.entry(&pod.node).or_default();
            *own = std::mem::take(own).plus(&pod.demand);
        }
        let free = |name: &str| -> Amounts {
            let machine = machines.get(name).filter(|own| own.is_open);
            let capacity = machine.map(|own| own.capacity.clone()).unwrap_or_default();
            capacity.less(used.get(name).unwrap_or(&Amounts::default()))
        };
        let add = |sum: Amounts, name: &Uid| sum.plus(&free(name));
        let left = self.servers.iter().map(|(_, node)| match self.is_pooled {
            true => machines.keys().fold(Amounts::default(), add),
            false => node.iter().fold(Amounts::default(), add),
        });
        self.places.others(resources, left)
    }
}
