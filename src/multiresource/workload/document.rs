//! The document of one server, as it is read and written.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::check::{Draft, DraftJob};
use super::{JobType, Known, Workload};
use crate::document::{Document, Fault, Pairs, Place, Step, place, to_yaml};
use crate::law::{ArrivalProcess, CommonModulation, Size};
use crate::number::Decimal;

/// The kind that documents of this room name.
pub(super) const KIND: &str = "multiresource";

pub(super) const EXAMPLE: &str = "a workload reads like this:
  kind: multiresource
  time_unit: s
  server: {capacity: {cpu: 128}}
  jobs:
    - {name: web, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}";

/// A document that has `server`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerDocument {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    time_unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    modulation: Given<CommonModulation>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    start_latency: Given<Size>,
    server: Server,
    jobs: Vec<Job>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Server {
    capacity: Pairs,
}

/// What may be left out. `Some(None)` stands for what is there and has faults.
pub(super) type Given<T> = Option<Option<T>>;

pub(super) fn given<'de, D, T>(deserializer: D) -> Result<Given<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// A job type: of `arrival_rate` and `arrivals` exactly one, and of `mean_size` and `size`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    name: String,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Given<u32>,
    #[serde(default)]
    demand: Pairs,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    arrival_rate: Given<Decimal>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    arrivals: Given<ArrivalProcess>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_size: Given<Decimal>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Given<Size>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Given<Decimal>,
}

impl Workload {
    /// The workload as a document that reads back as this workload. Of types that do not arrive
    /// only the names are known: their demand and size are made up.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        to_yaml(&ServerDocument {
            kind: KIND.to_owned(),
            source: self.source.clone(),
            time_unit: self.time_unit.clone(),
            known: self.known.clone(),
            modulation: self.modulation.clone().map(Some),
            start_latency: self.start_latency.clone().map(Some),
            server: Server {
                capacity: Pairs(self.capacities()),
            },
            jobs: Job::all_of(self),
        })
    }
}

impl ServerDocument {
    /// What is to be checked; faults go to the others.
    pub(super) fn draft(self, faults: &mut Vec<Fault>) -> Draft {
        Draft {
            source: self.source,
            time_unit: self.time_unit,
            known: self.known,
            modulation: self.modulation.flatten(),
            start_latency: self.start_latency.flatten(),
            capacity: self.server.capacity.0,
            jobs: Job::drafts(self.jobs, faults),
        }
    }
}

impl Job {
    pub(super) fn drafts(jobs: Vec<Self>, faults: &mut Vec<Fault>) -> Vec<DraftJob> {
        let jobs = jobs.into_iter().enumerate();
        jobs.map(|(i, job)| job.draft(i, faults)).collect()
    }

    fn draft(self, i: usize, faults: &mut Vec<Fault>) -> DraftJob {
        let poisson = |rate| ArrivalProcess::Poisson { rate };
        let exponential = |mean| Size::Exponential { mean };
        let arrivals = one_of(self.arrival_rate, poisson, self.arrivals);
        let size = one_of(self.mean_size, exponential, self.size);
        let mut refuse = |key: &str, (message, help): (&str, &str)| {
            let message = format!("type `{}` {message}", self.name);
            faults.push(Fault::new(place!("jobs", i, key), message, help));
        };
        const KEEP: &str = "keep one of them";
        let arrivals = arrivals.unwrap_or_else(|both| {
            let told = match both {
                true => ("has both `arrival_rate` and `arrivals`", KEEP),
                false => (
                    "has no arrivals",
                    "add `arrival_rate: 4`, or a process: `arrivals: {process: batches, rate: 2, sizes: [1, 3]}`",
                ),
            };
            refuse("arrivals", told);
            None
        });
        let size = size.unwrap_or_else(|both| {
            let told = match both {
                true => ("has both `mean_size` and `size`", KEEP),
                false => (
                    "has no size",
                    "add `mean_size: 1`, or a law: `size: {law: exponential, mean: 1}`",
                ),
            };
            refuse("size", told);
            None
        });
        DraftJob {
            name: self.name,
            nodes: self.nodes.unwrap_or(Some(1)),
            demand: self.demand.0,
            arrivals,
            size,
            limit: self.limit.flatten(),
        }
    }

    /// All types of a workload, those that do not arrive after the others.
    pub(super) fn all_of(workload: &Workload) -> Vec<Self> {
        let served = workload.types.iter().map(|job| Self::of(job, workload));
        let unserved = workload.unserved.iter().map(|name| Self {
            name: name.clone(),
            demand: Pairs(workload.capacities().into_iter().take(1).collect()),
            arrival_rate: Some(Some(Decimal::ZERO)),
            mean_size: Some(Decimal::new(1.0)),
            ..Self::default()
        });
        served.chain(unserved).collect()
    }

    fn of(job: &JobType, workload: &Workload) -> Self {
        let names = workload.resources.iter().map(|resource| &resource.name);
        let demand = names.zip(&job.demand).filter(|(_, d)| **d > Decimal::ZERO);
        let demand = demand.map(|(name, demand)| (name.clone(), Some(*demand)));
        let mut written = Self {
            name: job.name.clone(),
            nodes: (job.nodes > 1).then_some(Some(job.nodes)),
            demand: Pairs(demand.collect()),
            limit: job.limit.map(Some),
            ..Self::default()
        };
        match &job.arrivals {
            ArrivalProcess::Poisson { rate } => written.arrival_rate = Some(Some(*rate)),
            process => written.arrivals = Some(Some(process.clone())),
        }
        match job.size() {
            Size::Exponential { mean } => written.mean_size = Some(Some(*mean)),
            size => written.size = Some(Some(size.clone())),
        }
        written
    }
}

/// What one of two keys says. Where not exactly one of them stands there: whether both do.
fn one_of<S, T>(simple: Given<S>, full: impl Fn(S) -> T, law: Given<T>) -> Result<Option<T>, bool> {
    match (simple, law) {
        (Some(simple), None) => Ok(simple.map(full)),
        (None, Some(law)) => Ok(law),
        (simple, _) => Err(simple.is_some()),
    }
}

/// The place that a document has for what is checked: of rates and means that stand in a process
/// or a law, or do not.
pub(super) fn respelt(document: &Document<'_>, place: &Place) -> Option<Place> {
    let [Step::Key(jobs), Step::Index(i), Step::Key(key), ..] = place.steps() else {
        return None;
    };
    let job = document.root.get(jobs)?.item(*i)?;
    let has = |key: &str| job.get(key).is_some();
    let here = |key: &str| place!("jobs", *i, key);
    match key.as_str() {
        "size" if !has("size") && has("mean_size") => Some(here("mean_size")),
        "arrivals" if !has("arrivals") && has("arrival_rate") => Some(here("arrival_rate")),
        "arrival_rate" if !has("arrival_rate") && has("arrivals") => {
            Some(here("arrivals").then("rate"))
        }
        _ => None,
    }
}
