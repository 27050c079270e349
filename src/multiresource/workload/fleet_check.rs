//! The checks that turn plain values into a [`Fleet`].

use std::collections::BTreeMap;

use super::check::{Checked, Draft, DraftJob, WITHOUT_FAULTS, repeated};
use super::fleet::{Fleet, Shape};
use crate::document::{Fault, Step, place, suggest, unusable};
use crate::number::Decimal;

/// More servers of one shape than this are better modelled as a fluid than one by one.
const MOST_SERVERS: u32 = 100_000;

/// A fleet as given, nothing checked. `None` stands for a number that is already reported.
pub(super) struct FleetDraft {
    /// Its jobs; its server is empty.
    pub jobs: Draft,
    pub shapes: Vec<DraftShape>,
}

/// A shape as given; a resource without an entry in `capacity` is lacking.
pub(super) struct DraftShape {
    pub name: String,
    pub count: Option<u32>,
    pub capacity: Vec<(String, Option<Decimal>)>,
}

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

impl FleetDraft {
    /// What a fleet was made of.
    pub(super) fn of(fleet: &Fleet) -> Self {
        let resources = fleet.envelope().resources();
        let shapes = fleet.shapes().iter().map(|shape| DraftShape {
            name: shape.name.clone(),
            count: Some(shape.count),
            capacity: resources
                .iter()
                .zip(&shape.capacity)
                .filter(|(_, capacity)| **capacity > Decimal::ZERO)
                .map(|(resource, capacity)| (resource.name().to_owned(), Some(*capacity)))
                .collect(),
        });
        FleetDraft {
            shapes: shapes.collect(),
            jobs: Draft {
                capacity: Vec::new(),
                ..Draft::of(fleet.envelope())
            },
        }
    }

    /// The fleet with its shapes in this order, or all faults: those found so far and its own.
    pub(super) fn check(self, mut faults: Vec<Fault>) -> Result<Checked<Fleet>, Vec<Fault>> {
        faults.extend(self.faults());
        match faults.is_empty() {
            true => self.build(),
            false => Err(faults),
        }
    }

    /// The same with the shapes in the order of [`FleetDraft::order`], which whoever wrote them did not choose: faults
    /// have the places that shapes are written at.
    pub(super) fn check_in_order(
        mut self,
        mut faults: Vec<Fault>,
    ) -> Result<Checked<Fleet>, Vec<Fault>> {
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

    /// Every fault that single values, names, shapes and types show.
    fn faults(&self) -> Vec<Fault> {
        let mut faults = self.jobs.faults_of_jobs();
        self.check_shapes(&mut faults);
        for i in 0..self.jobs.jobs.len() {
            self.check_known(i, &mut faults);
        }
        // Who fits where is told once it is known what the shapes have.
        if faults.is_empty() {
            (0..self.jobs.jobs.len()).for_each(|i| {
                self.check_fit(i, &mut faults);
                self.check_gang(i, &mut faults);
            });
            (0..self.shapes.len()).for_each(|h| self.check_use(h, &mut faults));
        }
        faults
    }

    fn check_shapes(&self, faults: &mut Vec<Fault>) {
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
            shape.check_capacity(h, faults);
        }
    }

    fn check_known(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs.jobs[i];
        let known = self.resources();
        for (resource, _) in &job.demand {
            if known.is_empty() || known.contains(&resource.as_str()) {
                continue;
            }
            let names = suggest(resource, "the servers have", &known);
            faults.push(
            Fault::new(
                place!("jobs", i, "demand", resource),
                format!(
                    "type `{}` demands `{resource}`, which every server lacks",
                    job.name
                ),
                format!(
                    "add it to the capacity of those servers that have it, or correct the name; {names}"
                ),
            )
            .of_key());
        }
    }

    /// A type that arrives must fit on an empty server of some shape.
    fn check_fit(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs.jobs[i];
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
        let parts = short(closest);
        let needs = parts
            .iter()
            .map(|(resource, demand, has)| format!("{demand} `{resource}` of {has}"));
        faults.push(Fault::new(
            place!("jobs", i, "demand", parts[0].0),
            format!(
                "type `{}` fits on no server; closest is shape `{}`, where it needs {}",
                job.name,
                closest.name,
                needs.collect::<Vec<_>>().join(", ")
            ),
            "lower the demand, raise a capacity, or leave the type out with `arrival_rate: 0`",
        ));
    }

    /// There are as many servers that hold a part of a job as it takes.
    fn check_gang(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs.jobs[i];
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
        } else if servers > 0 && u64::from(nodes) > servers {
            let parts = holding().map(|shape| format!("{} `{}`", count(shape), shape.name));
            let parts: Vec<String> = parts.collect();
            let others = self.shapes.iter().filter(|shape| !holds(shape));
            let others = others.map(|shape| {
                let short = shape.shortfalls(job);
                let short = short
                    .iter()
                    .map(|(r, demand, has)| format!("{demand} `{r}` of {has}"));
                format!(
                    "`{}` ({})",
                    shape.name,
                    short.collect::<Vec<_>>().join(", ")
                )
            });
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
        let jobs = self.jobs.jobs.iter().enumerate();
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

    /// Only for a draft without faults.
    fn build(self) -> Result<Checked<Fleet>, Vec<Fault>> {
        let resources = self.resources();
        let most = |name: &&str| {
            let of_shapes = self.shapes.iter().map(|shape| shape.capacity_for(name));
            let most = of_shapes.fold(Decimal::ZERO, |a, b| if a < b { b } else { a });
            ((*name).to_owned(), Some(most))
        };
        let mut envelope = self.jobs.clone();
        envelope.capacity = resources.iter().map(most).collect();
        let (workload, warnings) = envelope.build()?;
        let idle = |i: &usize| self.jobs.jobs[*i].is_idle();
        // Types that do not arrive have no place in the checked fleet.
        let place = |i: usize| i - (0..i).filter(idle).count();
        let mut shapes = Vec::new();
        for shape in &self.shapes {
            let types: Vec<usize> = self.served(shape).collect();
            shapes.push(Shape {
                name: shape.name.clone(),
                count: shape.count.expect(WITHOUT_FAULTS),
                capacity: resources.iter().map(|r| shape.capacity_for(r)).collect(),
                server: self.server(shape, &types, &resources)?,
                types: types.into_iter().map(place).collect(),
            });
        }
        let fleet = Fleet {
            envelope: workload,
            shapes,
        };
        Ok((fleet, warnings))
    }

    /// One server of the shape, with these types.
    fn server(
        &self,
        shape: &DraftShape,
        types: &[usize],
        resources: &[&str],
    ) -> Result<super::Workload, Vec<Fault>> {
        let has = |name: &str| shape.capacity_for(name) > Decimal::ZERO;
        let capacity = resources.iter().filter(|name| has(name));
        let job = |i: &usize| {
            let mut job = self.jobs.jobs[*i].clone();
            job.demand.retain(|(name, _)| has(name));
            job
        };
        let draft = Draft {
            source: self.jobs.source.clone(),
            time_unit: self.jobs.time_unit.clone(),
            known: self.jobs.known.clone(),
            modulation: self.jobs.modulation.clone(),
            start_latency: self.jobs.start_latency.clone(),
            capacity: capacity
                .map(|name| ((*name).to_owned(), Some(shape.capacity_for(name))))
                .collect(),
            jobs: types.iter().map(job).collect(),
        };
        // The types of this server have other places in the fleet.
        let located = |mut fault: Fault| match fault.place.steps() {
            [jobs, Step::Index(k), rest @ ..] => {
                fault.message += &format!(", of shape `{}`", shape.name);
                let head = [jobs.clone(), types[*k].into()].into_iter();
                let place = head.chain(rest.iter().cloned()).collect();
                fault.at(place)
            }
            _ => fault,
        };
        let checked = draft.build();
        let checked = checked.map_err(|faults| faults.into_iter().map(located).collect::<Vec<_>>());
        Ok(checked?.0)
    }
}

impl DraftShape {
    fn check_capacity(&self, h: usize, faults: &mut Vec<Fault>) {
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
            if let Some(capacity) = capacity.filter(|c| *c < Decimal::ZERO) {
                let message = format!(
                    "capacity of `{name}` of shape `{}` is {capacity}, expected a number ≥ 0",
                    self.name
                );
                let help = format!("write how much `{name}` such a server has; 0 if none");
                faults.push(Fault::new(place(), message, help));
            }
        }
        if self.capacity.iter().all(|(_, c)| *c == Some(Decimal::ZERO)) {
            faults.push(Fault::new(
                place!("servers", h),
                format!("shape `{}` has no resources", self.name),
                "name at least one: `capacity: {cpu: 128}`",
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
