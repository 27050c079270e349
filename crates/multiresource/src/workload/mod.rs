//! A workload consists of a server and a list of job types.
//!
//! # Theory
//! There are R resources with a capacity of P (R), and K types with a demand of D (K × R). The jobs
//! of type i arrive with a mean rate of λ_i, and the mean of their size is 1/μ_i, so the offered
//! load, the mean number in service, is b_i = λ_i/μ_i. A schedule u is feasible if uD ≤ P (see
//! section 3 of the MSR paper), which is computed with integers ([`JobType::units`]).
//!
//! # The document
//! The fields are listed in `docs/reference/workload.md`. Each type has an `arrival_rate` (Poisson)
//! or a process, and a `mean_size` (exponential) or a distribution. These may also be written as
//! variants, such as `size: {erlang: {stages: 3, mean: 1}}`.
//!
//! `known` is the [`SizeInformation`]. With `known: type`, rules that need more are rejected. By
//! default, policies are chosen as for `type`, but rules that know sizes may be run, too.
//!
//! `start_latency` is the time from the decision to start a job to its first instruction. The job
//! holds its resources during this time, and then for its size ([`HoldingTime`]). `modulation` is
//! one Markov chain that modulates the rates of all types, which must be Poisson or batch arrivals
//! ([`CommonModulation`]). `arrival_rate` is still the mean over all time.
//!
//! # Practice
//! [`Fleet::read`] reads a YAML document and reports all faults. A policy file contains the same
//! document with all defaults ([`Fleet::record`]), which is checked in the same way. All types of a
//! valid workload arrive, have a positive demand, and fit on an empty server.
//!
//! A [`Workload`] is for one server (`server`), a [`Fleet`] for one or for a list of shapes
//! (`servers`).

mod by_demand;
mod change;
mod check;
mod document;
mod dominating;
mod fleet;
mod servers;

pub use by_demand::{DemandClassifier, indistinguishable_types};
pub use document::{Amount, FleetDocument, JobDocument, OneServer, ShapeDocument};
pub use dominating::TypeAssignment;
pub use fleet::{Fleet, Shape};

use num_rational::BigRational;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::{Fault, place, within};
use synth_core::number::Decimal;
use synth_queues::distribution::{
    ArrivalProcess, CommonModulation, HoldingTime, Part, SizeDistribution,
};

/// A valid workload with K ≥ 1 job types on a server with R ≥ 1 resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The document without its servers and types.
    header: FleetDocument,
    resources: Vec<Resource>,
    types: Vec<JobType>,
}

/// The information about a job's size on arrival, in addition to its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeInformation {
    /// No further information.
    Type,
    /// The size itself.
    Size,
    /// A limit that is never exceeded: the size times a factor ≥ 1 of this distribution, which is
    /// drawn for each job.
    Limit(SizeDistribution),
    /// The `limit` of its type, which every type must have.
    TypeLimit,
}

impl SizeInformation {
    fn faults(&self) -> Vec<Fault> {
        let SizeInformation::Limit(factor) = self else {
            return Vec::new();
        };
        let place = place!("known", "limit");
        let part = Part::Other("factor");
        let faults = factor.faults(part, "limits over sizes", "times the size");
        let mut faults = within(faults, &place);
        let (law, least) = (factor.name(), factor.minimum());
        if faults.is_empty() && least < Decimal::ONE {
            let message = format!(
                "limits would be below sizes: the factor of `law: {law}` may be as small as {least}, expected at least 1"
            );
            let help = "a limit is never exceeded; write for instance `{law: uniform, low: 1, high: 3}`, or `{law: empirical, values: [1.1, 2, 10]}`";
            faults.push(Fault::new(place, message, help));
        }
        faults
    }
}

/// A resource of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    name: String,
    capacity: Decimal,
    units: u64,
    device: Option<u64>,
}

/// A job type.
#[derive(Clone, Debug, PartialEq)]
pub struct JobType {
    name: String,
    nodes: u32,
    demand: Vec<Decimal>,
    units: Vec<u64>,
    arrivals: ArrivalProcess,
    modulated: bool,
    /// The rate and the mean E\[L + S\] are cached, because some are slow to compute.
    arrival_rate: f64,
    mean_size: f64,
    holding: HoldingTime,
    limit: Option<Decimal>,
    priority: Decimal,
}

impl Resource {
    /// Returns the unique name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the capacity P_j as written, > 0.
    pub fn capacity(&self) -> Decimal {
        self.capacity
    }

    /// Returns the capacity in [integer units](JobType::units), at most 2^53; 0 without demand.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Returns the integer units of one device, if the resource consists of devices: a demand below
    /// 1 must be on one device, and a whole number takes that many whole devices. The number of
    /// units is rounded down, so it is 1 if all demands are 0.6.
    pub fn device(&self) -> Option<u64> {
        self.device
    }
}

impl JobType {
    /// Returns the unique name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of servers that a job uses at once, g ≥ 1, and g > 1 only for gangs.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Returns the demand on each server for each of the R resources as written, ≥ 0, not all 0.
    pub fn demand(&self) -> &[Decimal] {
        &self.demand
    }

    /// Returns the demand for each of the R resources in integer units, at most 2^53. The unit is
    /// the greatest common divisor of the demands for a resource, so that uD ≤ P holds exactly iff
    /// Σ_i u_i `units`_ij ≤ [`Resource::units`] for each resource j.
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// Returns the arrival rate λ of the jobs \[1/time\], > 0, the mean over all time.
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rate
    }

    /// Returns the arrival process, not including the [modulation](Workload::modulation).
    pub fn arrivals(&self) -> &ArrivalProcess {
        &self.arrivals
    }

    /// Returns whether the arrivals are an unmodulated Poisson process, in whatever form written.
    pub fn is_poisson(&self) -> bool {
        !self.modulated && self.arrivals.is_poisson()
    }

    pub(crate) fn has_independent_sizes(&self) -> bool {
        self.arrivals.equal_size_fraction() == 0.0
    }

    /// Returns whether the sizes are exponential and independent, and there is no start latency.
    /// The remaining size of a running job then has the distribution of a whole size.
    pub fn is_memoryless(&self) -> bool {
        self.holding.is_exponential() && self.has_independent_sizes()
    }

    /// Returns the distribution of sizes, the run times of jobs, as written.
    pub fn size(&self) -> &SizeDistribution {
        self.holding.run()
    }

    /// Returns the distribution of the time L + S that a job holds its resources: [start
    /// latency](Workload::start_latency) and run.
    pub fn holding_time(&self) -> &HoldingTime {
        &self.holding
    }

    /// Returns the promised limit on run times \[time\], > 0; for longer jobs, it is their run
    /// time.
    pub fn limit(&self) -> Option<Decimal> {
        self.limit
    }

    /// Returns the importance of its jobs: larger is more important, the default is 0.
    pub fn priority(&self) -> Decimal {
        self.priority
    }

    /// Returns the mean [holding time](JobType::holding_time) 1/μ = E\[L + S\] \[time\], > 0.
    pub fn mean_size(&self) -> f64 {
        self.mean_size
    }

    /// Returns the service rate μ = 1/E\[L + S\] \[1/time\], > 0 and finite.
    pub fn service_rate(&self) -> f64 {
        1.0 / self.mean_size()
    }

    /// Returns the offered load b = λ E\[L + S\], the mean number in service, > 0 and finite.
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate() * self.mean_size()
    }

    /// Returns `g_i λ_i E[L + S_i]`, the mean number of tasks in service.
    pub fn offered_tasks(&self) -> f64 {
        f64::from(self.nodes) * self.offered_load()
    }

    /// Returns the offered load as a fraction; `None` if a mean is no fraction (bounded Pareto).
    pub fn exact_load(&self) -> Option<BigRational> {
        Some(self.arrivals.exact_rate()? * self.holding.exact_mean()?)
    }
}

impl Workload {
    /// Returns the origin of the numbers, if the document has it.
    pub fn source(&self) -> Option<&str> {
        self.header.source.as_deref()
    }

    /// Returns the unit of all times and rates.
    pub fn time_unit(&self) -> &str {
        &self.header.time_unit
    }

    /// Returns the information about the size of a job that is available when it arrives.
    pub fn size_information(&self) -> Option<&SizeInformation> {
        self.header.known.as_ref()
    }

    /// Returns the common modulation of all arrivals, if there is one.
    pub fn modulation(&self) -> Option<&CommonModulation> {
        self.header.modulation.as_ref()
    }

    /// Returns the distribution of the start latency L \[time\] of all types, which is independent
    /// of the sizes, or `None` if jobs start immediately.
    pub fn start_latency(&self) -> Option<&SizeDistribution> {
        self.header.start_latency.as_ref()
    }

    /// Returns whether a job's size, or a limit on it, is known on arrival.
    pub fn has_limits(&self) -> bool {
        let known = self.size_information();
        known.is_some_and(|known| *known != SizeInformation::Type)
    }

    /// Returns whether some type has a priority other than 0.
    pub fn has_priorities(&self) -> bool {
        self.types.iter().any(|job| !job.priority.is_zero())
    }

    /// Returns the R resources in the document's order.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the job types that arrive (K), in the document's order.
    pub fn types(&self) -> &[JobType] {
        &self.types
    }

    /// Returns the sum of the arrival rates Σ_i λ_i \[1/time\], which is finite.
    pub fn total_arrival_rate(&self) -> f64 {
        self.types.iter().map(JobType::arrival_rate).sum()
    }

    /// Returns the dominant share of a job of each type, `g_i max_j D_ij/P_j` (K), which is
    /// positive, and at most 1 except for gangs.
    pub fn dominant_shares(&self) -> Vec<f64> {
        let share = |job: &JobType| {
            let pairs = job.demand.iter().zip(&self.resources);
            let shares = pairs.map(|(d, r)| d.value() / r.capacity.value());
            f64::from(job.nodes) * shares.fold(0.0, f64::max)
        };
        self.types.iter().map(share).collect()
    }

    /// Returns the share of each type in the load `λ_i E[S_i] max_j D_ij/P_j` (K), of sum 1: the
    /// weights of the weighted mean response time.
    pub fn load_shares(&self) -> Vec<f64> {
        let pairs = self.types.iter().zip(self.dominant_shares());
        let loads: Vec<f64> = pairs
            .map(|(job, share)| job.offered_load() * share)
            .collect();
        let total: f64 = loads.iter().sum();
        loads.iter().map(|load| load / total).collect()
    }

    /// Returns how many jobs of type `i` fit on the empty server, at least 1.
    pub fn most_alone(&self, i: usize) -> u32 {
        let capacity: Vec<u64> = self.resources.iter().map(Resource::units).collect();
        let most = most_alone(&capacity, &self.types[i].units);
        u32::try_from(most).expect("the check limits the number of jobs that fit")
    }

    /// Returns whether all of the arrivals are independent Poisson processes.
    pub fn is_poisson(&self) -> bool {
        self.types.iter().all(JobType::is_poisson)
    }

    /// Returns the digest, see [`Fleet::digest`].
    pub fn digest(&self) -> String {
        Fleet::from(self.clone()).digest()
    }
}

/// Returns whether a resource is named after GPUs, such as `gpu`, `nvidia.com/gpu` or `gpu:a100`.
pub fn is_gpu_resource(name: &str) -> bool {
    let mut words = name.split(['/', ':', '.', '-', '_']);
    words.any(|word| matches!(word, "gpu" | "gpus")) && !name.contains("mem")
}

/// Returns the number of jobs that fit, `min_j ⌊capacity_j / demand_j⌋`.
fn most_alone(capacity: &[u64], demand: &[u64]) -> u64 {
    let pairs = capacity.iter().zip(demand);
    let fit = pairs.filter_map(|(capacity, demand)| capacity.checked_div(*demand));
    fit.min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
