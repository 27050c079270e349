//! The checks of servers, and the fleet that is built of what has no faults.

use std::collections::BTreeMap;

use super::check::{
    Checked, Draft, DraftJob, DraftShape, WITHOUT_FAULTS, repeated, unserved_warning,
};
use super::fleet::{Fleet, Shape};
use crate::document::{Fault, place, suggest, unusable};
use crate::number::Decimal;

/// More servers of one shape than this are better modelled as a fluid than one by one.
const MOST_SERVERS: u32 = 100_000;

impl DraftShape {
    /// 0 for a resource not named, and for a number already reported.
    fn capacity_for(&self, resource: &str) -> Decimal {
        let named = self.capacity.iter().find(|(name, _)| name == resource);
        named.and_then(|(_, value)| *value).unwrap_or(Decimal::ZERO)
    }

    /// What a job needs more of than there is: the resource, the demand, the capacity.
    fn shortfalls<'a>(&self, job: &'a DraftJob) -> Vec<(&'a str, Decimal, Decimal)> {
        let demand = job.demand.iter();
        let pairs = demand.filter_map(|(name, demand)| Some((name.as_str(), (*demand)?)));
        let short = pairs.map(|(name, demand)| (name, demand, self.capacity_for(name)));
        short.filter(|(_, demand, has)| demand > has).collect()
    }
}

impl Draft {
    /// Whether there is one server.
    pub(super) fn is_one_server(&self) -> bool {
        matches!(&self.shapes[..], [shape] if shape.count == Some(1))
    }

    /// The fleet with its shapes in the order of [`Draft::order`], which whoever wrote them did not choose: faults
    /// have the places that shapes are written at.
    pub(super) fn check_in_order(mut self, mut faults: Vec<Fault>) -> Result<Checked, Vec<Fault>> {
        faults.extend(self.faults());
        if !faults.is_empty() {
            return Err(faults);
        }
        self.order();
        self.build()
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
            (
                self.served(shape).count(),
                size.to_bits(),
                shape.name.clone(),
            )
        });
        self.shapes = shapes;
    }

    /// What fits where, and whether each shape is of use.
    pub(super) fn check_fits(&self, faults: &mut Vec<Fault>) {
        for i in 0..self.jobs.len() {
            self.check_fit(i, faults);
            self.check_gang(i, faults);
        }
        if !self.is_one_server() {
            (0..self.shapes.len()).for_each(|h| self.check_use(h, faults));
        }
    }

    pub(super) fn check_shapes(&self, faults: &mut Vec<Fault>) {
        const EXAMPLE: &str =
            "list at least one: `servers: [{name: big, count: 4, capacity: {cpu: 96}}]`";
        if self.shapes.is_empty() {
            faults.push(Fault::new(
                place!("servers"),
                "there are no server shapes",
                EXAMPLE,
            ));
        }
        for (h, shape) in self.shapes.iter().enumerate() {
            let twice = self.shapes[..h].iter().any(|s| s.name == shape.name);
            if let Some(message) = unusable("the name of a shape", &shape.name) {
                let help =
                    "give every shape a name, such as `big`; without one it is `shape-1` and so on";
                faults.push(Fault::new(place!("servers", h), message, help));
            } else if twice {
                let message = format!("a second shape is named `{}`", shape.name);
                let help = "rename one of them, or add their counts: results are reported by name";
                faults.push(Fault::new(place!("servers", h), message, help));
            }
            let unusable = |count: &u32| !(1..=MOST_SERVERS).contains(count);
            if let Some(count) = shape.count.filter(unusable) {
                faults.push(wrong_count(h, &shape.name, count));
            }
            shape.check_capacity(h, self.is_one_server(), faults);
        }
    }

    pub(super) fn check_known(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        let known = self.resources();
        for (resource, _) in &job.demand {
            if known.is_empty() || known.contains(&resource.as_str()) {
                continue;
            }
            let (have, lacks, add) = if self.is_one_server() {
                ("the server has", "the server lacks", "server.capacity")
            } else {
                let add = "the capacity of those servers that have it";
                ("the servers have", "every server lacks", add)
            };
            let message = format!("type `{}` demands `{resource}`, which {lacks}", job.name);
            let names = suggest(resource, have, &known);
            let help = format!("add it to {add}, or correct the name; {names}");
            let at = place!("jobs", i, "demand", resource);
            faults.push(Fault::new(at, message, help).of_key());
        }
    }

    /// A type that arrives must fit on an empty server of some shape.
    fn check_fit(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        if job.is_idle() {
            return;
        }
        let short = |shape: &DraftShape| shape.shortfalls(job);
        if self.shapes.iter().any(|shape| short(shape).is_empty()) {
            return;
        }
        // The closest miss: fewest resources short, and then the least part of the demand.
        let missing = |shape: &DraftShape| {
            let parts = short(shape);
            let part =
                |(_, demand, has): &(&str, Decimal, Decimal)| 1.0 - has.value() / demand.value();
            (parts.len(), parts.iter().map(part).fold(0.0, f64::max))
        };
        let closest = self.shapes.iter().min_by(|a, b| {
            let (a, b) = (missing(a), missing(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let Some(closest) = closest else { return };
        let mut parts = short(closest);
        if self.is_one_server() {
            // What it lacks altogether is reported where it is demanded.
            parts.retain(|(_, _, has)| *has > Decimal::ZERO);
        }
        if parts.is_empty() {
            return;
        }
        let (name, needs) = (&job.name, needs(&parts));
        let message = if self.is_one_server() {
            format!("type `{name}` does not fit on the empty server: it needs {needs}")
        } else {
            let shape = &closest.name;
            format!(
                "type `{name}` fits on no server; closest is shape `{shape}`, where it needs {needs}"
            )
        };
        let which = if self.is_one_server() { "the" } else { "a" };
        faults.push(Fault::new(
            place!("jobs", i, "demand", parts[0].0),
            message,
            format!("lower the demand, raise {which} capacity, or leave the type out with `arrival_rate: 0`"),
        ));
    }

    /// There are as many servers that hold a part of a job as it takes.
    fn check_gang(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        let Some(nodes) = job.nodes.filter(|_| !job.is_idle()) else {
            return;
        };
        let holds = |shape: &&DraftShape| shape.shortfalls(job).is_empty();
        let holding = || self.shapes.iter().filter(holds);
        let count = |shape: &DraftShape| u64::from(shape.count.unwrap_or(0));
        let servers: u64 = holding().map(count).sum();
        if nodes == 0 {
            faults.push(Fault::new(
                place!("jobs", i, "nodes"),
                format!("type `{}` takes 0 servers, expected 1 at least", job.name),
                "write how many servers a job takes at once, or leave `nodes` out for one",
            ));
        } else if nodes > 1 && self.is_one_server() {
            faults.push(Fault::new(
                place!("jobs", i, "nodes"),
                format!("type `{}` takes {nodes} servers at once, and here is one", job.name),
                "list the servers of the fleet under `servers:`, where such jobs wait in one place, or leave `nodes` out",
            ));
        } else if servers > 0 && u64::from(nodes) > servers {
            let parts = holding().map(|shape| format!("{} `{}`", count(shape), shape.name));
            let parts: Vec<String> = parts.collect();
            let others = self.shapes.iter().filter(|shape| !holds(shape));
            let others =
                others.map(|shape| format!("`{}` ({})", shape.name, needs(&shape.shortfalls(job))));
            let others: Vec<String> = others.collect();
            let lacking = match others.is_empty() {
                true => String::new(),
                false => format!("; on {} it does not fit", others.join(", ")),
            };
            faults.push(Fault::new(
                place!("jobs", i, "nodes"),
                format!(
                    "type `{}` takes {nodes} servers at once, and only {servers} can hold a part of it: {}{lacking}",
                    job.name,
                    parts.join(" + ")
                ),
                "lower `nodes` or the demand, add servers, or leave the type out with `arrival_rate: 0`",
            ));
        }
    }

    /// On a server of each shape some type fits.
    fn check_use(&self, h: usize, faults: &mut Vec<Fault>) {
        if self.served(&self.shapes[h]).next().is_none() {
            faults.push(Fault::new(
                place!("servers", h),
                format!("no type fits on shape `{}`", self.shapes[h].name),
                "leave the shape out, or raise its capacity",
            ));
        }
    }

    /// The places of the types that arrive and fit on a shape.
    fn served<'a>(&'a self, shape: &'a DraftShape) -> impl Iterator<Item = usize> + 'a {
        let fits = |job: &DraftJob| !job.is_idle() && shape.shortfalls(job).is_empty();
        let jobs = self.jobs.iter().enumerate();
        jobs.filter(move |(_, job)| fits(job)).map(|(i, _)| i)
    }

    /// The resources of all shapes, in the order in which they are named first.
    fn resources(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.shapes.iter().flat_map(|shape| &shape.capacity) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The first shape that has a resource.
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
            let all = resources
                .iter()
                .map(|&name| (name, shape.capacity_for(name)));
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
        Ok((Fleet { envelope, shapes }, idle.iter().map(warn).collect()))
    }
}

/// What a job needs of which there is less.
fn needs(short: &[(&str, Decimal, Decimal)]) -> String {
    let each = short
        .iter()
        .map(|(name, demand, has)| format!("{demand} `{name}` of {has}"));
    each.collect::<Vec<_>>().join(", ")
}

impl DraftShape {
    fn check_capacity(&self, h: usize, is_one: bool, faults: &mut Vec<Fault>) {
        for name in repeated(self.capacity.iter().map(|(name, _)| name)) {
            faults.push(Fault::new(
                place!("servers", h, "capacity", name),
                format!("the resource `{name}` stands twice"),
                "keep one of them, or rename it",
            ));
        }
        for (name, capacity) in &self.capacity {
            let place = || place!("servers", h, "capacity", name);
            if let Some(message) = unusable("the name of a resource", name) {
                let help = "give every resource a name, such as `cpu`";
                faults.push(Fault::new(place(), message, help));
            }
            let too_little = |c: &Decimal| *c < Decimal::ZERO || is_one && *c == Decimal::ZERO;
            if let Some(capacity) = capacity.filter(too_little) {
                let (of, expected, help) = if is_one {
                    let help =
                        format!("write how much `{name}` the server has, or delete the resource");
                    (String::new(), "> 0", help)
                } else {
                    let help = format!("write how much `{name}` such a server has; 0 if none");
                    (format!(" of shape `{}`", self.name), "≥ 0", help)
                };
                faults.push(Fault::new(
                    place(),
                    format!("capacity of `{name}`{of} is {capacity}, expected a number {expected}"),
                    help,
                ));
            }
        }
        let is_zero = |(_, c): &(String, Option<Decimal>)| *c == Some(Decimal::ZERO);
        if self.capacity.is_empty() || !is_one && self.capacity.iter().all(is_zero) {
            let (what, help) = if is_one {
                (
                    "the server".to_owned(),
                    "name at least one: `server: {capacity: {cpu: 128}}`",
                )
            } else {
                let what = format!("shape `{}`", self.name);
                (what, "name at least one: `capacity: {cpu: 128}`")
            };
            faults.push(Fault::new(
                place!("servers", h),
                format!("{what} has no resources"),
                help,
            ));
        }
    }
}

/// No servers, or too many.
fn wrong_count(h: usize, name: &str, found: u32) -> Fault {
    Fault::new(
        place!("servers", h, "count"),
        format!(
            "count of shape `{name}` is {found}, expected a whole number from 1 to {MOST_SERVERS}"
        ),
        "write how many servers have this shape; leave the shape out if none",
    )
}
