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
//! | | `{law: empirical, values: [1, 2, 10]}` | with `probabilities` where they differ |
//!
//! # Practice
//! A YAML document is read by [`Workload::read`], or a workload is taken from an artifact by
//! [`Record::check`]. Both run the same checks, and every fault found is reported. A [`Workload`]
//! is checked: each type arrives (λ_i > 0), fits on the empty server, and demands something.
//!
//! In place of `server: {capacity: …}`, a document may list the shapes of a [`Fleet`]:
//! `servers: [{name: big, count: 40, capacity: {cpu: 96}}, …]`; [`Described::read`] takes either.

mod check;
mod check_process;
mod check_size;
mod continuous;
mod decimal;
mod document;
mod exact;
mod fault;
mod fleet;
mod fleet_check;
mod fleet_document;
mod fleet_record;
mod law;
mod parameters;
mod process;
mod read_process;
mod record;
mod sheet;
mod size;
mod units;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use num_bigint::BigInt;
use sha2::{Digest, Sha256};

pub(crate) use continuous::{lognormal, weibull};
pub use decimal::{Decimal, DecimalError};
pub use fault::{Fault, Part, Place};
pub use fleet::{Described, Fleet, Shape};
pub use fleet_record::{FleetRecord, RecordShape};
pub use process::ArrivalProcess;
pub use record::{Record, RecordResource, RecordType};
pub use size::Size;

pub(crate) use fault::nearest;

/// A checked workload: K ≥ 1 job types on a server with R ≥ 1 resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    source: Option<String>,
    time_unit: String,
    resources: Vec<Resource>,
    types: Vec<JobType>,
    unserved: Vec<String>,
}

/// One resource of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    name: String,
    capacity: Decimal,
    units: u64,
}

/// One type of job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobType {
    name: String,
    demand: Vec<Decimal>,
    units: Vec<u64>,
    arrivals: ArrivalProcess,
    /// λ, which of a modulated process takes work.
    arrival_rate: f64,
    /// E[S], which of an empirical law takes work.
    mean_size: f64,
    size: Size,
}

impl Resource {
    /// Its name, unique among the resources.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Capacity P_j as written, > 0.
    #[must_use]
    pub fn capacity(&self) -> Decimal {
        self.capacity
    }

    /// Capacity in whole units, at most 2^53: see [`JobType::units`]. It is 0 where no type
    /// demands the resource (all units are then 0 too, and the resource never binds).
    #[must_use]
    pub fn units(&self) -> u64 {
        self.units
    }
}

impl JobType {
    /// Its name, unique among the types.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Demand for each of the R resources as written, ≥ 0, not all 0.
    #[must_use]
    pub fn demand(&self) -> &[Decimal] {
        &self.demand
    }

    /// Demand for each of the R resources in whole units, at most 2^53.
    ///
    /// A unit is the greatest common divisor of the demands of one resource, so that
    /// uD ≤ P iff Σ_i u_i `units`_ij ≤ [`Resource::units`] of each resource j, exactly and
    /// whatever unit of measurement the document chose.
    #[must_use]
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// Arrival rate λ \[1/time\], > 0: the mean over all time, of jobs.
    #[must_use]
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rate
    }

    /// How they arrive.
    #[must_use]
    pub fn arrivals(&self) -> &ArrivalProcess {
        &self.arrivals
    }

    /// Whether they arrive as a Poisson process, under whatever name.
    #[must_use]
    pub fn is_poisson(&self) -> bool {
        self.arrivals.is_poisson()
    }

    /// The law of job sizes.
    #[must_use]
    pub fn size(&self) -> &Size {
        &self.size
    }

    /// Mean size E\[S\] = 1/μ \[time\], > 0.
    #[must_use]
    pub fn mean_size(&self) -> f64 {
        self.mean_size
    }

    /// Service rate μ = 1/E\[S\] \[1/time\], > 0 and finite.
    #[must_use]
    pub fn service_rate(&self) -> f64 {
        1.0 / self.mean_size()
    }

    /// Offered load b = λ E\[S\], the mean number in service, > 0 and finite.
    #[must_use]
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate() * self.mean_size()
    }

    /// One line, from its beginning: see [`Workload::digest`].
    fn canonical(&self) -> String {
        let mut text = format!("\ntype {}:{}", self.name.len(), self.name);
        for demand in &self.demand {
            text += &format!(" {}", demand.canonical());
        }
        text + &format!(" {} {}", self.arrivals.canonical(), self.size.canonical())
    }
}

impl Workload {
    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`WorkloadError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed, WorkloadError> {
        document::parse(text, name)
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`WorkloadError::Io`] if the file cannot be read, [`WorkloadError::Faults`] with every
    /// fault found in it.
    pub fn read(path: &Path) -> Result<Parsed, WorkloadError> {
        read_with(path, document::parse)
    }

    /// Where the figures come from, if the document says so.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The one unit of time of all rates and sizes.
    #[must_use]
    pub fn time_unit(&self) -> &str {
        &self.time_unit
    }

    /// The R resources in the document's order.
    #[must_use]
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The K types that arrive, in the document's order.
    #[must_use]
    pub fn types(&self) -> &[JobType] {
        &self.types
    }

    /// Names of the types left out because their arrival rate is 0.
    #[must_use]
    pub fn unserved(&self) -> &[String] {
        &self.unserved
    }

    /// Σ_i λ_i \[1/time\], finite.
    #[must_use]
    pub fn total_arrival_rate(&self) -> f64 {
        self.types.iter().map(JobType::arrival_rate).sum()
    }

    /// `max_j D_ij/P_j` (K), in (0, 1]: the largest fraction of a resource that a job of each type
    /// takes.
    #[must_use]
    pub fn dominant_shares(&self) -> Vec<f64> {
        let share = |job: &JobType| {
            let pairs = job.demand.iter().zip(&self.resources);
            let shares = pairs.map(|(d, r)| d.value() / r.capacity.value());
            shares.fold(0.0, f64::max)
        };
        self.types.iter().map(share).collect()
    }

    /// w (K), of sum 1: each type's share of the load by its dominant demand,
    /// `λ_i E[S_i] max_j D_ij/P_j`. The weights of a weighted mean response time.
    #[must_use]
    pub fn load_shares(&self) -> Vec<f64> {
        let pairs = self.types.iter().zip(self.dominant_shares());
        let loads: Vec<f64> = pairs
            .map(|(job, share)| job.offered_load() * share)
            .collect();
        let total: f64 = loads.iter().sum();
        loads.iter().map(|load| load / total).collect()
    }

    /// How many jobs of type `i` fit together on the server when it is empty otherwise, at least 1.
    ///
    /// # Panics
    /// If `i` is not the index of a type.
    #[must_use]
    pub fn most_alone(&self, i: usize) -> u32 {
        let capacity: Vec<u64> = self.resources.iter().map(Resource::units).collect();
        let most = units::most_alone(&capacity, &self.types[i].units);
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// Whether all types arrive as Poisson processes.
    #[must_use]
    pub fn is_poisson(&self) -> bool {
        self.types.iter().all(JobType::is_poisson)
    }

    /// The same workload with every arrival rate multiplied by `factor` (in doubles): times
    /// between arrivals divided by it, batches as much more frequent; of a modulated process the
    /// rates in the states multiplied, while the environment stays as it is.
    ///
    /// # Errors
    /// If `factor` is not positive and finite, or a rate or load leaves the range of doubles.
    pub fn scaled(&self, factor: f64) -> Result<Self, WorkloadError> {
        self.scaled_by_type(&vec![factor; self.types.len()])
    }

    /// The same with a factor for each type (K), as [`Workload::scaled`] applies it.
    ///
    /// # Errors
    /// If a factor is missing, or not positive and finite, or a rate or load leaves the range of
    /// doubles.
    pub fn scaled_by_type(&self, factors: &[f64]) -> Result<Self, WorkloadError> {
        let unusable = |factor: &&f64| !(**factor > 0.0 && factor.is_finite());
        if let Some(factor) = factors.iter().find(unusable) {
            let message = format!("the arrival rates cannot be multiplied by {factor}");
            let fault = Fault::new(Place::Jobs, message, "choose a positive, finite factor");
            return Err(WorkloadError::without_text(vec![fault]));
        }
        let mut draft = self.record().draft();
        let mut faults = Vec::new();
        for (i, job) in self.types.iter().enumerate() {
            let rate = job.arrival_rate();
            let factor = factors.get(i).copied().unwrap_or(f64::NAN);
            draft.jobs[i].arrivals = job.arrivals.scaled(factor);
            if draft.jobs[i].arrivals.is_none() {
                let message =
                    format!("arrival rate {rate} times {factor} is out of the range of numbers");
                faults.push(Fault::new(
                    Place::Rate(i),
                    message,
                    "choose a factor nearer to 1",
                ));
            }
        }
        if !faults.is_empty() {
            return Err(WorkloadError::without_text(faults));
        }
        let checked = draft.check().map_err(WorkloadError::without_text)?;
        Ok(Self {
            unserved: self.unserved.clone(),
            ..checked.workload
        })
    }

    /// The same workload on a server with one more unit of resource j, and how much that is: the
    /// greatest common divisor of the demands. `None` where nobody demands it, or where the sum is
    /// no decimal of a double.
    #[must_use]
    pub fn with_one_more_unit(&self, j: usize) -> Option<(Self, f64)> {
        let (i, job) = self
            .types
            .iter()
            .enumerate()
            .find(|(_, job)| job.units[j] > 0)?;
        let unit = self.types[i].demand[j].exact() / BigInt::from(job.units[j]);
        let more = Decimal::nearest(&unit)?;
        let mut draft = self.record().draft();
        draft.capacity[j].1 = Decimal::nearest(&(self.resources[j].capacity.exact() + &unit));
        let checked = draft.check().ok()?;
        // Rounding may have lost the unit that was added.
        let gained = checked.workload.resources[j].units > self.resources[j].units;
        gained.then_some((checked.workload, more.value()))
    }

    /// The workload as an artifact carries it.
    #[must_use]
    pub fn record(&self) -> Record {
        Record::of(self)
    }

    /// `sha256:` and 64 hexadecimal digits that identify the workload: its unit of time,
    /// resources and types in order with their exact numbers. Where the figures come from, the
    /// layout of the document and types that do not arrive do not enter.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&self.canonical())
    }

    /// One line a field. Names go with their length in bytes: no name can imitate a field.
    fn canonical(&self) -> String {
        let named = |label: &str, name: &str| format!("{label} {}:{name}", name.len());
        let mut text = named("synth workload 1\ntime_unit", &self.time_unit);
        for resource in &self.resources {
            text += &named("\nresource", &resource.name);
            text += &format!(" {}", resource.capacity.canonical());
        }
        text.extend(self.types.iter().map(JobType::canonical));
        text
    }
}

/// A workload just read, and what its author should know though it is no fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<W = Workload> {
    /// The checked workload.
    pub workload: W,
    /// Warnings, each with its place in the document, ready for standard error.
    pub warnings: Vec<String>,
}

/// Why there is no workload. Displayed, it is ready for standard error.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file cannot be read.
    #[error("error: cannot read the workload {}: {source}\n = help: check the path, and that the file may be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The workload has faults.
    #[error("{report}")]
    Faults {
        /// All faults as text, with the lines of the document that they stand in.
        report: String,
        /// The faults one by one.
        faults: Vec<Fault>,
    },
}

impl WorkloadError {
    /// Faults of a workload that has no document to quote.
    fn without_text(faults: Vec<Fault>) -> Self {
        let lines: Vec<String> = faults
            .iter()
            .map(|f| {
                format!(
                    "error: {}\n --> {}\n = help: {}",
                    f.message, f.place, f.help
                )
            })
            .collect();
        Self::Faults {
            report: lines.join("\n\n"),
            faults,
        }
    }
}

/// What identifies a text: `sha256:` and 64 hexadecimal digits.
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Reads the document in a file.
fn read_with<W>(
    path: &Path,
    parse: fn(&str, &str) -> Result<Parsed<W>, WorkloadError>,
) -> Result<Parsed<W>, WorkloadError> {
    let failed = |source| WorkloadError::Io {
        path: path.to_owned(),
        source,
    };
    let bytes = bytes_of(path).map_err(failed)?;
    document::parse_bytes(&bytes, &path.display().to_string(), parse)
}

/// The bytes of a file, refused beyond 64 MiB: a device or a log given by mistake must not fill
/// the memory.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 64 << 20;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is larger than 64 MiB",
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
