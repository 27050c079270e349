use std::collections::{BTreeMap, HashMap, HashSet};

use super::amounts::{Amounts, Resources};
use synth_multiresource::workload::{Fleet, JobType, Resource};

/// The types, resources and servers of a policy, and the capacity of each server used by others.
pub struct Places {
    fleet: Fleet,
    servers: Vec<Server>,
}

#[derive(Clone)]
struct Server {
    name: String,
    capacity: Vec<f64>,
    units: Vec<u64>,
    /// The use by others in [`Places::record_use_by_others`], in whole units (R).
    seen: Vec<u64>,
    reported: Vec<u64>,
    over_capacity: Vec<u64>,
}

impl Places {
    pub(super) fn new(fleet: &Fleet) -> Self {
        let servers = fleet.shapes().iter().enumerate().flat_map(|(h, shape)| {
            let capacity: Vec<f64> = shape.capacity().iter().map(|c| c.value()).collect();
            let server = Server {
                name: String::new(),
                units: fleet.units(h),
                seen: vec![0; capacity.len()],
                reported: vec![0; capacity.len()],
                over_capacity: vec![0; capacity.len()],
                capacity,
            };
            (1..=shape.count()).map(move |n| Server {
                name: format!("{}/{n}", shape.name()),
                ..server.clone()
            })
        });
        Places {
            servers: servers.collect(),
            fleet: fleet.clone(),
        }
    }

    /// Returns the servers and job types.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Returns the number of servers.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Returns the name of server `n`, which contains its shape and a number that starts at 1.
    pub fn server_name(&self, n: usize) -> &str {
        &self.servers[n].name
    }

    pub(super) fn server(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.name == name)
    }

    pub(super) fn server_of(&self, name: Option<&str>) -> Result<usize, String> {
        match name {
            None if self.servers() == 1 => Ok(0),
            None => Err("specify the server with \"server\"".into()),
            Some(name) => self.server(name).ok_or_else(|| {
                let [first, last] = [0, self.servers() - 1].map(|n| self.server_name(n));
                format!("there is no server {name:?}: the servers are {first} to {last}")
            }),
        }
    }

    pub(super) fn servers_of(&self, i: usize, names: &[String]) -> Result<Vec<usize>, String> {
        let servers = names.iter().map(|name| self.server_of(Some(name)));
        let servers: Vec<usize> = servers.collect::<Result<_, _>>()?;
        let different = servers.iter().collect::<HashSet<_>>().len();
        let expected = match self.servers() {
            1 => 0,
            _ => self.nodes(i),
        };
        if servers.len() != expected || different != expected {
            return Err(format!(
                "a job of type {} runs on {} of the policy's servers: specify each of them once",
                self.type_name(i),
                self.nodes(i)
            ));
        }
        Ok(servers)
    }

    pub(super) fn amounts_of(&self, used: &BTreeMap<String, f64>) -> Result<Vec<f64>, String> {
        let mut amounts = vec![0.0; self.resources().len()];
        for (name, amount) in used {
            let known = self.resources().position(|own| own == name);
            let j = known.ok_or_else(|| {
                let names = self.resources().collect::<Vec<_>>().join(", ");
                format!("there is no resource {name:?} in the policy: its resources are {names}")
            })?;
            amounts[j] = nonnegative(name, Some(*amount))?.unwrap_or(0.0);
        }
        Ok(amounts)
    }

    /// Returns the capacity of server `n` (R).
    pub fn capacity(&self, n: usize) -> &[f64] {
        &self.servers[n].capacity
    }

    /// Returns the capacity of server `n` in whole units (R).
    pub fn units(&self, n: usize) -> &[u64] {
        &self.servers[n].units
    }

    /// Sets the amounts left by others. Returns the changed servers and the amounts used there (R).
    pub(super) fn record_use_by_others(
        &mut self,
        resources: &Resources,
        left: impl IntoIterator<Item = Amounts>,
    ) -> Vec<(usize, Vec<f64>)> {
        let servers = self.servers.iter_mut().enumerate();
        let changed = servers.zip(left).filter_map(|((n, own), left)| {
            let pairs = own.units.iter().zip(resources.units_within(&left));
            let used: Vec<u64> = pairs.map(|(all, left)| all.saturating_sub(left)).collect();
            if used == own.seen {
                return None;
            }
            own.seen = used;
            let parts = own.seen.iter().zip(&own.units).zip(&own.capacity);
            let amounts = parts.map(|((used, units), amount)| match *units {
                0 => 0.0,
                units => amount * (*used as f64 / units as f64),
            });
            Some((n, amounts.collect()))
        });
        changed.collect()
    }

    /// Returns the names of the types (K).
    pub fn types(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fleet.types().iter().map(JobType::name)
    }

    /// Returns the name of type `i`.
    pub fn type_name(&self, i: usize) -> &str {
        self.fleet.types()[i].name()
    }

    /// Returns the index of the type with this name.
    pub fn job_type(&self, name: &str) -> Option<usize> {
        self.types().position(|own| own == name)
    }

    /// Returns the number of servers that are used by a job of type `i`.
    pub fn nodes(&self, i: usize) -> usize {
        self.fleet.types()[i].nodes() as usize
    }

    /// Returns the servers of a running job: those in `named`, and further ones, idle ones first.
    pub(super) fn complete_servers(
        &self,
        i: usize,
        named: impl IntoIterator<Item = usize>,
        busy: &HashSet<usize>,
    ) -> Vec<usize> {
        let mut further: Vec<usize> = (0..self.servers()).collect();
        further.sort_by_key(|n| busy.contains(n));
        let mut servers: Vec<usize> = Vec::new();
        for n in named.into_iter().chain(further) {
            if servers.len() < self.nodes(i) && !servers.contains(&n) {
                servers.push(n);
            }
        }
        servers
    }

    /// Returns the demand of a job of type `i` on each server (R).
    pub fn demand(&self, i: usize) -> Vec<f64> {
        let demand = self.fleet.types()[i].demand().iter();
        demand.map(|amount| amount.value()).collect()
    }

    /// Returns the names of the resources (R).
    pub fn resources(&self) -> impl ExactSizeIterator<Item = &str> {
        let resources = self.fleet.envelope().resources().iter();
        resources.map(Resource::name)
    }

    /// Sets the amounts that others use on server `n`. The rest is rounded down to whole units.
    pub(super) fn occupy(&mut self, n: usize, amounts: &[f64]) {
        let server = &mut self.servers[n];
        for (j, amount) in amounts.iter().enumerate() {
            let demanding = self.fleet.types().iter().find(|t| t.units()[j] > 0);
            let unit = demanding.map(|t| t.demand()[j].value() / t.units()[j] as f64);
            let left = (server.capacity[j] - amount).max(0.0) / unit.unwrap_or(f64::INFINITY);
            let left = (left * (1.0 + SLACK) + SLACK).floor() as u64;
            server.reported[j] = server.units[j].saturating_sub(left);
        }
    }

    pub(super) fn count_over_capacity(&mut self, i: usize, servers: &[usize], runs: bool) {
        for &n in servers {
            let over = self.servers[n].over_capacity.iter_mut();
            for (over, units) in over.zip(self.fleet.types()[i].units()) {
                match runs {
                    true => *over += units,
                    false => *over -= units,
                }
            }
        }
    }

    pub(super) fn occupied(&self, n: usize) -> Vec<u64> {
        let server = &self.servers[n];
        let used = server.reported.iter().zip(&server.over_capacity);
        let used = used.zip(&server.units);
        let least = used.map(|((reported, over), all)| (reported + over).min(*all));
        least.collect()
    }
}

/// Maps the nodes of a cluster to the servers of a policy.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    of_servers: Vec<Option<String>>,
    servers: HashMap<String, usize>,
}

impl Nodes {
    /// Assigns these nodes to servers. If the list is empty, all nodes are one server.
    pub fn new(of_servers: Vec<Option<String>>) -> Self {
        let pairs = of_servers.iter().cloned().zip(0..);
        Nodes {
            servers: pairs.filter_map(|(node, n)| Some((node?, n))).collect(),
            of_servers,
        }
    }

    /// Returns the node of each server. The list is empty if all nodes are one server.
    pub fn of_servers(&self) -> &[Option<String>] {
        &self.of_servers
    }

    /// Returns the index of the server of a node.
    pub fn server(&self, node: &str) -> Option<usize> {
        if self.of_servers.is_empty() {
            return Some(0);
        }
        self.servers.get(node).copied()
    }

    /// Returns the nodes of these servers. The list is empty if all nodes are one server.
    pub fn named(&self, servers: &[usize]) -> Vec<String> {
        let nodes = servers.iter().map(|n| self.of_servers.get(*n)?.clone());
        nodes.flatten().collect()
    }
}

pub(super) fn nonnegative(what: &str, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        Some(value) if !value.is_finite() || value < 0.0 => Err(format!(
            "{what} is {value}: it must be a finite number of at least 0"
        )),
        value => Ok(value),
    }
}

/// The relative tolerance for rounding errors when the rest is rounded down to whole units.
const SLACK: f64 = 1e-9;
