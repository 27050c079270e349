//! Which node is which server, and what others use there.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::amounts::Amounts;
use crate::cluster::{Machine, Placed};
use crate::units::Resources;
use crate::view::Uid;
use synth_cluster::workload::{Fleet, Shape};

/// The servers of a policy, in the order of its shapes.
pub struct Site {
    shapes: Vec<ServerShape>,
    /// By server its shape, its node in a fleet, and the whole units that others were last said to use.
    servers: Vec<Server>,
    by_node: HashMap<Uid, usize>,
    /// Nodes where nothing can be started, as they were last noted.
    closed: BTreeSet<Uid>,
    is_pooled: bool,
}

struct ServerShape {
    name: String,
    count: usize,
    /// Capacity in whole units (R), and as it is written.
    units: Vec<u64>,
    capacity: Vec<f64>,
}

struct Server {
    shape: usize,
    node: Option<Uid>,
    used: Vec<u64>,
}

impl Site {
    /// Returns the servers of a fleet, without nodes.
    pub fn new(fleet: &Fleet) -> Self {
        let of = |(h, shape): (usize, &Shape)| ServerShape {
            name: shape.name().into(),
            count: shape.count() as usize,
            units: fleet.units(h),
            capacity: shape.capacity().iter().map(|own| own.value()).collect(),
        };
        let shapes: Vec<ServerShape> = fleet.shapes().iter().enumerate().map(of).collect();
        let servers = shapes.iter().enumerate().flat_map(|(shape, own)| {
            (0..own.count).map(move |_| Server {
                shape,
                node: None,
                used: Vec::new(),
            })
        });
        Site {
            servers: servers.collect(),
            by_node: HashMap::new(),
            closed: BTreeSet::new(),
            shapes,
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
            let pairs = found.iter().zip(&self.shapes[0].units);
            let mut lacking = resources
                .names()
                .zip(pairs)
                .filter(|(_, (found, units))| found < units);
            return lacking.next().map_or(Ok(()), |((name, source), (found, units))| {
                Err(format!(
                    "all {} nodes together have {:.0} % of the policy's `{name}` ({source} in Kubernetes): {help}",
                    machines.len(),
                    100.0 * *found as f64 / *units as f64
                ))
            });
        }
        self.assign(machines, resources);
        let lacking = self.servers.iter().find(|own| own.node.is_none());
        lacking.map_or(Ok(()), |own| {
            let shape = &self.shapes[own.shape];
            let nodes = self.servers.iter().filter(|other| other.shape == own.shape && other.node.is_some());
            Err(format!(
                "the policy has {} servers of the shape `{}`, and {} of {} nodes have as much as one: {help}",
                shape.count,
                shape.name,
                nodes.count(),
                machines.len()
            ))
        })
    }

    /// Gives a node to each server that has none, the greatest shapes first: the first by name that has as much.
    fn assign(&mut self, machines: &HashMap<Uid, Machine>, resources: &Resources) {
        let nodes = self.servers.iter_mut();
        nodes.for_each(|own| own.node = own.node.take().filter(|node| machines.contains_key(node)));
        let open = (0..self.servers.len()).filter(|n| self.servers[*n].node.is_none());
        let mut open: Vec<usize> = open.collect();
        open.sort_by_key(|n| std::cmp::Reverse(&self.shapes[self.servers[*n].shape].units));
        let taken = self.servers.iter().filter_map(|own| own.node.as_deref());
        let taken: HashSet<&str> = taken.collect();
        let free = machines.iter().filter(|own| !taken.contains(&**own.0));
        let free = free.map(|(name, own)| (name, resources.units_within(&own.capacity)));
        let mut free: Vec<_> = free.collect();
        free.sort_unstable();
        for n in open {
            let units = &self.shapes[self.servers[n].shape].units;
            let holds = |units: &[u64], found: &[u64]| {
                units.iter().zip(found).all(|(own, found)| own <= found)
            };
            if let Some(place) = free.iter().position(|(_, found)| holds(units, found)) {
                self.servers[n].node = Some(free.remove(place).0.clone());
            }
        }
        let nodes = self.servers.iter().enumerate();
        let nodes = nodes.filter_map(|(n, own)| Some((own.node.clone()?, n)));
        self.by_node = nodes.collect();
    }

    /// Returns the server that a node is.
    pub fn server(&self, node: &str) -> Option<usize> {
        self.by_node.get(node).copied()
    }

    /// Returns the nodes that these servers are.
    pub fn nodes(&self, servers: &[usize]) -> Vec<String> {
        let nodes = servers
            .iter()
            .filter_map(|n| self.servers[*n].node.as_ref());
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
        self.servers.iter_mut().for_each(|own| own.used.clear());
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
        let pooled = self
            .is_pooled
            .then(|| machines.keys().fold(Amounts::default(), add));
        let mut changed = Vec::new();
        for (n, server) in self.servers.iter_mut().enumerate() {
            let shape = &self.shapes[server.shape];
            let left = match (&pooled, &server.node) {
                (Some(all), _) => all.clone(),
                (None, Some(node)) => free(node),
                (None, None) => Amounts::default(),
            };
            let within = resources.units_within(&left);
            let pairs = shape.units.iter().zip(&within);
            let gone: Vec<u64> = pairs.map(|(all, left)| all.saturating_sub(*left)).collect();
            // Nothing is used where nothing was said.
            let is_new = server.used.is_empty() && gone.iter().any(|units| *units > 0);
            if is_new || !server.used.is_empty() && gone != server.used {
                let parts = gone.iter().zip(&shape.units).zip(&shape.capacity);
                let amounts = parts.map(|((gone, units), amount)| match *units {
                    0 => 0.0,
                    units => amount * (*gone as f64 / units as f64),
                });
                changed.push((n, amounts.collect()));
                server.used = gone;
            }
        }
        changed
    }
}
