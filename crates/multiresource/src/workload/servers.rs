use std::collections::BTreeMap;

use super::check::WITHOUT_FAULTS;
use super::document::{Amount, FleetDocument, JobDocument, ShapeDocument};
use super::fleet::{Fleet, Shape};
use super::{JobType, Workload, is_gpu_resource};
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, FaultsAt, name_problem, place, suggest,
};
use synth_core::number::Decimal;

const MOST_SERVERS: f64 = 1e5;
const COUNT: &str = "a whole number from 1 to 100000: write how many servers have this shape; leave the shape out if none";

const MOST_DEVICES: f64 = 1e6;

/// The name of a resource, the demand and the insufficient capacity.
type Shortfall<'a> = (&'a str, Decimal, Decimal);

impl ShapeDocument {
    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Returns the capacity for a resource; `None` for a number that has already been reported.
    fn known_capacity(&self, resource: &str) -> Option<Decimal> {
        let amount = self.capacity.get(resource);
        amount.map_or(Some(Decimal::ZERO), |amount| amount.map(Amount::value))
    }

    fn capacity_for(&self, resource: &str) -> Decimal {
        self.known_capacity(resource).unwrap_or(Decimal::ZERO)
    }

    fn shortfalls<'a>(&self, job: &'a JobDocument) -> Vec<Shortfall<'a>> {
        let demand = job.demand.0.iter();
        let triples = demand.filter_map(|(name, demand)| {
            Some((name.as_str(), (*demand)?, self.known_capacity(name)?))
        });
        triples.filter(|(_, demand, has)| demand > has).collect()
    }

    fn check_capacity(&self, document: &FleetDocument, at: &mut FaultsAt<'_>) {
        let is_one = document.is_one_server();
        let expected = if is_one { "> 0" } else { "≥ 0" };
        let mut at_capacity = at.below("capacity");
        for (name, amount) in &self.capacity.0 {
            let mut at = at_capacity.below(name);
            if let Some(message) = name_problem("the name of a resource", name) {
                at.refuse(message, "give every resource a name, such as `cpu`");
            }
            let Some(capacity) = amount.map(Amount::value) else {
                continue;
            };
            if capacity < Decimal::ZERO || is_one && capacity.is_zero() {
                at.refuse(
                    format!("capacity of `{name}` is {capacity}, expected a number {expected}"),
                    format!("write how much `{name}` such a server has, or leave it out"),
                );
            }
            let count = capacity.value() * self.count.map_or(1.0, f64::from);
            let is_countable = capacity.value().fract() == 0.0 && count <= MOST_DEVICES;
            if document.has_devices(name) && !is_countable {
                let message = format!(
                    "`{name}` has {capacity} devices, expected a whole number, at most {MOST_DEVICES} on all servers of the shape"
                );
                at.refuse(message, "write how many devices such a server has");
            }
        }
        // A capacity of 0 on the only server has already been reported.
        let is_empty =
            |amount: Option<Amount>| !is_one && amount.is_some_and(|a| a.value().is_zero());
        if self.capacity.0.iter().all(|(_, amount)| is_empty(*amount)) {
            let help = "name at least one: `capacity: {cpu: 128}`";
            at.refuse("the server has no resources", help);
        }
    }
}

impl FleetDocument {
    /// Returns the fleet without the shapes on which no type fits; the others get default names.
    pub fn measured(mut self) -> Result<Fleet, DocumentError> {
        if !self.is_one_server() {
            let mut shapes = std::mem::take(&mut self.servers);
            shapes.retain(|shape| self.serves(shape));
            self.servers = shapes;
            self.arrange();
            self.servers.iter_mut().for_each(|shape| shape.name = None);
        }
        self.fleet()
    }

    /// Sorts the servers and the resources. The shapes with the smallest number of types are first,
    /// because they are filled first, so that large servers stay free. Ties are broken by the sum
    /// of their capacities relative to the largest ones, ascending, and then by name.
    pub(super) fn arrange(&mut self) {
        let mut shapes = std::mem::take(&mut self.servers);
        let mut resources: BTreeMap<String, f64> = BTreeMap::new();
        for (name, amount) in shapes.iter().flat_map(|shape| &shape.capacity.0) {
            let most = resources.entry(name.clone()).or_default();
            *most = amount.map_or(0.0, |own| own.value().value()).max(*most);
        }
        resources.retain(|_, most| *most > 0.0);
        shapes.sort_by_cached_key(|shape| {
            let share = |(name, most): (&String, &f64)| shape.capacity_for(name).value() / most;
            // The order of nonnegative doubles is the order of their bits.
            let size: f64 = resources.iter().map(share).sum();
            let served = self.served(shape).count();
            (served, size.to_bits(), shape.name.clone())
        });
        self.servers = shapes;
        let named = self.resources_named().into_iter();
        let named = named.filter(|name| resources.contains_key(*name));
        self.resources = named.map(str::to_owned).collect();
    }

    pub(super) fn check_fits(&self, at: &mut FaultsAt<'_>) {
        let jobs = self.jobs.iter().enumerate();
        for (i, job) in jobs.filter(|(_, job)| !job.is_idle()) {
            let mut at = at.entry("jobs", i);
            self.check_fit(job, &mut at);
            self.check_gang(job, &mut at);
        }
        for (h, shape) in self.servers.iter().enumerate() {
            if !self.is_one_server() && !self.serves(shape) {
                let message = format!("no type fits on shape `{}`", shape.name());
                let help = "leave the shape out, or raise its capacity";
                at.entry("servers", h).refuse(message, help);
            }
        }
    }

    pub(super) fn check_shapes(&self, at: &mut FaultsAt<'_>) {
        let names = self.servers.iter().filter_map(|own| own.name.as_ref());
        at.names("servers", "shape", names);
        for (h, shape) in self.servers.iter().enumerate() {
            let mut at = at.entry("servers", h);
            let count = shape.count.map_or(f64::NAN, f64::from);
            at.number("count", count, 1.0..=MOST_SERVERS, COUNT);
            shape.check_capacity(self, &mut at);
        }
        let listed = &self.resources;
        for (j, name) in listed.iter().enumerate() {
            let is_twice = listed[..j].contains(name);
            let lacks = |own: &ShapeDocument| own.known_capacity(name) == Some(Decimal::ZERO);
            if is_twice || self.servers.iter().all(lacks) {
                let message =
                    format!("`{name}`, expected a distinct resource that some server has");
                at.entry("resources", j).refuse(message, "leave it out");
            }
        }
        let mut named = self.resources_named();
        named.retain(|name| !listed.is_empty() && !listed.iter().any(|own| own == name));
        for name in named {
            let message = format!("`{name}` is a resource of the servers, but it is not listed");
            let help = "list all resources, or leave `resources` out";
            at.add("resources", message, help);
        }
    }

    pub(super) fn check_known(&self, i: usize, at: &mut FaultsAt<'_>) {
        let job = &self.jobs[i];
        let known = self.resources_named();
        for (resource, _) in &job.demand.0 {
            if known.is_empty() || known.contains(&resource.as_str()) {
                continue;
            }
            let name = &job.name;
            let message = format!("type `{name}` demands `{resource}`, which no server has");
            let names = suggest(resource, "the servers have", &known);
            let help = format!(
                "add it to the capacity of those servers that have it, or correct the name; {names}"
            );
            let place = place!("jobs", i, "demand", resource);
            at.extend([Fault::new(place, message, help).at_key()]);
        }
    }

    fn check_fit(&self, job: &JobDocument, at: &mut FaultsAt<'_>) {
        // The closest server lacks the fewest resources, and then the smallest fraction (as bits).
        let missing = |(_, short): &(&ShapeDocument, Vec<Shortfall<'_>>)| {
            let part = |(_, demand, has): &Shortfall<'_>| 1.0 - has.value() / demand.value();
            let most = short.iter().map(part).fold(0.0, f64::max).to_bits();
            (short.len(), most)
        };
        let shapes = self.servers.iter();
        let short = shapes.map(|shape| (shape, shape.shortfalls(job)));
        let Some((shape, mut short)) = short.min_by_key(missing) else {
            return;
        };
        if self.is_one_server() {
            // A resource that the server does not have at all is reported elsewhere.
            short.retain(|(_, _, has)| *has > Decimal::ZERO);
        }
        let Some((resource, ..)) = short.first() else {
            return;
        };
        let message = format!(
            "type `{}` does not fit on an empty server: it needs {} on the closest one, `{}`",
            job.name,
            needs(&short),
            shape.name()
        );
        let help =
            "lower the demand, raise a capacity, or leave the type out with `arrival_rate: 0`";
        at.below("demand").add(*resource, message, help);
    }

    fn check_gang(&self, job: &JobDocument, at: &mut FaultsAt<'_>) {
        let Some(nodes) = job.nodes else { return };
        let holding = self.servers.iter().filter(|s| s.shortfalls(job).is_empty());
        if holding.clone().any(|shape| shape.count.is_none()) {
            return;
        }
        let counts = holding.map(|shape| (u64::from(shape.count.unwrap_or(0)), shape.name()));
        let servers: u64 = counts.clone().map(|(count, _)| count).sum();
        let mut refuse = |takes: &str, help| {
            let message = format!("type `{}` takes {takes}", job.name);
            at.add("nodes", message, help);
        };
        if nodes == 0 {
            let help = "write how many servers a job takes at once, or leave `nodes` out for one";
            refuse("0 servers, expected at least 1", help);
        } else if nodes > 1 && self.is_one_server() {
            let help = "list the servers of the fleet under `servers:`, or leave `nodes` out";
            let takes = format!("{nodes} servers at once, but there is only one");
            refuse(&takes, help);
        } else if servers > 0 && u64::from(nodes) > servers {
            let parts: Vec<String> = counts.map(|(n, name)| format!("{n} `{name}`")).collect();
            let mut takes = format!(
                "{nodes} servers at once, but only {servers} can hold a task of it: {}",
                parts.join(" + ")
            );
            let others = self.servers.iter().map(|s| (s.name(), s.shortfalls(job)));
            for (name, short) in others.filter(|(_, short)| !short.is_empty()) {
                takes += &format!("; on `{name}` ({}) it does not fit", needs(&short));
            }
            let help = "lower `nodes` or the demand, add servers, or leave the type out with `arrival_rate: 0`";
            refuse(&takes, help);
        }
    }

    fn served<'a>(&'a self, shape: &'a ShapeDocument) -> impl Iterator<Item = usize> + 'a {
        let fits = |job: &JobDocument| !job.is_idle() && shape.shortfalls(job).is_empty();
        let jobs = self.jobs.iter().enumerate();
        jobs.filter(move |(_, job)| fits(job)).map(|(i, _)| i)
    }

    fn serves(&self, shape: &ShapeDocument) -> bool {
        self.served(shape).next().is_some()
    }

    fn resources_named(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.servers.iter().flat_map(|shape| &shape.capacity.0) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    pub(super) fn first_with(&self, resource: &str) -> usize {
        let has = |shape: &ShapeDocument| shape.capacity_for(resource) > Decimal::ZERO;
        self.servers.iter().position(has).unwrap_or(0)
    }

    pub(super) fn build(mut self) -> CheckedOrFaults<Fleet> {
        if self.resources.is_empty() {
            self.arrange();
        }
        let (idle, arriving): (Vec<usize>, Vec<usize>) =
            (0..self.jobs.len()).partition(|&i| self.jobs[i].is_idle());
        let resources: Vec<&str> = self.resources.iter().map(String::as_str).collect();
        let most = |name: &str| {
            let of_shapes = self.servers.iter().map(|shape| shape.capacity_for(name));
            of_shapes.fold(Decimal::ZERO, |a, b| if a < b { b } else { a })
        };
        let capacity: Vec<_> = resources.iter().map(|&name| (name, most(name))).collect();
        let envelope = self.workload(&capacity, &arriving)?;
        let mut shapes = Vec::new();
        for shape in &self.servers {
            let served: Vec<usize> = self.served(shape).collect();
            let all = resources.iter();
            let all = all.map(|&name| (name, shape.capacity_for(name)));
            let own: Vec<_> = all.clone().filter(|(_, c)| *c > Decimal::ZERO).collect();
            let server = if let [_] = self.servers[..] {
                envelope.clone()
            } else {
                self.workload(&own, &served).map_err(|mut faults| {
                    let of_shape = format!(", of shape `{}`", shape.name());
                    faults.iter_mut().for_each(|own| own.message += &of_shape);
                    faults
                })?
            };
            let place = |i: usize| arriving.iter().position(|own| *own == i);
            shapes.push(Shape {
                name: shape.name().to_owned(),
                count: shape.count.expect(WITHOUT_FAULTS),
                capacity: all.map(|(_, capacity)| capacity).collect(),
                server,
                types: served.into_iter().filter_map(place).collect(),
            });
        }
        let idle = idle.iter().map(|&i| {
            let message = format!(
                "type `{}` has arrival rate 0: it is left out, and no policy will serve it",
                self.jobs[i].name
            );
            let help = "give it an arrival_rate > 0 if it should be served";
            Fault::new(place!("jobs", i, "arrivals", "rate"), message, help)
        });
        let fractions = (0..resources.len()).filter_map(|j| self.fractions(j, &envelope));
        let warnings = idle.chain(fractions).collect();
        Ok((Fleet { envelope, shapes }, warnings))
    }

    fn fractions(&self, j: usize, envelope: &Workload) -> Option<Fault> {
        let (own, types) = (&envelope.resources()[j], envelope.types());
        let (name, capacity) = (own.name(), own.capacity());
        let (is_told, message, help) = match own.device() {
            Some(_) => (
                types.len() > 1,
                format!(
                    "the load ρ is a lower bound: it counts amounts of `{name}`, without the parts of devices that stay free because no job fits there"
                ),
                "run `synth limit` to find the load that a rule sustains".to_owned(),
            ),
            None => (
                is_gpu_resource(name) && capacity > Decimal::ONE,
                format!(
                    "jobs demand fractions of `{name}`, which is counted as an amount: a fraction may span devices"
                ),
                format!(
                    "write `{name}: {{devices: {capacity}}}` if each fraction has to run on one device"
                ),
            ),
        };
        let is_fraction = |job: &JobType| job.demand()[j].value().fract() != 0.0;
        let at = place!("servers", self.first_with(name), "capacity", name);
        let is_told = is_told && types.iter().any(is_fraction);
        is_told.then(|| Fault::new(at, message, help))
    }
}

fn needs(short: &[Shortfall<'_>]) -> String {
    let each = |(name, demand, has): &Shortfall<'_>| format!("{demand} of {has} `{name}`");
    short.iter().map(each).collect::<Vec<_>>().join(", ")
}
