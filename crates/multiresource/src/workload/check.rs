use super::document::{FleetDocument, JobDocument};
use super::{Fleet, JobType, Resource, SizeInformation, Workload, most_alone};
use synth_core::document::{DocumentError, Fault, FaultsAt, WorkloadDocument as _, place};
use synth_core::number::{Decimal, Units, in_units};
use synth_queues::distribution::{
    ArrivalProcess, CommonModulation, HoldingTime, Part, SizeDistribution,
};

/// The maximum number of jobs of a type on a server. For more of them, use a fluid model.
const MOST_ALONE: u64 = 1_000_000;

pub(super) const WITHOUT_FAULTS: &str = "a fleet is built from a document without faults";

impl FleetDocument {
    pub(super) fn fleet(self) -> Result<Fleet, DocumentError> {
        let checked = self.checked(Vec::new());
        Ok(checked.map_err(DocumentError::without_text)?.0)
    }

    pub(super) fn check_all(&self, at: &mut FaultsAt<'_>) {
        at.unit(&self.time_unit);
        at.extend(self.known.iter().flat_map(SizeInformation::faults));
        let (part, unit) = (Part::Other("start latency"), &self.time_unit);
        if let Some(latency) = self.start_latency() {
            let faults = latency.faults(part, "all jobs", unit);
            at.below("start_latency").extend(faults);
        }
        self.check_jobs(at);
        for (i, job) in self.jobs.iter().enumerate() {
            let mut at = at.entry("jobs", i);
            self.check_demand(job, &mut at);
            self.check_laws(job, &mut at);
            self.check_limit(job, &mut at);
        }
        self.check_modulation(at);
        self.check_shapes(at);
        (0..self.jobs.len()).for_each(|i| self.check_known(i, at));
        // If there are several servers, this check is only possible if there are no other faults.
        if at.is_empty() || self.is_one_server() {
            self.check_fits(at);
        }
    }

    /// Returns the start latency; a latency of 0 is none.
    pub(super) fn start_latency(&self) -> Option<SizeDistribution> {
        let none = SizeDistribution::Deterministic {
            mean: Decimal::ZERO,
        };
        self.start_latency.clone().filter(|law| *law != none)
    }

    fn check_jobs(&self, at: &mut FaultsAt<'_>) {
        if self.jobs.is_empty() {
            let help = "list at least one: `- {name: web, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}`";
            at.add("jobs", "there are no job types", help);
        } else if self.jobs.iter().all(JobDocument::is_idle) {
            let message = "every arrival rate is 0, so nothing arrives";
            let help = "give at least one type an arrival_rate > 0";
            at.add("jobs", message, help);
        }
        at.names("jobs", "type", self.jobs.iter().map(|job| &job.name));
    }

    fn check_demand(&self, job: &JobDocument, at: &mut FaultsAt<'_>) {
        let JobDocument { name, demand, .. } = job;
        for (resource, demand) in &demand.0 {
            let is_devices = self.has_devices(resource);
            let expected = match is_devices {
                true => "a number from 0 to 1 or a whole number, since it consists of devices",
                false => "a number ≥ 0",
            };
            let is_split = |d: f64| is_devices && d > 1.0 && d.fract() != 0.0;
            if let Some(demand) = demand.filter(|d| *d < Decimal::ZERO || is_split(d.value())) {
                let message = format!(
                    "demand of type `{name}` for `{resource}` is {demand}, expected {expected}"
                );
                let help =
                    "write how much one job occupies while it runs; leave the resource out if none";
                at.below("demand").add(resource, message, help);
            }
        }
        let zero = Some(Decimal::ZERO);
        if demand.0.iter().all(|(_, demand)| *demand == zero) && !at.has_fault("demand") {
            let message = format!("type `{name}` demands nothing: all its demands are 0");
            let help = "give it a demand > 0 for some resource; without one it needs no scheduling";
            at.refuse(message, help);
        }
    }

    fn check_limit(&self, job: &JobDocument, at: &mut FaultsAt<'_>) {
        let JobDocument { name, limit, .. } = job;
        let message = match limit {
            Some(limit) if *limit > Decimal::ZERO => return,
            None if self.known != Some(SizeInformation::TypeLimit) => return,
            Some(limit) => format!("limit of type `{name}` is {limit}, expected a number > 0"),
            None => format!(
                "type `{name}` has no limit, but `known: type-limit` requires one for every type"
            ),
        };
        let unit = &self.time_unit;
        let help =
            format!("write the time in {unit} that its jobs promise not to exceed: `limit: 3600`");
        at.add("limit", message, help);
    }

    fn check_laws(&self, job: &JobDocument, at: &mut FaultsAt<'_>) {
        let (name, unit) = (&job.name, &self.time_unit);
        let (owner, before) = (format!("type `{name}`"), at.all().len());
        if let Some(arrivals) = &job.arrivals {
            at.below("arrivals").extend(arrivals.faults(&owner, unit));
        }
        if let Some(size) = &job.size {
            let faults = size.faults(Part::Size, &owner, unit);
            at.below("size").extend(faults);
        }
        let is_sound = at.all().len() == before;
        let (Some(arrivals), Some(size), true) = (&job.arrivals, &job.size, is_sound) else {
            return;
        };
        let latency = self.start_latency().map(|law| law.mean());
        let latency = latency.filter(|own| own.is_finite() && *own > 0.0);
        let (rate, mean) = (arrivals.rate(), size.mean() + latency.unwrap_or(0.0));
        let load = rate * mean;
        if rate > 0.0 && !(load > 0.0 && load.is_finite()) {
            let [rate, mean] = [rate, mean].map(|x| Decimal::new(x).unwrap_or(Decimal::ZERO));
            let message = format!(
                "arrival rate {rate} times mean size {mean} of type `{name}` is out of the range of numbers"
            );
            let help = "check both numbers, or choose another unit of time";
            at.add("size", message, help);
        }
    }

    fn check_modulation(&self, at: &mut FaultsAt<'_>) {
        let Some(modulation) = &self.modulation else {
            return;
        };
        let faults = modulation.faults(&self.time_unit);
        at.below("modulation").extend(faults);
        for (i, job) in self.jobs.iter().enumerate() {
            job.check_modulated(&mut at.entry("jobs", i));
        }
        if !at.is_empty() {
            return;
        }
        let processes = self.jobs.iter().filter_map(|job| job.arrivals.as_ref());
        let arrivals: f64 = processes.map(ArrivalProcess::rate).sum();
        if arrivals.is_finite() && !modulation.in_range(arrivals) {
            let message = "the modulation is out of the range of numbers";
            let help = "check its numbers, or choose another unit of time";
            at.add("modulation", message, help);
        } else {
            let faults = modulation.pace_faults(arrivals, &self.time_unit);
            at.below("modulation").extend(faults);
        }
    }

    /// Builds one server from a document without faults, unless integers or sums are out of range.
    pub(super) fn workload(
        &self,
        capacity: &[(&str, Decimal)],
        served: &[usize],
    ) -> Result<Workload, Vec<Fault>> {
        let resources = self.resources_in_units(capacity, served)?;
        let units: Vec<u64> = resources.iter().map(|(units, _)| units.whole).collect();
        let changes = |modulation: &CommonModulation| !modulation.is_constant();
        let modulated = self.modulation.as_ref().is_some_and(changes);
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
            let holding = HoldingTime::new(self.start_latency(), size);
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
                priority: job.priority.unwrap_or_default(),
            });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let workload = Workload {
            header: FleetDocument {
                source: self.source.clone(),
                time_unit: self.time_unit.clone(),
                known: self.known.clone(),
                modulation: self.modulation.clone(),
                start_latency: self.start_latency(),
                ..FleetDocument::default()
            },
            resources: resources.into_iter().map(|(_, own)| own).collect(),
            types,
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
            let is_devices = self.has_devices(name);
            if is_devices && demand.iter().any(|d| *d >= Decimal::ONE) {
                // A whole device must be a whole number of units.
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
        match faults.is_empty() {
            true => Ok(all),
            false => Err(faults),
        }
    }
}

impl JobDocument {
    pub(super) fn is_idle(&self) -> bool {
        let zero = Decimal::ZERO;
        self.arrivals == Some(ArrivalProcess::Poisson { rate: zero })
    }

    pub(super) fn demand_for(&self, resource: &str) -> Option<Decimal> {
        self.demand.get(resource).unwrap_or(Some(Decimal::ZERO))
    }

    /// Reports an arrival process with a memory of its own, because it cannot be modulated.
    fn check_modulated(&self, at: &mut FaultsAt<'_>) {
        let what = match &self.arrivals {
            Some(ArrivalProcess::Renewal { .. }) => "are a renewal process",
            Some(ArrivalProcess::MarkovModulated { .. }) => "are modulated by a chain of their own",
            _ => return,
        };
        let message = format!(
            "arrivals of type `{}` {what}, but `modulation` requires Poisson arrivals or batches",
            self.name
        );
        let help =
            "write `arrival_rate` with their mean rate, or batches; or leave `modulation` out";
        at.add("arrivals", message, help);
    }
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
        "round the demands, for example to three significant digits",
    )
}
