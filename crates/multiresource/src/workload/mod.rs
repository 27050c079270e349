//! What arrives: a server's capacity, job types with their demands, rates and sizes.
//!
//! # Theory
//! A workload has R resources with capacity P (R) and K types with demands D (K × R); type i
//! arrives at mean rate λ_i, as a Poisson process unless it says otherwise ([`ArrivalProcess`]),
//! and has a size ([`Size`]) with mean 1/μ_i, so its offered load is b_i = λ_i/μ_i, the mean number
//! in service. u of each type fit together iff uD ≤ P (Chen,
//! Grosof, Berg, POMACS 9(2) 2025, section 3). Whether they fit is decided in integers: see
//! [`JobType::units`].
//!
//! # The document
//! A type has a rate or a process of arrivals, and a mean or a law of sizes:
//!
//! | key | value | |
//! |---|---|---|
//! | `arrival_rate` | `4` | Poisson |
//! | `arrivals` | `{process: poisson, rate: 4}` | the same |
//! | | `{process: renewal, interarrival: {law: lognormal, mean: .25, scv: 4}}` | any law of sizes between arrivals |
//! | | `{process: markov-modulated, rates: [1, 10], switching: [[0, .1], [.2, 0]]}` | Poisson at the rate of a state that changes |
//! | | `{process: batches, rate: 2, sizes: [1, 5], probabilities: [.9, .1]}` | several jobs at once |
//! | | `{process: batches, rate: 2, sizes: [1, 5], alike: .85}` | in .85 of the batches all jobs have one size |
//! | `mean_size` | `1` | exponential |
//! | `size` | `{law: exponential, mean: 1}` | the same |
//! | | `{law: erlang, stages: 3, mean: 1}` | |
//! | | `{law: hyperexponential, mean: 1, scv: 4}` | two branches of balanced means |
//! | | `{law: hyperexponential, probabilities: [.3, .7], means: [2, .5]}` | |
//! | | `{law: coxian, means: [1, 2], onward: [.5]}` | |
//! | | `{law: deterministic, mean: 1}` | |
//! | | `{law: lognormal, mean: 1, scv: 4}` | scv: squared coefficient of variation |
//! | | `{law: weibull, mean: 1, scv: 4}` | |
//! | | `{law: pareto, shape: 1.5, low: 1, high: 1000}` | bounded |
//! | | `{law: uniform, low: 0, high: 2}` | |
//! | | `{law: empirical, values: [1, 2, 10]}` | with `probabilities` where they differ |
//!
//! Of the whole, `known` says what is known of a job's size when it comes, beside its type:
//!
//! | `known` | |
//! |---|---|
//! | `type` | nothing more; rules that ask for more are refused |
//! | `size` | the size |
//! | `{limit: {law: uniform, low: 1, high: 3}}` | a limit that it never exceeds: the size times a factor of this law, 1 at least |
//! | `type-limit` | the `limit` of its type |
//!
//! Where it is left out, a policy is chosen as if it were `type`, and rules that know sizes may be run beside.
//!
//! `start_latency: .7`, or a law of it, is the time between the decision to start a job and its first instruction:
//! the job holds its room for that long, and then for its size ([`Holding`]).
//!
//! And `modulation: {factors: [.4, 2.2], switching: [[0, .1], [.3, 0]]}` is one chain on which the rates
//! of all types depend ([`CommonModulation`]): `arrival_rate` stays the mean over all time. Its types arrive
//! as Poisson processes or in batches.
//!
//! Laws and processes may be written as variants, too: `size: {erlang: {stages: 3, mean: 1}}`,
//! `arrivals: {renewal: {interarrival: {lognormal: {mean: .25, scv: 4}}}}`.
//!
//! # Practice
//! A YAML document is read by [`Fleet::read`]. A policy file records the same document with its defaults filled in
//! ([`Fleet::record`]), which runs the same checks. Every fault found is reported. What is checked
//! has types that arrive (λ_i > 0), fit on an empty server, and demand something.
//!
//! One server, `server: {capacity: …}`, is a [`Fleet`] of one. A document may list the shapes of several:
//! `servers: [{name: big, count: 40, capacity: {cpu: 96}}, …]`. [`Fleet::to_yaml`] writes documents that read
//! back equal. A [`Workload`] is what one server has to do.

mod by_demand;
mod change;
mod check;
mod document;
mod dominating;
mod fleet;
mod servers;

pub use by_demand::{ByDemand, alike};
pub use document::{Amount, FleetDocument, JobDocument, OneServer, ShapeDocument};
pub use dominating::Dominating;
pub use fleet::{Fleet, Shape};

use num_rational::BigRational;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::{Fault, place, within};
use synth_core::number::Decimal;
use synth_queues::law::{self, ArrivalProcess, CommonModulation, Holding, Size};

/// A checked workload: K ≥ 1 job types on a server with R ≥ 1 resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The document without servers and types.
    header: FleetDocument,
    resources: Vec<Resource>,
    types: Vec<JobType>,
}

/// What is known of a job's size when it comes, beside the law of its type's sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KnownSize {
    /// Nothing.
    Type,
    /// The size itself.
    Size,
    /// A limit that the job never exceeds: its size times a factor of this law, drawn for each job. No
    /// factor is below 1.
    Limit(Size),
    /// The `limit` of its type, which every type has to have.
    TypeLimit,
}

impl KnownSize {
    /// Returns what is wrong with it.
    fn faults(&self) -> Vec<Fault> {
        let KnownSize::Limit(factor) = self else {
            return Vec::new();
        };
        let place = place!("known", "limit");
        let faults = factor.faults(
            law::Part::Other("factor"),
            "limits over sizes",
            "times the size",
        );
        let mut faults = within(faults, &place);
        let one = Decimal::new(1.0).expect("1 is a number");
        if faults.is_empty() && factor.least() < one {
            faults.push(Fault::new(
                place,
                format!(
                    "limits would be below sizes: the factor of `law: {}` may be as small as {}, expected 1 at least",
                    factor.law(),
                    factor.least()
                ),
                "a limit is never exceeded; write for instance `{law: uniform, low: 1, high: 3}`, or `{law: empirical, values: [1.1, 2, 10]}`",
            ));
        }
        faults
    }
}

/// One resource of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    name: String,
    capacity: Decimal,
    units: u64,
    device: Option<u64>,
}

/// One type of job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobType {
    name: String,
    /// Servers that a job takes at once, with this demand on each of them.
    nodes: u32,
    demand: Vec<Decimal>,
    units: Vec<u64>,
    arrivals: ArrivalProcess,
    /// Whether what is common to all types modulates them.
    modulated: bool,
    /// λ, which of a modulated process takes work.
    arrival_rate: f64,
    /// E[L + S], which of an empirical law takes work.
    mean_size: f64,
    holding: Holding,
    limit: Option<Decimal>,
    priority: Decimal,
}

impl Resource {
    /// Its name, unique among the resources.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Capacity P_j as written, > 0.
    pub fn capacity(&self) -> Decimal {
        self.capacity
    }

    /// Capacity in whole units, at most 2^53: see [`JobType::units`]. It is 0 where no type
    /// demands the resource (all units are then 0 too, and the resource never binds).
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Returns the whole units of one device if the resource consists of devices; the capacity is their number. A demand
    /// below 1 has to be on one device, and a whole number takes that many whole devices.
    ///
    /// Units of a device are rounded down: where all jobs demand 0.6 a device is one unit, and each job takes it whole.
    pub fn device(&self) -> Option<u64> {
        self.device
    }
}

impl JobType {
    /// Its name, unique among the types.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Servers that a job takes at once, g ≥ 1, each with the demand: 1 but for gangs, which are of fleets.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Demand for each of the R resources as written, ≥ 0, not all 0; of a gang on each of its servers.
    pub fn demand(&self) -> &[Decimal] {
        &self.demand
    }

    /// Demand for each of the R resources in whole units, at most 2^53.
    ///
    /// A unit is the greatest common divisor of the demands of one resource, so that
    /// uD ≤ P iff Σ_i u_i `units`_ij ≤ [`Resource::units`] of each resource j, exactly and
    /// whatever unit of measurement the document chose.
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// Arrival rate λ \[1/time\], > 0: the mean over all time, of jobs.
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rate
    }

    /// Returns how they arrive, but for what modulates all types ([`Workload::modulation`]).
    pub fn arrivals(&self) -> &ArrivalProcess {
        &self.arrivals
    }

    /// Returns whether they arrive as a Poisson process, under whatever name. What is modulated does not.
    pub fn is_poisson(&self) -> bool {
        !self.modulated && self.arrivals.is_poisson()
    }

    /// Returns whether the sizes of its jobs are independent of each other; in batches that are alike they
    /// are not.
    pub fn has_independent_sizes(&self) -> bool {
        self.arrivals.alike() == 0.0
    }

    /// Returns whether sizes are exponential and independent, and jobs start at once: what is left of a running job has
    /// the law of a whole size, whatever has ended before.
    pub fn is_memoryless(&self) -> bool {
        self.holding.is_exponential() && self.has_independent_sizes()
    }

    /// Returns the law of job sizes, as written: how long jobs run.
    pub fn size(&self) -> &Size {
        self.holding.run()
    }

    /// Returns the law of the time that a job holds its room, L + S: its run after the
    /// [start latency](Workload::start_latency). Without preemption this is the size that a server sees, and
    /// everything that is said of queues goes by it.
    pub fn holding(&self) -> &Holding {
        &self.holding
    }

    /// A time that its jobs promise not to run longer than \[time\], > 0, where types are told apart by it. A job that runs
    /// longer all the same counts as one that had promised what it runs.
    pub fn limit(&self) -> Option<Decimal> {
        self.limit
    }

    /// How important its jobs are: a larger number is more important, and 0 is the default.
    pub fn priority(&self) -> Decimal {
        self.priority
    }

    /// Mean size 1/μ = E\[L + S\] \[time\], > 0: of the [time that a job holds its room](JobType::holding).
    pub fn mean_size(&self) -> f64 {
        self.mean_size
    }

    /// Service rate μ = 1/E\[L + S\] \[1/time\], > 0 and finite.
    pub fn service_rate(&self) -> f64 {
        1.0 / self.mean_size()
    }

    /// Offered load b = λ E\[L + S\], the mean number in service, > 0 and finite.
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate() * self.mean_size()
    }

    /// `g_i λ_i E[L + S_i]`: the mean number of servers that its jobs take, each time that one takes a server.
    pub fn offered_pieces(&self) -> f64 {
        f64::from(self.nodes) * self.offered_load()
    }

    /// b = λ E\[L + S\] as a fraction, > 0; `None` where the law of sizes, of the start latency or of times between
    /// arrivals has a mean that is no fraction (a bounded Pareto law).
    pub fn exact_load(&self) -> Option<BigRational> {
        Some(self.arrivals.exact_rate()? * self.holding.exact_mean()?)
    }
}

impl Workload {
    /// Where the figures come from, if the document says so.
    pub fn source(&self) -> Option<&str> {
        self.header.source.as_deref()
    }

    /// Returns the one unit of time of all rates and sizes.
    pub fn time_unit(&self) -> &str {
        &self.header.time_unit
    }

    /// Returns what is known of a job's size when it comes, if the document says so.
    pub fn known(&self) -> Option<&KnownSize> {
        self.header.known.as_ref()
    }

    /// Returns what modulates the arrivals of all types together, if anything does.
    pub fn modulation(&self) -> Option<&CommonModulation> {
        self.header.modulation.as_ref()
    }

    /// The law of the time L between the decision to start a job and its first instruction, \[time\]; `None` where
    /// jobs start at once. Independent of sizes, and of one law for all types.
    pub fn start_latency(&self) -> Option<&Size> {
        self.header.start_latency.as_ref()
    }

    /// Returns whether a job's size, or a limit that it never exceeds, is known when it comes.
    pub fn has_limits(&self) -> bool {
        self.known().is_some_and(|known| *known != KnownSize::Type)
    }

    /// Returns whether some type has a priority other than 0.
    pub fn has_priorities(&self) -> bool {
        self.types.iter().any(|job| !job.priority.is_zero())
    }

    /// Returns the R resources in the document's order.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the K types that arrive, in the document's order.
    pub fn types(&self) -> &[JobType] {
        &self.types
    }

    /// Σ_i λ_i \[1/time\], finite.
    pub fn total_arrival_rate(&self) -> f64 {
        self.types.iter().map(JobType::arrival_rate).sum()
    }

    /// `g_i max_j D_ij/P_j` (K), above 0: the largest fraction of a resource that a job of each type
    /// takes, at most 1 but for gangs.
    pub fn dominant_shares(&self) -> Vec<f64> {
        let share = |job: &JobType| {
            let pairs = job.demand.iter().zip(&self.resources);
            let shares = pairs.map(|(d, r)| d.value() / r.capacity.value());
            f64::from(job.nodes) * shares.fold(0.0, f64::max)
        };
        self.types.iter().map(share).collect()
    }

    /// w (K), of sum 1: each type's share of the load by its dominant demand,
    /// `λ_i E[S_i] max_j D_ij/P_j`. The weights of a weighted mean response time.
    pub fn load_shares(&self) -> Vec<f64> {
        let pairs = self.types.iter().zip(self.dominant_shares());
        let loads = pairs.map(|(job, share)| job.offered_load() * share);
        let loads: Vec<f64> = loads.collect();
        let total: f64 = loads.iter().sum();
        loads.iter().map(|load| load / total).collect()
    }

    /// Returns how many jobs of type `i` fit together on the server when it is empty otherwise, at least 1.
    ///
    /// # Panics
    /// If `i` is not the index of a type.
    pub fn most_alone(&self, i: usize) -> u32 {
        let capacity: Vec<u64> = self.resources.iter().map(Resource::units).collect();
        let most = most_alone(&capacity, &self.types[i].units);
        u32::try_from(most).expect("as many as are worth listing were checked to fit")
    }

    /// Returns whether all types arrive as Poisson processes, independent of each other.
    pub fn is_poisson(&self) -> bool {
        self.types.iter().all(JobType::is_poisson)
    }

    /// Returns the digest that identifies the workload: see [`Fleet::digest`].
    pub fn digest(&self) -> String {
        Fleet::from(self.clone()).digest()
    }
}

/// Returns whether the name of a resource is one of GPUs, such as `gpu`, `nvidia.com/gpu` or `gpu:a100`.
pub fn is_of_gpus(name: &str) -> bool {
    let mut words = name.split(['/', ':', '.', '-', '_']);
    words.any(|word| matches!(word, "gpu" | "gpus")) && !name.contains("mem")
}

/// Returns how many jobs with these demands fit on a server with these capacities, all in whole units:
/// min_j ⌊capacity_j / demand_j⌋ over what is demanded; the largest integer if nothing is.
fn most_alone(capacity: &[u64], demand: &[u64]) -> u64 {
    let pairs = capacity.iter().zip(demand);
    let fit = pairs.filter_map(|(capacity, demand)| capacity.checked_div(*demand));
    fit.min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
