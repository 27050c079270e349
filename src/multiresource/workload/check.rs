//! The checks that turn plain values into a [`Workload`].

use std::collections::HashSet;

use super::{JobType, Known, Resource, Workload, most_alone};
use crate::document::{Fault, Place, place, suggest, unusable};
use crate::law::{ArrivalProcess, CommonModulation, Holding, Part, Size};
use crate::number::{Decimal, Units, in_units};

/// With more jobs of one type on the server than this, schedules are too many to list: a fluid
/// model serves better.
const MOST_ALONE: u64 = 1_000_000;

/// Why each number of a draft is there once the draft is built.
pub(super) const WITHOUT_FAULTS: &str = "a draft is built once it has no faults";

/// A workload as given, nothing checked. `None` stands for a number that is already reported.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub source: Option<String>,
    pub time_unit: String,
    pub known: Option<Known>,
    pub modulation: Option<CommonModulation>,
    pub start_latency: Option<Size>,
    pub capacity: Vec<(String, Option<Decimal>)>,
    pub jobs: Vec<DraftJob>,
}

/// One job type as given; a resource without an entry in `demand` is not demanded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DraftJob {
    pub name: String,
    pub nodes: Option<u32>,
    pub demand: Vec<(String, Option<Decimal>)>,
    pub arrivals: Option<ArrivalProcess>,
    pub size: Option<Size>,
    pub limit: Option<Decimal>,
}

/// What is sound, and what to warn of.
pub(super) type Checked<W> = (W, Vec<Fault>);

impl Draft {
    /// The values of a checked workload, to be changed and checked again.
    pub(super) fn of(workload: &Workload) -> Self {
        let named = |amounts: &[Decimal]| {
            let pairs = workload.resources.iter().zip(amounts);
            let pairs = pairs.map(|(resource, amount)| (resource.name.clone(), Some(*amount)));
            pairs.collect()
        };
        let capacity: Vec<Decimal> = workload.resources.iter().map(|r| r.capacity).collect();
        let jobs = workload.types.iter().map(|job| DraftJob {
            name: job.name.clone(),
            nodes: Some(job.nodes),
            demand: named(&job.demand),
            arrivals: Some(job.arrivals.clone()),
            size: Some(job.size().clone()),
            limit: job.limit,
        });
        Draft {
            source: workload.source.clone(),
            time_unit: workload.time_unit.clone(),
            known: workload.known.clone(),
            modulation: workload.modulation.clone(),
            start_latency: workload.start_latency.clone(),
            capacity: named(&capacity),
            jobs: jobs.collect(),
        }
    }

    /// The workload, or all faults: those found so far and its own.
    pub(super) fn check(self, mut faults: Vec<Fault>) -> Result<Checked<Workload>, Vec<Fault>> {
        faults.extend(self.faults());
        match faults.is_empty() {
            true => self.build(),
            false => Err(faults),
        }
    }

    /// Every fault that single values, names and types show.
    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        self.check_server(&mut faults);
        faults.extend(self.faults_of_jobs());
        for i in 0..self.jobs.len() {
            self.check_known(i, &mut faults);
            self.check_fit(i, &mut faults);
            self.check_nodes(i, &mut faults);
        }
        faults
    }

    /// Those that show without a look at the server.
    pub(super) fn faults_of_jobs(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        self.check_time_unit(&mut faults);
        faults.extend(self.known.iter().flat_map(Known::faults));
        faults.extend(self.faults_of_start_latency());
        self.check_jobs(&mut faults);
        for i in 0..self.jobs.len() {
            self.check_demand(i, &mut faults);
            self.check_laws(i, &mut faults);
            self.check_limit(i, &mut faults);
        }
        self.check_modulation(&mut faults);
        faults
    }

    fn check_time_unit(&self, faults: &mut Vec<Fault>) {
        if let Some(message) = unusable("the unit of time", &self.time_unit) {
            faults.push(Fault::new(
                place!("time_unit"),
                message,
                "name the unit, for instance `time_unit: s`",
            ));
        }
    }

    fn check_server(&self, faults: &mut Vec<Fault>) {
        if self.capacity.is_empty() {
            faults.push(Fault::new(
                place!("server", "capacity"),
                "the server has no resources",
                "name at least one: `server: {capacity: {cpu: 128}}`",
            ));
        }
        for name in repeated(self.capacity.iter().map(|(name, _)| name)) {
            faults.push(Fault::new(
                place!("server", "capacity", name),
                format!("the resource `{name}` stands twice"),
                "keep one of them, or rename it",
            ));
        }
        for (name, capacity) in &self.capacity {
            let place = || place!("server", "capacity", name);
            if let Some(message) = unusable("the name of a resource", name) {
                faults.push(Fault::new(
                    place(),
                    message,
                    "give every resource a name, such as `cpu`",
                ));
            }
            if let Some(capacity) = capacity.filter(|c| *c <= Decimal::ZERO) {
                faults.push(Fault::new(
                    place(),
                    format!("capacity of `{name}` is {capacity}, expected a number > 0"),
                    format!("write how much `{name}` the server has, or delete the resource"),
                ));
            }
        }
    }

    fn check_jobs(&self, faults: &mut Vec<Fault>) {
        if self.jobs.is_empty() {
            faults.push(Fault::new(
                place!("jobs"),
                "there are no job types",
                "list at least one: `- {name: web, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}`",
            ));
        } else if self.jobs.iter().all(DraftJob::is_idle) {
            faults.push(Fault::new(
                place!("jobs"),
                "every arrival rate is 0, so nothing arrives",
                "give at least one type an arrival_rate > 0",
            ));
        }
        let mut seen = HashSet::new();
        for (i, job) in self.jobs.iter().enumerate() {
            if let Some(message) = unusable("the name of a type", &job.name) {
                faults.push(Fault::new(
                    place!("jobs", i),
                    message,
                    "give every type a name of its own, such as `web`",
                ));
            } else if !seen.insert(&job.name) {
                faults.push(Fault::new(
                    place!("jobs", i),
                    format!("a second type is named `{}`", job.name),
                    "rename one of them: results are reported by name",
                ));
            }
        }
    }

    fn check_demand(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob { name, demand, .. } = &self.jobs[i];
        for (resource, demand) in demand {
            if let Some(demand) = demand.filter(|d| *d < Decimal::ZERO) {
                faults.push(Fault::new(
                    place!("jobs", i, "demand", resource),
                    format!("demand of type `{name}` for `{resource}` is {demand}, expected a number ≥ 0"),
                    "write how much one job occupies while it runs; leave the resource out if none",
                ));
            }
        }
        if demand
            .iter()
            .all(|(_, demand)| *demand == Some(Decimal::ZERO))
        {
            faults.push(Fault::new(
                place!("jobs", i),
                format!("type `{name}` demands nothing: all its demands are 0"),
                "give it a demand > 0 for some resource; without one it needs no scheduling",
            ));
        }
    }

    fn check_known(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob { name, demand, .. } = &self.jobs[i];
        let known: Vec<&str> = self
            .capacity
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        for (resource, _) in demand {
            if known.is_empty() || known.contains(&resource.as_str()) {
                continue;
            }
            let names = suggest(resource, "the server has", &known);
            faults.push(
                Fault::new(
                    place!("jobs", i, "demand", resource),
                    format!("type `{name}` demands `{resource}`, which the server lacks"),
                    format!("add it to server.capacity, or correct the name; {names}"),
                )
                .of_key(),
            );
        }
    }

    /// A type that arrives must fit on the empty server. One that does not arrive need not: rate
    /// 0 is the way to leave a type out.
    fn check_fit(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        if job.is_idle() {
            return;
        }
        let mut short = Vec::new();
        for (resource, capacity) in &self.capacity {
            let (Some(capacity), Some(demand)) = (*capacity, job.demand_for(resource)) else {
                continue;
            };
            if capacity > Decimal::ZERO && demand > capacity {
                short.push((resource, format!("{demand} `{resource}` of {capacity}")));
            }
        }
        let Some((first, _)) = short.first() else {
            return;
        };
        let needs: Vec<&str> = short.iter().map(|(_, needs)| needs.as_str()).collect();
        faults.push(Fault::new(
            place!("jobs", i, "demand", *first),
            format!(
                "type `{}` does not fit on the empty server: it needs {}",
                job.name,
                needs.join(", ")
            ),
            "lower the demand, raise the capacity, or leave the type out with `arrival_rate: 0`",
        ));
    }

    /// A job that takes several servers needs a queue over them.
    fn check_nodes(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob { name, nodes, .. } = &self.jobs[i];
        if let Some(nodes) = nodes.filter(|nodes| *nodes > 1) {
            faults.push(Fault::new(
                place!("jobs", i, "nodes"),
                format!("type `{name}` takes {nodes} servers at once, and here is one"),
                "list the servers of the fleet under `servers:`, where such jobs wait in one place, or leave `nodes` out",
            ));
        }
    }

    fn check_limit(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob { name, limit, .. } = &self.jobs[i];
        let told = match limit {
            Some(limit) if *limit > Decimal::ZERO => return,
            None if self.known != Some(Known::TypeLimit) => return,
            Some(limit) => format!("limit of type `{name}` is {limit}, expected a number > 0"),
            None => format!(
                "type `{name}` has no limit, and `known: type-limit` says that every type has one"
            ),
        };
        faults.push(Fault::new(
            place!("jobs", i, "limit"),
            told,
            format!(
                "write how many {} its jobs promise not to run longer than: `limit: 3600`",
                self.time_unit
            ),
        ));
    }

    fn check_laws(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob {
            name,
            arrivals,
            size,
            ..
        } = &self.jobs[i];
        let owner = format!("type `{name}`");
        let rate = arrivals.as_ref().and_then(|arrivals| {
            let place = place!("jobs", i, "arrivals");
            let unsound = arrivals.faults(&owner, &self.time_unit).into_iter();
            let unsound = unsound.map(|fault| match arrivals {
                ArrivalProcess::Poisson { .. } => fault.at(place!("jobs", i, "arrival_rate")),
                _ => fault.within(&place),
            });
            let unsound = unsound.collect();
            let range = || self.jobs[i].is_idle() || arrivals.in_range();
            sound(unsound, range, place, "arrivals", name, faults).then(|| arrivals.rate())
        });
        let mean = size.as_ref().and_then(|size| {
            let place = place!("jobs", i, "size");
            let unsound = size.faults(Part::Size, &owner, &self.time_unit).into_iter();
            let unsound = unsound.map(|fault| fault.within(&place)).collect();
            let range = || size.in_range();
            let mean = || size.mean() + self.mean_start_latency();
            sound(unsound, range, place, "sizes", name, faults).then(mean)
        });
        let (Some(rate), Some(mean)) = (rate, mean) else {
            return;
        };
        let load = rate * mean;
        if rate > 0.0 && !(load > 0.0 && load.is_finite()) {
            let [rate, mean] = [rate, mean].map(|x| Decimal::new(x).unwrap_or(Decimal::ZERO));
            faults.push(Fault::new(
                place!("jobs", i, "size"),
                format!("arrival rate {rate} times mean size {mean} of type `{name}` is out of the range of numbers"),
                "check both numbers, or choose another unit of time",
            ));
        }
    }

    /// What is common to all types is sound, and so are types under it.
    fn check_modulation(&self, faults: &mut Vec<Fault>) {
        let Some(modulation) = &self.modulation else {
            return;
        };
        let within = |found: Vec<Fault>| {
            let found = found.into_iter();
            found.map(|fault| fault.within(&place!("modulation")))
        };
        faults.extend(within(modulation.faults(&self.time_unit)));
        for (i, job) in self.jobs.iter().enumerate() {
            faults.extend(job.not_modulated(i));
        }
        if !faults.is_empty() {
            return;
        }
        let processes = self.jobs.iter().filter_map(|job| job.arrivals.as_ref());
        let arrivals: f64 = processes.map(ArrivalProcess::rate).sum();
        if arrivals.is_finite() && !modulation.in_range(arrivals) {
            faults.push(Fault::new(
                place!("modulation"),
                "the modulation is out of the range of numbers",
                "check its numbers, or choose another unit of time",
            ));
        } else {
            faults.extend(within(modulation.too_fast(arrivals, &self.time_unit)));
        }
    }

    /// Only for a draft without faults: drops the types that do not arrive, and counts units.
    /// What no single value shows may still be wrong: integers or sums out of range.
    pub(super) fn build(self) -> Result<Checked<Workload>, Vec<Fault>> {
        let numbered = self.jobs.iter().enumerate();
        let (idle, served): (Vec<_>, Vec<_>) = numbered.partition(|(_, job)| job.is_idle());
        let units = self.units(&served)?;
        let workload = Workload {
            source: self.source.clone(),
            time_unit: self.time_unit.clone(),
            known: self.known.clone(),
            modulation: self.modulation.clone(),
            start_latency: self.start_latency(),
            resources: self.resources(&units),
            types: self.types(&served, &units)?,
            unserved: idle.iter().map(|(_, job)| job.name.clone()).collect(),
        };
        let load: f64 = workload.types.iter().map(JobType::offered_load).sum();
        if !(load.is_finite() && workload.total_arrival_rate().is_finite()) {
            return Err(vec![Fault::new(
                place!("jobs"),
                "the sum of the arrival rates, or of the loads, is out of the range of numbers",
                "choose another unit of time",
            )]);
        }
        let warnings = idle
            .iter()
            .map(|(i, job)| unserved_warning(*i, &job.name))
            .collect();
        Ok((workload, warnings))
    }

    fn types(
        &self,
        served: &[(usize, &DraftJob)],
        units: &[Units],
    ) -> Result<Vec<JobType>, Vec<Fault>> {
        let capacity: Vec<u64> = units.iter().map(|units| units.whole).collect();
        let mut faults = Vec::new();
        let mut types = Vec::new();
        let changes = |modulation: &CommonModulation| !modulation.is_constant();
        let modulated = self.modulation.as_ref().is_some_and(changes);
        for (k, (i, job)) in served.iter().enumerate() {
            let demand: Vec<u64> = units.iter().map(|units| units.parts[k]).collect();
            if most_alone(&capacity, &demand) > MOST_ALONE {
                faults.push(too_many(*i, &job.name));
            }
            types.push(job.checked(self, demand, modulated));
        }
        if faults.is_empty() {
            Ok(types)
        } else {
            Err(faults)
        }
    }

    fn resources(&self, units: &[Units]) -> Vec<Resource> {
        let sound = self.capacity.iter().zip(units);
        let resource = sound.map(|((name, capacity), units)| Resource {
            name: name.clone(),
            capacity: capacity.expect(WITHOUT_FAULTS),
            units: units.whole,
        });
        resource.collect()
    }

    fn units(&self, served: &[(usize, &DraftJob)]) -> Result<Vec<Units>, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut all = Vec::new();
        for (resource, capacity) in &self.capacity {
            let demand: Vec<Decimal> = served
                .iter()
                .map(|(_, job)| job.demand_for(resource).expect(WITHOUT_FAULTS))
                .collect();
            match in_units(capacity.expect(WITHOUT_FAULTS), &demand) {
                Some(units) => all.push(units),
                None => faults.push(too_fine(resource)),
            }
        }
        if faults.is_empty() {
            Ok(all)
        } else {
            Err(faults)
        }
    }
}

impl DraftJob {
    /// Whether the type does not arrive, and is left out.
    pub(super) fn is_idle(&self) -> bool {
        let zero = Decimal::ZERO;
        self.arrivals == Some(ArrivalProcess::Poisson { rate: zero })
    }

    /// 0 for a resource not named, `None` for a number already reported.
    pub(super) fn demand_for(&self, resource: &str) -> Option<Decimal> {
        let named = self.demand.iter().find(|(name, _)| name == resource);
        named.map_or(Some(Decimal::ZERO), |(_, demand)| *demand)
    }

    /// Arrivals that what is common to all types cannot modulate: those whose rate depends on a past of
    /// their own.
    fn not_modulated(&self, i: usize) -> Option<Fault> {
        let process = self.arrivals.as_ref()?;
        let what = match process {
            ArrivalProcess::Renewal { .. } => "renew",
            ArrivalProcess::MarkovModulated { .. } => "are modulated by a chain of their own",
            ArrivalProcess::Poisson { .. } | ArrivalProcess::Batches { .. } => return None,
        };
        Some(Fault::new(
            place!("jobs", i, "arrivals"),
            format!(
                "arrivals of type `{}` {what}, and `modulation` is for types that arrive as Poisson processes or in batches",
                self.name
            ),
            "write `arrival_rate` with their mean rate, or batches; or leave `modulation` out",
        ))
    }

    fn checked(&self, draft: &Draft, units: Vec<u64>, modulated: bool) -> JobType {
        let demand = draft
            .capacity
            .iter()
            .map(|(resource, _)| self.demand_for(resource));
        let arrivals = self.arrivals.clone().expect(WITHOUT_FAULTS);
        let size = self.size.clone().expect(WITHOUT_FAULTS);
        let holding = Holding::new(draft.start_latency(), size);
        JobType {
            name: self.name.clone(),
            nodes: self.nodes.expect(WITHOUT_FAULTS),
            demand: demand.collect::<Option<_>>().expect(WITHOUT_FAULTS),
            units,
            arrival_rate: arrivals.rate(),
            mean_size: holding.mean(),
            arrivals,
            modulated,
            holding,
            limit: self.limit,
        }
    }
}

/// Whether a law has no faults, and what is computed from it stays in the range of numbers; if
/// not, that is reported.
fn sound(
    unsound: Vec<Fault>,
    in_range: impl Fn() -> bool,
    place: Place,
    what: &str,
    name: &str,
    faults: &mut Vec<Fault>,
) -> bool {
    if !unsound.is_empty() {
        faults.extend(unsound);
        return false;
    }
    let in_range = in_range();
    if !in_range {
        faults.push(Fault::new(
            place,
            format!("the law of {what} of type `{name}` is out of the range of numbers"),
            "check its numbers, or choose another unit of time",
        ));
    }
    in_range
}

fn unserved_warning(i: usize, name: &str) -> Fault {
    Fault::new(
        place!("jobs", i, "arrival_rate"),
        format!("type `{name}` has arrival rate 0: it is left out, and no policy will serve it"),
        "give it an arrival_rate > 0 if it should be served",
    )
}

fn too_many(i: usize, name: &str) -> Fault {
    Fault::new(
        place!("jobs", i),
        format!("more than {MOST_ALONE} jobs of type `{name}` fit on the server"),
        "raise its demand, or describe a part of the server: no resource binds it",
    )
}

fn too_fine(resource: &str) -> Fault {
    Fault::new(
        place!("server", "capacity", resource),
        format!(
            "demands and capacity of `{resource}` have no common unit: counted in the greatest \
             one that divides all demands they exceed 2^53"
        ),
        "round the demands to a coarser grain, such as three significant digits",
    )
}

pub(super) fn repeated<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut seen = HashSet::new();
    names.filter(|name| !seen.insert(*name)).collect()
}
