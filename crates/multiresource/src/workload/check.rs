//! The checks that turn plain values into a [`Fleet`]: jobs here, servers in [`super::servers`].

use super::{Fleet, JobType, KnownSize, Resource, Workload, WorkloadHeader, most_alone};
use synth_core::document::{DocumentError, Fault, check_names, check_unit, place, within};
use synth_core::number::{Decimal, Units, in_units};
use synth_queues::law::{ArrivalProcess, CommonModulation, Holding, Part, Size};

/// With more jobs of one type on the server than this, schedules are too many to list: a fluid
/// model serves better.
const MOST_ALONE: u64 = 1_000_000;

/// Why each number of a draft is there once the draft is built.
pub(super) const WITHOUT_FAULTS: &str = "a draft is built once it has no faults";

/// A fleet as given, nothing checked. `None` stands for a number that is already reported.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub header: WorkloadHeader,
    pub shapes: Vec<DraftShape>,
    /// Names of the resources that consist of devices.
    pub devices: Vec<String>,
    pub jobs: Vec<DraftJob>,
    /// Names of types of which only that is known, since they do not arrive.
    pub unserved: Vec<String>,
}

/// A shape as given; a resource without an entry in `capacity` is lacking.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DraftShape {
    pub name: String,
    pub count: Option<u32>,
    pub capacity: Vec<(String, Option<Decimal>)>,
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
    pub priority: Decimal,
}

/// A fleet without faults, and what to warn of.
pub(super) type Checked = (Fleet, Vec<Fault>);

impl Draft {
    /// Checks the draft and builds the fleet with its shapes in this order.
    pub(super) fn check(self) -> Result<Checked, Vec<Fault>> {
        let faults = self.faults();
        if faults.is_empty() {
            self.build()
        } else {
            Err(faults)
        }
    }

    /// Builds the fleet of a draft that no document is behind.
    pub(super) fn fleet(self) -> Result<Fleet, DocumentError> {
        let (fleet, _) = self.check().map_err(DocumentError::without_text)?;
        Ok(fleet)
    }

    /// Returns every fault that single values, names, shapes and types show.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        check_unit(&self.header.time_unit, &mut faults);
        faults.extend(self.header.known.iter().flat_map(KnownSize::faults));
        faults.extend(self.faults_of_start_latency());
        self.check_jobs(&mut faults);
        for i in 0..self.jobs.len() {
            self.check_demand(i, &mut faults);
            self.check_laws(i, &mut faults);
            self.check_limit(i, &mut faults);
        }
        self.check_modulation(&mut faults);
        self.check_shapes(&mut faults);
        (0..self.jobs.len()).for_each(|i| self.check_known(i, &mut faults));
        // What fits where is looked at once it is known what there is.
        if faults.is_empty() || self.is_one_server() {
            self.check_fits(&mut faults);
        }
        faults
    }

    /// Returns the start latency, if jobs have one: a latency of 0 is none.
    pub(super) fn start_latency(&self) -> Option<Size> {
        let none = Size::Deterministic {
            mean: Decimal::ZERO,
        };
        self.header.start_latency.clone().filter(|law| *law != none)
    }

    fn faults_of_start_latency(&self) -> Vec<Fault> {
        let (part, unit) = (Part::Other("start latency"), &self.header.time_unit);
        let law = self.start_latency();
        let faults = law.map_or(Vec::new(), |law| law.faults(part, "all jobs", unit));
        within(faults, &place!("start_latency"))
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
        let names = self.jobs.iter().map(|job| &job.name);
        check_names("jobs", "type", names, faults);
    }

    fn check_demand(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob { name, demand, .. } = &self.jobs[i];
        for (resource, demand) in demand {
            let is_devices = self.devices.contains(resource);
            let expected = match is_devices {
                true => "a number from 0 to 1 or a whole number, since it consists of devices",
                false => "a number ≥ 0",
            };
            let is_split = |d: f64| is_devices && d > 1.0 && d.fract() != 0.0;
            if let Some(demand) = demand.filter(|d| *d < Decimal::ZERO || is_split(d.value())) {
                faults.push(Fault::new(
                    place!("jobs", i, "demand", resource),
                    format!(
                        "demand of type `{name}` for `{resource}` is {demand}, expected {expected}"
                    ),
                    "write how much one job occupies while it runs; leave the resource out if none",
                ));
            }
        }
        let zero = Some(Decimal::ZERO);
        if demand.iter().all(|(_, demand)| *demand == zero) {
            faults.push(Fault::new(
                place!("jobs", i),
                format!("type `{name}` demands nothing: all its demands are 0"),
                "give it a demand > 0 for some resource; without one it needs no scheduling",
            ));
        }
    }

    fn check_limit(&self, i: usize, faults: &mut Vec<Fault>) {
        let DraftJob { name, limit, .. } = &self.jobs[i];
        let message = match limit {
            Some(limit) if *limit > Decimal::ZERO => return,
            None if self.header.known != Some(KnownSize::TypeLimit) => return,
            Some(limit) => format!("limit of type `{name}` is {limit}, expected a number > 0"),
            None => format!(
                "type `{name}` has no limit, and `known: type-limit` says that every type has one"
            ),
        };
        faults.push(Fault::new(
            place!("jobs", i, "limit"),
            message,
            format!(
                "write how many {} its jobs promise not to run longer than: `limit: 3600`",
                self.header.time_unit
            ),
        ));
    }

    fn check_laws(&self, i: usize, faults: &mut Vec<Fault>) {
        let job = &self.jobs[i];
        let (name, arrivals, size) = (&job.name, &job.arrivals, &job.size);
        let (owner, unit) = (format!("type `{name}`"), &self.header.time_unit);
        let before = faults.len();
        if let Some(arrivals) = arrivals {
            let found = arrivals.faults(&owner, unit).into_iter();
            faults.extend(found.map(|fault| match arrivals {
                ArrivalProcess::Poisson { .. } => fault.at(place!("jobs", i, "arrival_rate")),
                _ => fault.within(&place!("jobs", i, "arrivals")),
            }));
        }
        if let Some(size) = size {
            let found = size.faults(Part::Size, &owner, unit);
            faults.extend(within(found, &place!("jobs", i, "size")));
        }
        let (Some(arrivals), Some(size)) = (arrivals, size) else {
            return;
        };
        if faults.len() > before {
            return;
        }
        // A start latency with faults is reported elsewhere.
        let latency = self.start_latency().map_or(0.0, |law| law.mean());
        let latency = Some(latency).filter(|own| own.is_finite() && *own > 0.0);
        let latency = latency.unwrap_or(0.0);
        let (rate, mean) = (arrivals.rate(), size.mean() + latency);
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
        let Some(modulation) = &self.header.modulation else {
            return;
        };
        let (unit, place) = (&self.header.time_unit, place!("modulation"));
        faults.extend(within(modulation.faults(unit), &place));
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
                place,
                "the modulation is out of the range of numbers",
                "check its numbers, or choose another unit of time",
            ));
        } else {
            faults.extend(within(modulation.too_fast(arrivals, unit), &place));
        }
    }

    /// One server with these resources and these of the types. Only for a draft without faults: what no single value
    /// shows may still be wrong, integers or sums out of range.
    pub(super) fn workload(
        &self,
        capacity: &[(&str, Decimal)],
        served: &[usize],
    ) -> Result<Workload, Vec<Fault>> {
        let resources = self.resources_in_units(capacity, served)?;
        let units: Vec<u64> = resources.iter().map(|(units, _)| units.whole).collect();
        let changes = |modulation: &CommonModulation| !modulation.is_constant();
        let modulated = self.header.modulation.as_ref().is_some_and(changes);
        let (mut faults, mut types) = (Vec::new(), Vec::new());
        for (k, &i) in served.iter().enumerate() {
            let job = &self.jobs[i];
            let demand: Vec<u64> = resources.iter().map(|(units, _)| units.parts[k]).collect();
            if most_alone(&units, &demand) > MOST_ALONE {
                faults.push(too_many(i, &job.name));
            }
            let all = capacity.iter().map(|(name, _)| job.demand_for(name));
            let arrivals = job.arrivals.clone().expect(WITHOUT_FAULTS);
            let size = job.size.clone().expect(WITHOUT_FAULTS);
            let holding = Holding::new(self.start_latency(), size);
            types.push(JobType {
                name: job.name.clone(),
                nodes: job.nodes.expect(WITHOUT_FAULTS),
                demand: all.collect::<Option<_>>().expect(WITHOUT_FAULTS),
                units: demand,
                arrival_rate: arrivals.rate(),
                mean_size: holding.mean(),
                arrivals,
                modulated,
                holding,
                limit: job.limit,
                priority: job.priority,
            });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let workload = Workload {
            header: WorkloadHeader {
                start_latency: self.start_latency(),
                ..self.header.clone()
            },
            resources: resources.into_iter().map(|(_, own)| own).collect(),
            types,
            unserved: Vec::new(),
        };
        let load: f64 = workload.types.iter().map(JobType::offered_load).sum();
        if !(load.is_finite() && workload.total_arrival_rate().is_finite()) {
            return Err(vec![Fault::new(
                place!("jobs"),
                "the sum of the arrival rates, or of the loads, is out of the range of numbers",
                "choose another unit of time",
            )]);
        }
        Ok(workload)
    }

    /// Capacities and demands in whole units.
    fn resources_in_units(
        &self,
        capacity: &[(&str, Decimal)],
        served: &[usize],
    ) -> Result<Vec<(Units, Resource)>, Vec<Fault>> {
        let (mut faults, mut all) = (Vec::new(), Vec::new());
        for &(name, capacity) in capacity {
            let demand = served.iter().map(|&i| self.jobs[i].demand_for(name));
            let demand: Option<Vec<Decimal>> = demand.collect();
            let mut demand = demand.expect(WITHOUT_FAULTS);
            let is_devices = self.devices.iter().any(|own| own == name);
            if is_devices && demand.iter().any(|d| *d >= Decimal::ONE) {
                // A whole device is a whole number of units.
                demand.push(Decimal::ONE);
            }
            let (whole, count) = match is_devices {
                true => (Decimal::ONE, capacity.value() as u64),
                false => (capacity, 1),
            };
            let in_range = |units: &Units| units.whole.saturating_mul(count) <= 1 << 53;
            match in_units(whole, &demand).filter(in_range) {
                Some(units) => {
                    let resource = Resource {
                        name: name.to_owned(),
                        capacity,
                        units: units.whole * count,
                        device: is_devices.then_some(units.whole),
                    };
                    all.push((units, resource));
                }
                None => faults.push(too_fine(self.first_with(name), name)),
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
    /// Returns whether the type does not arrive, and is left out.
    pub(super) fn is_idle(&self) -> bool {
        let zero = Decimal::ZERO;
        self.arrivals == Some(ArrivalProcess::Poisson { rate: zero })
    }

    /// 0 for a resource not named, `None` for a number already reported.
    pub(super) fn demand_for(&self, resource: &str) -> Option<Decimal> {
        amount(&self.demand, resource)
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
}

/// Returns the amount of a resource: 0 if it is not listed, `None` if its number is faulty.
pub(super) fn amount(amounts: &[(String, Option<Decimal>)], resource: &str) -> Option<Decimal> {
    let named = amounts.iter().find(|(name, _)| name == resource);
    named.map_or(Some(Decimal::ZERO), |(_, amount)| *amount)
}

pub(super) fn unserved_warning(i: usize, name: &str) -> Fault {
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

fn too_fine(shape: usize, resource: &str) -> Fault {
    Fault::new(
        place!("servers", shape, "capacity", resource),
        format!(
            "demands and capacity of `{resource}` have no common unit: counted in the greatest \
             one that divides all demands they exceed 2^53"
        ),
        "round the demands to a coarser grain, such as three significant digits",
    )
}
