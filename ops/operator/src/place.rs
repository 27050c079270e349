use std::collections::HashSet;

use super::counted::{AmountOf, Resources};
use synth_multiresource::workload::{Fleet, JobType, Resource};

/// The types, resources and servers of a policy by name; and what others use on each server.
pub struct Places {
    fleet: Fleet,
    servers: Vec<Server>,
    /// By resource: the amount of one unit.
    grains: Vec<f64>,
}

#[derive(Clone)]
struct Server {
    name: String,
    /// By resource: the capacity, and the same in whole units.
    capacity: Vec<f64>,
    units: Vec<u64>,
    /// By resource: the whole units that others were last seen to use ([`Places::others`]).
    seen: Vec<u64>,
    /// By resource: the amounts that others were reported to use.
    reported: Vec<f64>,
    /// By resource: of jobs that run and that the rule has no room for.
    beyond: Vec<f64>,
    /// Both, in units of its system.
    occupied: Vec<u64>,
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
                reported: vec![0.0; capacity.len()],
                beyond: vec![0.0; capacity.len()],
                occupied: vec![0; capacity.len()],
                capacity,
            };
            (1..=shape.count()).map(move |n| Server {
                name: format!("{}/{n}", shape.name()),
                ..server.clone()
            })
        });
        let resources = 0..fleet.envelope().resources().len();
        Places {
            servers: servers.collect(),
            grains: resources.map(|j| grain(fleet, j)).collect(),
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

    /// Returns how much of each resource (R) server n has.
    pub fn capacity(&self, n: usize) -> &[f64] {
        &self.servers[n].capacity
    }

    /// Returns the capacity of server n in whole units (R).
    pub fn units(&self, n: usize) -> &[u64] {
        &self.servers[n].units
    }

    /// Takes note of the amounts that others leave of each server; returns the servers where the amounts that they use have
    /// changed, with these (R).
    pub fn others<S>(
        &mut self,
        resources: &Resources<S>,
        left: impl IntoIterator<Item = impl AmountOf<S>>,
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

    /// Forgets what others were seen to use.
    pub fn forget(&mut self) {
        self.servers.iter_mut().for_each(|own| own.seen.fill(0));
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

    /// Whether a job of type i can run on these: as many different ones as it takes; of one server none are named.
    pub(super) fn are_servers_of(&self, i: usize, servers: &[usize]) -> bool {
        if self.servers.len() == 1 {
            return servers.is_empty();
        }
        let different: HashSet<&usize> = servers.iter().collect();
        different.len() == self.nodes(i)
            && different.len() == servers.len()
            && servers.iter().all(|n| *n < self.servers.len())
    }

    pub(super) fn occupy(&mut self, n: usize, amounts: &[f64]) {
        self.servers[n].reported.copy_from_slice(amounts);
        self.servers[n].count(&self.grains);
    }

    /// A job of type i that no room was left for runs on these (sign 1), or does no more (-1).
    pub(super) fn change_beyond(&mut self, i: usize, servers: &[usize], sign: f64) {
        let demand = self.demand(i);
        for &n in servers {
            let server = &mut self.servers[n];
            for (beyond, demand) in server.beyond.iter_mut().zip(&demand) {
                *beyond = (*beyond + sign * demand).max(0.0);
            }
            server.count(&self.grains);
        }
    }

    /// Returns what others use of server n, in units of its system.
    pub(super) fn occupied(&self, n: usize) -> &[u64] {
        &self.servers[n].occupied
    }
}

/// Relative slack, so that a rest that is whole but for rounding is not rounded down.
const SLACK: f64 = 1e-9;

impl Server {
    /// Counts what is occupied in whole units of these amounts: what others leave is rounded down.
    fn count(&mut self, grains: &[f64]) {
        for (j, grain) in grains.iter().enumerate() {
            let used = self.reported[j] + self.beyond[j];
            let left = (self.capacity[j] - used).max(0.0) / grain;
            let left = (left * (1.0 + SLACK) + SLACK).floor();
            self.occupied[j] = self.units[j] - (left as u64).min(self.units[j]);
        }
    }
}

/// Returns the amount of resource j that one of its units is; infinity if no type demands it.
fn grain(fleet: &Fleet, j: usize) -> f64 {
    let demanding = fleet.types().iter().find(|t| t.units()[j] > 0);
    let amount = demanding.map(|t| t.demand()[j].value() / t.units()[j] as f64);
    amount.unwrap_or(f64::INFINITY)
}
