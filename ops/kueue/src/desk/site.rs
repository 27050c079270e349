use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::Desk;
use crate::cluster::{Cluster, Machine, Placed};
use crate::view::Uid;
use synth_operator::{Amounts, Nodes};

impl Desk {
    /// Checks that the cluster has the nodes and the capacity of the policy's servers.
    pub fn check(&mut self, cluster: &Cluster) -> Result<(), String> {
        let (machines, places) = (&cluster.machines, self.operator.places());
        let help = "generate the policy for the existing nodes, or select others with --nodes";
        let all = machines.len();
        if places.fleet().is_one_server() {
            let capacities = machines.values().map(|own| &own.capacity);
            let sum = capacities.fold(Amounts::default(), Amounts::plus);
            let found = self.resources.units_within(&sum);
            for ((own, found), units) in self.resources.iter().zip(found).zip(places.units(0)) {
                if found < *units {
                    return Err(format!(
                        "all {all} nodes together have {:.0} % of the policy's `{}` ({} in Kubernetes): {help}",
                        100.0 * found as f64 / *units as f64,
                        own.name,
                        own.source
                    ));
                }
            }
            return Ok(());
        }
        let shapes = places.fleet().shapes().to_vec();
        self.assign(machines);
        let mut nodes = self.nodes.of_servers().iter();
        for shape in shapes {
            let (name, count) = (shape.name(), shape.count());
            let found = nodes.by_ref().take(count as usize).flatten().count();
            if found < count as usize {
                return Err(format!(
                    "the policy has {count} servers of the shape `{name}`, but only {found} of {all} nodes are large enough: {help}"
                ));
            }
        }
        Ok(())
    }

    /// Assigns the first large enough node by name to each server without one, largest ones first.
    fn assign(&mut self, machines: &HashMap<Uid, Machine>) {
        let places = self.operator.places();
        let mut nodes = self.nodes.of_servers().to_vec();
        nodes.resize(places.servers(), None);
        for node in &mut nodes {
            node.take_if(|node| !machines.contains_key(&**node));
        }
        let taken: HashSet<&str> = nodes.iter().flatten().map(String::as_str).collect();
        let free = machines.iter().filter(|own| !taken.contains(&**own.0));
        let free = free.map(|(name, own)| (name, self.resources.units_within(&own.capacity)));
        let mut free: Vec<_> = free.collect();
        free.sort_unstable();
        let mut open: Vec<usize> = (0..nodes.len()).filter(|n| nodes[*n].is_none()).collect();
        open.sort_by_key(|n| Reverse(places.units(*n)));
        for n in open {
            let units = places.units(n).iter();
            let holds = |found: &[u64]| units.clone().zip(found).all(|(own, found)| own <= found);
            if let Some(place) = free.iter().position(|(_, found)| holds(found)) {
                nodes[n] = Some(free.remove(place).0.to_string());
            }
        }
        self.nodes = Nodes::new(nodes);
    }

    pub(super) fn closed(&mut self, machines: &HashMap<Uid, Machine>) -> Vec<String> {
        let closed = machines.iter().filter(|(_, own)| !own.is_open);
        let closed = closed.filter(|(name, _)| self.nodes.server(name).is_some());
        let closed: BTreeSet<Uid> = closed.map(|(name, _)| name.clone()).collect();
        let gone = closed.difference(&self.closed).map(|name| {
            format!("node {name} is unschedulable or not ready: no jobs are started there, and running jobs continue")
        });
        let back = self.closed.difference(&closed);
        let back = back.map(|name| format!("node {name} is back or was removed"));
        let notes = gone.chain(back).collect();
        self.closed = closed;
        notes
    }

    /// Returns the amounts that `others` leave on each server, 0 if its node is closed or missing.
    pub(super) fn left(
        &mut self,
        machines: &HashMap<Uid, Machine>,
        others: &[&Placed],
    ) -> Vec<Amounts> {
        if !self.is_pooled() {
            self.assign(machines);
        }
        let mut used: HashMap<&str, Amounts> = HashMap::new();
        for pod in others {
            used.entry(&pod.node).or_default().add(&pod.demand);
        }
        let mut left = vec![Amounts::default(); self.operator.places().servers()];
        for (name, machine) in machines.iter().filter(|(_, own)| own.is_open) {
            if let Some(n) = self.nodes.server(name) {
                let used = used.remove(&**name).unwrap_or_default();
                left[n].add(&machine.capacity.clone().less(&used));
            }
        }
        left
    }
}
