use std::collections::{BTreeMap, HashMap, HashSet};

use super::amounts::{Amounts, Resources};
use synth_multiresource::workload::{Fleet, JobType, Resource};

/// The types, resources and servers of a policy by name; and what others use on each server.
pub struct Places {
    fleet: Fleet,
    servers: Vec<Server>,
}

#[derive(Clone)]
struct Server {
    name: String,
    /// By resource: the capacity, and the same in whole units.
    capacity: Vec<f64>,
    units: Vec<u64>,
    /// By resource, in whole units: what others were last seen to use ([`Places::others`]).
    seen: Vec<u64>,
    /// The same as it was reported to the scheduler.
    reported: Vec<u64>,
    /// The same of jobs that run and that the rule has no room for.
    beyond: Vec<u64>,
}

impl Places {
    /// Returns those of a fleet, of which others use nothing.
    pub fn new(fleet: &Fleet) -> Self {
        let servers = fleet.shapes().iter().enumerate().flat_map(|(h, shape)| {
            let capacity: Vec<f64> = shape.capacity().iter().map(|c| c.value()).collect();
            let server = Server {
                name: String::new(),
                units: fleet.units(h),
                seen: vec![0; capacity.len()],
                reported: vec![0; capacity.len()],
                beyond: vec![0; capacity.len()],
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

    /// Returns the servers and types.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Returns how many servers there are.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Returns the name of server n: its shape, and its number from 1 among those of the shape.
    pub fn server_name(&self, n: usize) -> &str {
        &self.servers[n].name
    }

    /// Returns the server of this name.
    pub fn server(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.name == name)
    }

    /// Returns the server that a line names, or the only one.
    pub(super) fn server_of(&self, name: Option<&str>) -> Result<usize, String> {
        match name {
            None if self.servers() == 1 => Ok(0),
            None => Err("say on which server: \"server\"".into()),
            Some(name) => self.server(name).ok_or_else(|| {
                let [first, last] = [0, self.servers() - 1].map(|n| self.server_name(n));
                format!("there is no server {name:?}: they are {first} to {last}")
            }),
        }
    }

    /// Returns the servers on which a job of type i runs, as a line names them.
    pub(super) fn servers_of(&self, i: usize, names: &[String]) -> Result<Vec<usize>, String> {
        let servers = names.iter().map(|name| self.server_of(Some(name)));
        let servers: Vec<usize> = servers.collect::<Result<_, _>>()?;
        let different = servers.iter().collect::<HashSet<_>>().len();
        // Of one server none are named.
        let expected = if self.servers() == 1 {
            0
        } else {
            self.nodes(i)
        };
        if servers.len() != expected || different != expected {
            return Err(format!(
                "a job of type {} runs on {} of the policy's servers: name them",
                self.type_name(i),
                self.nodes(i)
            ));
        }
        Ok(servers)
    }

    /// Returns the amounts of the resources (R) that a line names.
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

    /// Returns how much of each resource (R) server n has.
    pub fn capacity(&self, n: usize) -> &[f64] {
        &self.servers[n].capacity
    }

    /// Returns the capacity of server n in whole units (R).
    pub fn units(&self, n: usize) -> &[u64] {
        &self.servers[n].units
    }

    /// Records the amounts that others leave of each server; returns the servers where the amounts that they use have
    /// changed, with these (R).
    pub(super) fn others(
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

    /// Returns the name of type i.
    pub fn type_name(&self, i: usize) -> &str {
        self.fleet.types()[i].name()
    }

    /// Returns the type of this name.
    pub fn job_type(&self, name: &str) -> Option<usize> {
        self.types().position(|own| own == name)
    }

    /// Servers that a job of type i takes.
    pub fn nodes(&self, i: usize) -> usize {
        self.fleet.types()[i].nodes() as usize
    }

    /// Returns the servers of a running job of type i: the named ones, and further ones where the type has more, idle ones
    /// first.
    pub fn taken(
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

    /// Returns what a job of type i takes of each resource (R), on each of its servers.
    pub fn demand(&self, i: usize) -> Vec<f64> {
        let demand = self.fleet.types()[i].demand().iter();
        demand.map(|amount| amount.value()).collect()
    }

    /// Returns the names of the resources (R).
    pub fn resources(&self) -> impl ExactSizeIterator<Item = &str> {
        let resources = self.fleet.envelope().resources().iter();
        resources.map(Resource::name)
    }

    /// Others use these amounts of server n: what they leave is rounded down to whole units.
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

    /// A job of type i that no room was left for runs on these, or does no more.
    pub(super) fn change_beyond(&mut self, i: usize, servers: &[usize], runs: bool) {
        for &n in servers {
            let beyond = &mut self.servers[n].beyond;
            for (beyond, units) in beyond.iter_mut().zip(self.fleet.types()[i].units()) {
                *beyond = if runs {
                    *beyond + units
                } else {
                    *beyond - units
                };
            }
        }
    }

    /// Returns what others use of server n, in units of its system.
    pub(super) fn occupied(&self, n: usize) -> Vec<u64> {
        let server = &self.servers[n];
        let used = server.reported.iter().zip(&server.beyond);
        let used = used.zip(&server.units);
        used.map(|((reported, beyond), all)| (reported + beyond).min(*all))
            .collect()
    }
}

/// Which node of a cluster is which server of a policy.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// By server, its node; empty if all nodes are one server.
    of_servers: Vec<Option<String>>,
    servers: HashMap<String, usize>,
}

impl Nodes {
    /// Returns the nodes of these servers; without any, all nodes are one server.
    pub fn new(of_servers: Vec<Option<String>>) -> Self {
        let pairs = of_servers.iter().cloned().zip(0..);
        Nodes {
            servers: pairs.filter_map(|(node, n)| Some((node?, n))).collect(),
            of_servers,
        }
    }

    /// Returns the node of each server; empty if all nodes are one server.
    pub fn of_servers(&self) -> &[Option<String>] {
        &self.of_servers
    }

    /// Returns the server that a node is, if it is one.
    pub fn server(&self, node: &str) -> Option<usize> {
        if self.of_servers.is_empty() {
            return Some(0);
        }
        self.servers.get(node).copied()
    }

    /// Returns the nodes that these servers are; none if all nodes are one server.
    pub fn named(&self, servers: &[usize]) -> Vec<String> {
        let nodes = servers
            .iter()
            .filter_map(|n| self.of_servers.get(*n)?.clone());
        nodes.collect()
    }
}

/// Checks a number of a line.
pub(super) fn nonnegative(what: &str, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        Some(value) if !value.is_finite() || value < 0.0 => {
            Err(format!("{what} is {value}: it has to be 0 or more"))
        }
        value => Ok(value),
    }
}

/// Relative slack, so that a rest that is whole but for rounding is not rounded down.
const SLACK: f64 = 1e-9;
