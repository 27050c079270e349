//! The document of one server or of several shapes, as it is read and written.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::check::{Draft, DraftJob, DraftShape};
use super::fleet::ONE_SERVER;
use super::{Fleet, KnownSize, Workload, WorkloadHeader};
use synth_core::document::{
    Document, DocumentError, Fault, Pairs, Parsed, Place, Published, Step, meant, place, read_file,
    to_yaml,
};
use synth_core::number::Decimal;
use synth_queues::law::{
    ArrivalProcess, CommonModulation, Size, Spelling, Spellings, publish, respell,
};

/// The kind that documents of this room name.
const KIND: &str = "multiresource";

/// What is spelt in other ways than it is read.
const SPELLINGS: &Spellings = &[
    ("start_latency", Spelling::LawOrTime),
    ("jobs[].mean_size", Spelling::Time),
    ("jobs[].size", Spelling::LawOfTimes),
    ("jobs[].limit", Spelling::Time),
    ("jobs[].arrivals", Spelling::Process),
];

const EXAMPLE: &str = "a workload reads like this:
  kind: multiresource
  time_unit: s
  server: {capacity: {cpu: 128}}
  jobs:
    - {name: web, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}";

/// Jobs of several types, which need amounts of resources, on one server (`server`) or on several (`servers`).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{"anyOf": [{"required": ["server"]}, {"required": ["servers"]}]}]))]
struct FleetDocument {
    kind: String,
    /// Where the numbers come from: any text, which is copied to the policy file.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The unit of all times and rates. Times may have a unit of their own if this is one of time.
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    time_unit: String,
    /// What is known of the size of a job when it arrives. If it is left out: only its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<KnownSize>,
    /// A Markov chain that changes the arrival rates of all types.
    #[serde(skip_serializing_if = "Option::is_none")]
    modulation: Option<CommonModulation>,
    /// The time from the decision to start a job until it runs \[time\]: a number, or a law.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_latency: Option<Size>,
    /// The one server.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
    /// The shapes of several servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<Vec<Servers>>,
    /// The types of jobs, at least one.
    jobs: Vec<Job>,
}

/// One server.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OneServer")]
struct Server {
    /// How much of each resource it has, > 0: `{cpu: 128, memory: 512, gpu: {devices: 4}}`. Names are free.
    capacity: Pairs<Amount>,
}

/// Servers that are alike.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Servers {
    /// Their name. If it is left out: `shape-1` and so on.
    name: Option<String>,
    /// How many there are, ≥ 1.
    #[serde(default = "single")]
    count: Option<u32>,
    /// How much of each resource one of them has, > 0.
    capacity: Pairs<Amount>,
}

/// How much of a resource a server has.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum Amount {
    /// An amount, of which each job takes a part.
    Plain(Decimal),
    /// Devices: a demand below 1 has to be on one of them, and a whole number takes that many whole devices. A resource that
    /// consists of devices on one shape does so on all.
    Devices {
        /// How many there are, ≥ 1.
        devices: Decimal,
    },
}

/// Returns the amounts of a shape, and adds the names of resources that consist of devices.
fn amounts(capacity: Pairs<Amount>, names: &mut Vec<String>) -> Vec<(String, Option<Decimal>)> {
    let amount = |(name, amount): (String, Option<Amount>)| match amount {
        Some(Amount::Devices { devices }) => {
            names.push(name.clone());
            (name, Some(devices))
        }
        Some(Amount::Plain(amount)) => (name, Some(amount)),
        None => (name, None),
    };
    capacity.0.into_iter().map(amount).collect()
}

/// What may be left out. `Some(None)` stands for what is there and has faults.
type Field<T> = Option<Option<T>>;

fn single() -> Option<u32> {
    Some(1)
}

fn field<'de, D, T>(deserializer: D) -> Result<Field<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// A type of jobs: of `arrival_rate` and `arrivals` exactly one, and of `mean_size` and `size`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["arrival_rate"]}, {"required": ["arrivals"]}]},
    {"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]},
]))]
struct Job {
    /// Its name.
    name: String,
    /// How many servers a job runs on at once.
    #[serde(default = "single", skip_serializing_if = "Option::is_none")]
    nodes: Option<u32>,
    /// How much a job needs of each resource, on each of its servers; 0 of those that are left out.
    #[serde(default)]
    demand: Pairs,
    /// The rate of Poisson arrivals \[1/time\].
    #[serde(
        default,
        deserialize_with = "field",
        skip_serializing_if = "Option::is_none"
    )]
    arrival_rate: Field<Decimal>,
    /// The process of arrivals.
    #[serde(
        default,
        deserialize_with = "field",
        skip_serializing_if = "Option::is_none"
    )]
    arrivals: Field<ArrivalProcess>,
    /// The mean of exponential sizes \[time\], > 0: how long a job runs.
    #[serde(
        default,
        deserialize_with = "field",
        skip_serializing_if = "Option::is_none"
    )]
    mean_size: Field<Decimal>,
    /// The law of sizes \[time\]: how long a job runs.
    #[serde(
        default,
        deserialize_with = "field",
        skip_serializing_if = "Option::is_none"
    )]
    size: Field<Size>,
    /// The time that no job of this type exceeds \[time\], > 0: for `known: type-limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Decimal>,
    /// How important its jobs are: a larger number is more important. 0 if it is left out. The rules `priority` and
    /// `strict-priority` go by it, and no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = -1_000_000_000_000_i64))]
    priority: Option<Decimal>,
}

impl Fleet {
    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let mut document = Document::parse(text, name, EXAMPLE)?;
        let misnamed = document.misnamed(KIND)?;
        respell(&mut document.root, SPELLINGS);
        let (written, mut faults) = document.read::<FleetDocument>();
        faults.extend(misnamed);
        let names_servers = |key: &str| {
            ["server", "servers"].contains(&key) || meant(key, &["servers", "server"]).is_some()
        };
        let is_named = document.root.keys().any(names_servers) && !faults.is_empty();
        let draft = written.and_then(|written| written.draft(is_named, &mut faults));
        let mut own = draft.as_ref().map_or(Vec::new(), Draft::faults);
        // A value that could not be read is not missing.
        own.retain(|fault| faults.iter().all(|read| read.place != fault.place));
        faults.extend(own);
        // Faults have the places that shapes are written at.
        let checked = match draft.filter(|_| faults.is_empty()) {
            Some(mut draft) => {
                draft.order();
                draft.build()
            }
            None => Err(faults),
        };
        document.conclude(checked, |place| respelt(&document, place))
    }

    /// Adds documents of this kind to the schema for editors.
    pub fn publish(published: &mut Published) {
        publish::<FleetDocument>(published, KIND, SPELLINGS);
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with every
    /// fault found in it.
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Returns the fleet as a document that reads back as this fleet. Of types that do not arrive only the
    /// names are known: their demand and size are made up.
    pub fn to_yaml(&self) -> String {
        let draft = self.record().draft();
        let amount = |(name, amount): (String, Option<Decimal>)| {
            let of = |devices| match draft.devices.contains(&name) {
                true => Amount::Devices { devices },
                false => Amount::Plain(devices),
            };
            let amount = amount.map(of);
            (name, amount)
        };
        let shapes = draft.shapes.into_iter().map(|shape| Servers {
            name: Some(shape.name),
            count: shape.count,
            capacity: Pairs(shape.capacity.into_iter().map(amount).collect()),
        });
        let mut shapes: Vec<Servers> = shapes.collect();
        let is_named = |shape: &Servers| shape.name.as_deref() != Some(ONE_SERVER);
        let server = match &mut shapes[..] {
            [one] if one.count == Some(1) && !is_named(one) => Some(Server {
                capacity: std::mem::take(&mut one.capacity),
            }),
            _ => None,
        };
        let some = self.envelope.resources.first();
        let some = some.map(|resource| (resource.name.clone(), Some(resource.capacity)));
        let unserved = draft.unserved.into_iter().map(|name| Job {
            name,
            demand: Pairs(some.clone().into_iter().collect()),
            arrival_rate: Some(Some(Decimal::ZERO)),
            mean_size: Some(Some(Decimal::ONE)),
            ..Job::default()
        });
        let jobs = draft.jobs.into_iter().map(Job::from).chain(unserved);
        let header = draft.header;
        to_yaml(&FleetDocument {
            kind: KIND.to_owned(),
            source: header.source,
            time_unit: header.time_unit,
            known: header.known,
            modulation: header.modulation,
            start_latency: header.start_latency,
            servers: server.is_none().then_some(shapes),
            server,
            jobs: jobs.collect(),
        })
    }
}

impl Workload {
    /// Reads a document of one server; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found, and where there are several servers.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let Parsed {
            workload: fleet,
            warnings,
        } = Fleet::parse(text, name)?;
        if fleet.is_one_server() {
            let workload = fleet.envelope;
            return Ok(Parsed { workload, warnings });
        }
        Err(DocumentError::without_text(vec![Fault::new(
            place!("servers"),
            format!(
                "{name} is a fleet of several servers, or has devices, and here one server without them is wanted"
            ),
            "give `server: {capacity: …}` with amounts here; a fleet goes with `synth --workload FILE --preemption …`, \
             `synth check` and `synth simulate FILE`",
        )]))
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// As [`Fleet::read`] and [`Workload::parse`].
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Returns the workload as a document that reads back as this workload.
    pub fn to_yaml(&self) -> String {
        Fleet::from(self.clone()).to_yaml()
    }
}

impl FleetDocument {
    /// What is to be checked; faults go to the others. `None` where it has no servers: because what stands there has
    /// faults, if servers are named.
    fn draft(self, is_named: bool, faults: &mut Vec<Fault>) -> Option<Draft> {
        let mut devices = Vec::new();
        let shapes = match (self.server, self.servers) {
            (Some(server), None) => vec![DraftShape {
                name: ONE_SERVER.to_owned(),
                count: Some(1),
                capacity: amounts(server.capacity, &mut devices),
            }],
            (None, Some(servers)) => {
                let shapes = servers.into_iter().enumerate();
                let shapes = shapes.map(|(h, servers)| DraftShape {
                    name: servers.name.unwrap_or_else(|| format!("shape-{}", h + 1)),
                    count: servers.count,
                    capacity: amounts(servers.capacity, &mut devices),
                });
                shapes.collect()
            }
            (both, _) => {
                let (message, help) = if both.is_some() {
                    (
                        "the document has both `server` and `servers`",
                        "keep `server` for one server, or `servers` for a fleet of several shapes",
                    )
                } else {
                    (
                        "the document has no servers",
                        "add `server: {capacity: {cpu: 128}}`, or `servers` for a fleet of several shapes",
                    )
                };
                if both.is_some() || !is_named {
                    faults.push(Fault::new(place!("servers"), message, help));
                }
                Job::drafts(self.jobs, faults);
                return None;
            }
        };
        Some(Draft {
            header: WorkloadHeader {
                source: self.source,
                time_unit: self.time_unit,
                known: self.known,
                modulation: self.modulation,
                start_latency: self.start_latency,
            },
            shapes,
            devices,
            jobs: Job::drafts(self.jobs, faults),
            unserved: Vec::new(),
        })
    }
}

impl Job {
    fn drafts(jobs: Vec<Self>, faults: &mut Vec<Fault>) -> Vec<DraftJob> {
        let jobs = jobs.into_iter().enumerate();
        jobs.map(|(i, job)| job.draft(i, faults)).collect()
    }

    fn draft(self, i: usize, faults: &mut Vec<Fault>) -> DraftJob {
        let poisson = |rate| ArrivalProcess::Poisson { rate };
        let exponential = |mean| Size::Exponential { mean };
        let mut refuse = |key: &str, is_twice: bool, simple: &str, add: &str| {
            let name = &self.name;
            let (message, help) = if is_twice {
                (
                    format!("type `{name}` has both `{simple}` and `{key}`"),
                    "keep one of them",
                )
            } else {
                (format!("type `{name}` has no {key}"), add)
            };
            faults.push(Fault::new(place!("jobs", i, key), message, help));
        };
        let arrivals = one_of(self.arrival_rate, poisson, self.arrivals);
        let arrivals = arrivals.unwrap_or_else(|is_twice| {
            let add = "add `arrival_rate: 4`, or a process: `arrivals: {process: batches, rate: 2, sizes: [1, 3]}`";
            refuse("arrivals", is_twice, "arrival_rate", add);
            None
        });
        let size = one_of(self.mean_size, exponential, self.size);
        let size = size.unwrap_or_else(|is_twice| {
            let add = "add `mean_size: 1`, or a law: `size: {law: exponential, mean: 1}`";
            refuse("size", is_twice, "mean_size", add);
            None
        });
        DraftJob {
            name: self.name,
            nodes: self.nodes,
            demand: self.demand.0,
            arrivals,
            size,
            limit: self.limit,
            priority: self.priority.unwrap_or(Decimal::ZERO),
        }
    }
}

impl From<DraftJob> for Job {
    fn from(job: DraftJob) -> Self {
        let mut demand = job.demand;
        demand.retain(|(_, demand)| *demand != Some(Decimal::ZERO));
        let (arrival_rate, arrivals) = match job.arrivals {
            Some(ArrivalProcess::Poisson { rate }) => (Some(Some(rate)), None),
            process => (None, Some(process)),
        };
        let (mean_size, size) = match job.size {
            Some(Size::Exponential { mean }) => (Some(Some(mean)), None),
            size => (None, Some(size)),
        };
        Job {
            name: job.name,
            nodes: job.nodes.filter(|nodes| *nodes > 1),
            demand: Pairs(demand),
            arrival_rate,
            arrivals,
            mean_size,
            size,
            limit: job.limit,
            priority: Some(job.priority).filter(|priority| !priority.is_zero()),
        }
    }
}

/// Returns what one of two keys says. Where not exactly one of them stands there: whether both do.
fn one_of<S, T>(simple: Field<S>, full: impl Fn(S) -> T, law: Field<T>) -> Result<Option<T>, bool> {
    match (simple, law) {
        (Some(simple), None) => Ok(simple.map(full)),
        (None, Some(law)) => Ok(law),
        (simple, _) => Err(simple.is_some()),
    }
}

/// Returns the place that a document has for what is checked: of rates and means that stand in a process
/// or a law, or do not; and of the one server.
fn respelt(document: &Document<'_>, place: &Place) -> Option<Place> {
    if let [Step::Key(servers), Step::Index(0), rest @ ..] = place.steps()
        && servers == "servers"
    {
        let is_one = document.root.get("server").is_some();
        let here = [&[Step::from("server")], rest].concat();
        return is_one.then(|| here.into_iter().collect());
    }
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
