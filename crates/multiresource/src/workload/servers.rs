//! The checks of servers, and the fleet that is built of what has no faults.

use std::collections::BTreeMap;

use super::check::{
    Checked, Draft, DraftJob, DraftShape, WITHOUT_FAULTS, amount, unserved_warning,
};
use super::fleet::{Fleet, Shape};
use super::{JobType, Workload, is_of_gpus};
use synth_core::document::{Fault, check_names, place, suggest, unusable};
use synth_core::number::Decimal;

/// More servers of one shape than this are better modelled as a fluid than one by one.
const MOST_SERVERS: u32 = 100_000;

/// More devices of one shape of servers are not simulated.
const MOST_DEVICES: f64 = 1e6;

/// A resource of which a server has too little: its name, the demand, the capacity.
type Shortfall<'a> = (&'a str, Decimal, Decimal);

impl DraftShape {
    /// Returns the capacity for a resource, 0 if it is not named; `None` for a number already reported.
    fn known_capacity(&self, resource: &str) -> Option<Decimal> {
        amount(&self.capacity, resource)
    }

    /// Returns the same; 0 for a number already reported, too.
    fn capacity_for(&self, resource: &str) -> Decimal {
        self.known_capacity(resource).unwrap_or(Decimal::ZERO)
    }

    /// Returns the resources of which a job is known to need more than there is.
    fn shortfalls<'a>(&self, job: &'a DraftJob) -> Vec<Shortfall<'a>> {
        let demand = job.demand.iter();
        let triples = demand.filter_map(|(name, demand)| {
            Some((name.as_str(), (*demand)?, self.known_capacity(name)?))
        });
        triples.filter(|(_, demand, has)| demand > has).collect()
    }
}

impl Draft {
    /// Returns whether there is one server.
    pub(super) fn is_one_server(&self) -> bool {
        matches!(&self.shapes[..], [shape] if shape.count == Some(1))
    }

    /// Puts first what rules shall fill first: the shape on which fewest types fit, and of several the smaller one, so
    /// that large room stays whole. The size is the sum over resources of what the shape has of it over what a
    /// shape has at most. The name decides what is left: no two shapes share it.
    pub(super) fn order(&mut self) {
        let mut shapes = std::mem::take(&mut self.shapes);
        let mut resources: BTreeMap<String, f64> = BTreeMap::new();
        for (name, capacity) in shapes.iter().flat_map(|shape| &shape.capacity) {
            let most = resources.entry(name.clone()).or_default();
            *most = capacity.map_or(0.0, Decimal::value).max(*most);
        }
        resources.retain(|_, most| *most > 0.0);
        shapes.sort_by_cached_key(|shape| {
            let share = |(name, most): (&String, &f64)| shape.capacity_for(name).value() / most;
            // Added up in the order of their names; and doubles ≥ 0 are in the order of their bits.
            let size: f64 = resources.iter().map(share).sum();
            let served = self.served(shape).count();
            (served, size.to_bits(), shape.name.clone())
        });
        self.shapes = shapes;
    }

    /// Checks what fits where, and whether each shape is of use.
    pub(super) fn check_fits(&self, faults: &mut Vec<Fault>) {
        for i in (0..self.jobs.len()).filter(|i| !self.jobs[*i].is_idle()) {
            self.check_fit(i, faults);
            self.check_gang(i, faults);
        }
        for (h, shape) in self.shapes.iter().enumerate() {
            if !self.is_one_server() && self.served(shape).next().is_none() {
                faults.push(Fault::new(
                    place!("servers", h),
                    format!("no type fits on shape `{}`", shape.name),
                    "leave the shape out, or raise its capacity",
                ));
            }
        }
    }

    pub(super) fn check_shapes(&self, faults: &mut Vec<Fault>) {
        if self.shapes.is_empty() {
            faults.push(Fault::new(
                place!("servers"),
                "there are no server shapes",
                "list at least one: `servers: [{name: big, count: 4, capacity: {cpu: 96}}]`",
            ));
        }
        let names = self.shapes.iter().map(|shape| &shape.name);
        check_names("servers", "shape", names, faults);
        for (h, shape) in self.shapes.iter().enumerate() {
            let unusable = |count: &u32| !(1..=MOST_SERVERS).contains(count);
            if let Some(count) = shape.count.filter(unusable) {
                let name = &shape.name;
                faults.push(Fault::new(
                    place!("servers", h, "count"),
                    format!("count of shape `{name}` is {count}, expected a whole number from 1 to {MOST_SERVERS}"),
                    "write how many servers have this shape; leave the shape out if none",
                ));
            }
            shape.check_capacity(h, self.is_one_server(), &self.devices, faults);
        }
    }

    pub(super) fn check_known(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        let known = self.resources();
        for (resource, _) in &job.demand {
            if known.is_empty() || known.contains(&resource.as_str()) {
                continue;
            }
            let name = &job.name;
            let message = format!("type `{name}` demands `{resource}`, which every server lacks");
            let names = suggest(resource, "the servers have", &known);
            let help = format!(
                "add it to the capacity of those servers that have it, or correct the name; {names}"
            );
            let at = place!("jobs", i, "demand", resource);
            faults.push(Fault::new(at, message, help).of_key());
        }
    }

    /// Checks that a type that arrives fits on an empty server of some shape.
    fn check_fit(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        // The closest miss: fewest resources short, and then the least part of the demand.
        let missing = |short: &[Shortfall<'_>]| {
            let part = |(_, demand, has): &Shortfall<'_>| 1.0 - has.value() / demand.value();
            (short.len(), short.iter().map(part).fold(0.0, f64::max))
        };
        let shapes = self.shapes.iter();
        let short = shapes.map(|shape| (shape, shape.shortfalls(job)));
        let closest = short.min_by(|(_, a), (_, b)| {
            let (a, b) = (missing(a), missing(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let Some((shape, mut short)) = closest else {
            return;
        };
        if self.is_one_server() {
            // What it lacks altogether is reported where it is demanded.
            short.retain(|(_, _, has)| *has > Decimal::ZERO);
        }
        let Some((resource, ..)) = short.first() else {
            return;
        };
        let needs = needs(&short);
        faults.push(Fault::new(
            place!("jobs", i, "demand", *resource),
            format!(
                "type `{}` does not fit on an empty server: it needs {needs} of the closest, `{}`",
                job.name, shape.name
            ),
            "lower the demand, raise a capacity, or leave the type out with `arrival_rate: 0`",
        ));
    }

    /// Checks that there are as many servers that hold a part of a job as it takes.
    fn check_gang(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        let Some(nodes) = job.nodes else { return };
        let holding = self.shapes.iter().filter(|s| s.shortfalls(job).is_empty());
        if holding.clone().any(|shape| shape.count.is_none()) {
            return;
        }
        let counts = holding.map(|shape| (u64::from(shape.count.unwrap_or(0)), &shape.name));
        let servers: u64 = counts.clone().map(|(count, _)| count).sum();
        let (message, help) = if nodes == 0 {
            (
                "0 servers, expected 1 at least".to_owned(),
                "write how many servers a job takes at once, or leave `nodes` out for one",
            )
        } else if nodes > 1 && self.is_one_server() {
            (
                format!("{nodes} servers at once, and here is one"),
                "list the servers of the fleet under `servers:`, where such jobs wait in one place, or leave `nodes` out",
            )
        } else if servers > 0 && u64::from(nodes) > servers {
            let parts: Vec<String> = counts.map(|(n, name)| format!("{n} `{name}`")).collect();
            let parts = parts.join(" + ");
            let others = self.shapes.iter().map(|s| (&s.name, s.shortfalls(job)));
            let others = others.filter(|(_, short)| !short.is_empty());
            let lacking: String = others
                .map(|(name, short)| format!("; on `{name}` ({}) it does not fit", needs(&short)))
                .collect();
            (
                format!(
                    "{nodes} servers at once, and only {servers} can hold a part of it: {parts}{lacking}"
                ),
                "lower `nodes` or the demand, add servers, or leave the type out with `arrival_rate: 0`",
            )
        } else {
            return;
        };
        let message = format!("type `{}` takes {message}", job.name);
        faults.push(Fault::new(place!("jobs", i, "nodes"), message, help));
    }

    /// Returns the places of the types that arrive and fit on a shape.
    fn served<'a>(&'a self, shape: &'a DraftShape) -> impl Iterator<Item = usize> + 'a {
        let fits = |job: &DraftJob| !job.is_idle() && shape.shortfalls(job).is_empty();
        let jobs = self.jobs.iter().enumerate();
        jobs.filter(move |(_, job)| fits(job)).map(|(i, _)| i)
    }

    /// Returns the resources of all shapes, in the order in which they are named first.
    fn resources(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.shapes.iter().flat_map(|shape| &shape.capacity) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the first shape that has a resource.
    pub(super) fn first_with(&self, resource: &str) -> usize {
        let has = |shape: &DraftShape| shape.capacity_for(resource) > Decimal::ZERO;
        self.shapes.iter().position(has).unwrap_or(0)
    }

    /// Only for a draft without faults: drops the types that do not arrive.
    pub(super) fn build(self) -> Result<Checked, Vec<Fault>> {
        let (idle, arriving): (Vec<usize>, Vec<usize>) =
            (0..self.jobs.len()).partition(|&i| self.jobs[i].is_idle());
        let resources = self.resources();
        let most = |name: &str| {
            let of_shapes = self.shapes.iter().map(|shape| shape.capacity_for(name));
            of_shapes.fold(Decimal::ZERO, |a, b| if a < b { b } else { a })
        };
        let capacity: Vec<_> = resources.iter().map(|&name| (name, most(name))).collect();
        let mut envelope = self.workload(&capacity, &arriving)?;
        envelope.unserved = idle.iter().map(|&i| self.jobs[i].name.clone()).collect();
        envelope.unserved.extend(self.unserved.iter().cloned());
        let mut shapes = Vec::new();
        for shape in &self.shapes {
            let served: Vec<usize> = self.served(shape).collect();
            let all = resources.iter();
            let all = all.map(|&name| (name, shape.capacity_for(name)));
            let own: Vec<_> = all.clone().filter(|(_, c)| *c > Decimal::ZERO).collect();
            let of_shape = |mut fault: Fault| {
                fault.message += &format!(", of shape `{}`", shape.name);
                fault
            };
            let server = if let [_] = self.shapes[..] {
                envelope.clone()
            } else {
                let server = self.workload(&own, &served);
                server.map_err(|faults| faults.into_iter().map(of_shape).collect::<Vec<_>>())?
            };
            // Types that do not arrive have no place in the checked fleet.
            let place = |i: usize| arriving.iter().position(|own| *own == i);
            shapes.push(Shape {
                name: shape.name.clone(),
                count: shape.count.expect(WITHOUT_FAULTS),
                capacity: all.map(|(_, capacity)| capacity).collect(),
                server,
                types: served.into_iter().filter_map(place).collect(),
            });
        }
        let warn = |&i: &usize| unserved_warning(i, &self.jobs[i].name);
        let idle = idle.iter().map(warn);
        let fractions = (0..resources.len()).filter_map(|j| self.fractions(j, &envelope));
        let warnings = idle.chain(fractions).collect();
        Ok((Fleet { envelope, shapes }, warnings))
    }

    /// Returns a warning if jobs demand fractions of resource j.
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
                is_of_gpus(name) && capacity > Decimal::ONE,
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

/// Returns what a job needs of which there is less.
fn needs(short: &[Shortfall<'_>]) -> String {
    let each = |(name, demand, has): &Shortfall<'_>| format!("{demand} `{name}` of {has}");
    short.iter().map(each).collect::<Vec<_>>().join(", ")
}

impl DraftShape {
    fn check_capacity(&self, h: usize, is_one: bool, devices: &[String], faults: &mut Vec<Fault>) {
        let expected = if is_one { "> 0" } else { "≥ 0" };
        for (name, capacity) in &self.capacity {
            let mut refuse = |message: String, help: String| {
                let at = place!("servers", h, "capacity", name);
                faults.push(Fault::new(at, message, help));
            };
            if let Some(message) = unusable("the name of a resource", name) {
                let help = "give every resource a name, such as `cpu`";
                refuse(message, help.into());
            }
            let too_little = |c: &Decimal| *c < Decimal::ZERO || is_one && *c == Decimal::ZERO;
            if let Some(found) = capacity.filter(too_little) {
                refuse(
                    format!("capacity of `{name}` is {found}, expected a number {expected}"),
                    format!("write how much `{name}` such a server has, or leave it out"),
                );
            }
            let count = self.count.map_or(1.0, f64::from);
            let is_number = |c: f64| c.fract() == 0.0 && c * count <= MOST_DEVICES;
            if let Some(found) =
                capacity.filter(|c| devices.contains(name) && !is_number(c.value()))
            {
                refuse(
                    format!(
                        "`{name}` has {found} devices, expected a whole number, and {MOST_DEVICES} at most on all servers of the shape"
                    ),
                    "write how many devices such a server has".into(),
                );
            }
        }
        let zero = Some(Decimal::ZERO);
        // A capacity of 0 on the only server has its own fault.
        let is_empty = |own: &Option<Decimal>| *own == zero && !is_one;
        if self.capacity.iter().all(|(_, own)| is_empty(own)) {
            faults.push(Fault::new(
                place!("servers", h),
                "the server has no resources",
                "name at least one: `capacity: {cpu: 128}`",
            ));
        }
    }
}
