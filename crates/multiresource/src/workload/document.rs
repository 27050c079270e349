use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fleet::ONE_SERVER;
use super::{Fleet, JobType, Shape, SizeInformation, Workload};
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, FaultsAt, Pairs, Parsed, Spelling, Spellings, Step,
    WorkloadDocument, place, read_file, synonym_of, to_yaml,
};
use synth_core::number::Decimal;
use synth_queues::distribution::{ArrivalProcess, CommonModulation, SizeDistribution};

/// A workload with jobs of several types, which need amounts of resources on one server (`server`)
/// or several (`servers`).
// A value that could not be read is `None` if others can be checked without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{"anyOf": [{"required": ["server"]}, {"required": ["servers"]}]}]))]
pub struct FleetDocument {
    /// Always `multiresource`.
    pub kind: String,
    /// The origin of the numbers: any text, which is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. Times may have another unit if this is a unit of time.
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The information about the size of a job on arrival; by default only its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<SizeInformation>,
    /// A Markov chain that is used to change the arrival rates of all types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulation: Option<CommonModulation>,
    /// The time from the decision to start a job until it runs \[time\]: a number, or a
    /// distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_latency: Option<SizeDistribution>,
    /// The names of all resources, in the order of policy files, which always have them. If
    /// present, the order of `servers` is kept as well; otherwise both orders are derived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// The server, if there is only one. Policy files contain `servers` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<OneServer>,
    /// The list of the shapes, if there is more than one server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ShapeDocument>,
    /// The list of job types, which must not be empty. Policy files only contain types that arrive.
    /// Schedules use the same order.
    pub jobs: Vec<JobDocument>,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneServer {
    /// The capacity for each named resource, > 0: `{cpu: 128, memory: 512, gpu: {devices: 4}}`.
    pub capacity: Pairs<Amount>,
}

/// Identical servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Servers")]
pub struct ShapeDocument {
    /// The name; by default `shape-1` and so on, or `server` for a single server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of servers, from 1 to 100 000. The default is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The capacity of one of them for each resource, > 0.
    pub capacity: Pairs<Amount>,
}

/// The capacity for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Amount {
    /// An amount that is shared by the jobs.
    Plain(Decimal),
    /// A number of devices. If a demand is less than 1, it must be on a single device, and
    /// otherwise it must be a number of whole devices. If a resource consists of devices on one
    /// shape, then it does so on all shapes.
    Devices {
        /// The number of devices, ≥ 1.
        devices: Decimal,
    },
}

/// A job type with one of `arrival_rate` and `arrivals`, and one of `mean_size` and `size`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Job", extend("allOf" = [
    {"anyOf": [{"required": ["arrival_rate"]}, {"required": ["arrivals"]}]},
    {"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]},
]))]
pub struct JobDocument {
    /// The name.
    pub name: String,
    /// The number of servers that are used by a job at the same time. The default is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// The amount of each resource that is needed on each of the servers. The default is 0.
    #[serde(default)]
    pub demand: Pairs,
    /// The rate of a Poisson process \[1/time\]. Policy files contain `arrivals` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_rate: Option<Decimal>,
    /// The arrival process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalProcess>,
    /// The mean of the sizes if they are exponential \[time\]. Policy files contain `size` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The distribution of the sizes, which are the run times of the jobs \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeDistribution>,
    /// The time that no job of this type exceeds \[time\], > 0, for `known: type-limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Decimal>,
    /// The priority of the jobs, which defaults to 0. A larger number is more important. This is
    /// only used by the rules `priority` and `strict-priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = -1_000_000_000_000_i64))]
    pub priority: Option<Decimal>,
}

impl Amount {
    pub(super) fn value(self) -> Decimal {
        match self {
            Amount::Plain(amount) | Amount::Devices { devices: amount } => amount,
        }
    }

    /// Creates an amount, which is the number of devices if the resource consists of devices.
    pub fn of(amount: Decimal, is_devices: bool) -> Self {
        match is_devices {
            true => Amount::Devices { devices: amount },
            false => Amount::Plain(amount),
        }
    }
}

impl WorkloadDocument for FleetDocument {
    const KIND: &'static str = "multiresource";
    const EXAMPLE: &'static str = "a workload reads like this:
  kind: multiresource
  time_unit: s
  server: {capacity: {cpu: 128}}
  jobs:
    - {name: web, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}";
    const SHORT: &'static [(&'static str, &'static str)] = &[
        ("servers", "server"),
        ("arrivals", "arrival_rate"),
        ("size", "mean_size"),
    ];
    const SPELLINGS: &'static Spellings = &[
        ("start_latency", Spelling::LawOrTime),
        ("jobs[].mean_size", Spelling::Time),
        ("jobs[].size", Spelling::LawOfTimes),
        ("jobs[].limit", Spelling::Time),
        ("jobs[].arrivals", Spelling::Process),
    ];

    type Checked = Fleet;

    fn checked(mut self, mut faults: Vec<Fault>) -> CheckedOrFaults<Fleet> {
        self.complete(&mut FaultsAt::document(&mut faults));
        let read = faults.len();
        self.check_all(&mut FaultsAt::document(&mut faults));
        // A value that could not be read must not be reported as missing.
        let mut own = faults.split_off(read);
        own.retain(|fault| faults.iter().all(|read| read.place != fault.place));
        faults.append(&mut own);
        match faults.is_empty() {
            true => self.build(),
            false => Err(faults),
        }
    }

    fn record(fleet: &Fleet) -> Self {
        fleet.record()
    }
}

impl FleetDocument {
    fn complete(&mut self, at: &mut FaultsAt<'_>) {
        const SERVERS: [&str; 2] = ["server", "servers"];
        let is_named = |fault: &Fault| match fault.place.steps().first() {
            Some(Step::Key(key)) => {
                SERVERS.contains(&key.as_str()) || synonym_of(key, &SERVERS).is_some()
            }
            _ => false,
        };
        match (self.server.take(), self.servers.is_empty()) {
            (Some(OneServer { capacity }), true) => self.servers.push(ShapeDocument {
                name: Some(ONE_SERVER.to_owned()),
                count: Some(1),
                capacity,
            }),
            (Some(_), false) => {
                let message = "the document has both `server` and `servers`";
                let help =
                    "keep `server` for one server, or `servers` for a fleet of several shapes";
                at.add("servers", message, help);
            }
            (None, true) if !at.all().iter().any(is_named) => {
                let help = "add `server: {capacity: {cpu: 128}}`, or `servers` for a fleet of several shapes";
                at.add("servers", "the document has no servers", help);
            }
            (None, _) => {}
        }
        for (h, shape) in self.servers.iter_mut().enumerate() {
            let is_faulty = at.entry("servers", h).has_fault("count");
            shape.count = shape.count.or((!is_faulty).then_some(1));
        }
        let is_one = self.is_one_server();
        for (h, shape) in self.servers.iter_mut().enumerate() {
            let name = || match is_one {
                true => ONE_SERVER.to_owned(),
                false => format!("shape-{}", h + 1),
            };
            shape.name.get_or_insert_with(name);
        }
        for (i, job) in self.jobs.iter_mut().enumerate() {
            job.complete(&mut at.entry("jobs", i));
        }
    }

    /// Returns whether it describes one server.
    pub fn is_one_server(&self) -> bool {
        matches!(&self.servers[..], [shape] if shape.count == Some(1))
    }

    pub(super) fn has_devices(&self, resource: &str) -> bool {
        let is_device = |(name, amount): &(String, Option<Amount>)| {
            name == resource && matches!(amount, Some(Amount::Devices { .. }))
        };
        let mut amounts = self.servers.iter().flat_map(|shape| &shape.capacity.0);
        amounts.any(is_device)
    }

    fn in_short(mut self) -> Self {
        let mut arranged = self.clone();
        arranged.arrange();
        if arranged == self {
            self.resources.clear();
        }
        if let [one] = &mut self.servers[..]
            && one.count == Some(1)
            && one.name.as_deref() == Some(ONE_SERVER)
        {
            let capacity = std::mem::take(&mut one.capacity);
            (self.server, self.servers) = (Some(OneServer { capacity }), Vec::new());
        }
        for job in &mut self.jobs {
            if let Some(ArrivalProcess::Poisson { rate }) = job.arrivals {
                (job.arrival_rate, job.arrivals) = (Some(rate), None);
            }
            if let Some(SizeDistribution::Exponential { mean }) = job.size {
                (job.mean_size, job.size) = (Some(mean), None);
            }
        }
        self
    }
}

impl JobDocument {
    fn complete(&mut self, at: &mut FaultsAt<'_>) {
        let owner = format!("type `{}`", self.name);
        self.nodes = self.nodes.or((!at.has_fault("nodes")).then_some(1));
        let (rate, arrivals) = (&mut self.arrival_rate, &mut self.arrivals);
        let (rate, arrivals) = (("arrival_rate", rate), ("arrivals", arrivals));
        let poisson = |rate| ArrivalProcess::Poisson { rate };
        let help = "add `arrival_rate: 4`, or a process: `arrivals: {process: batches, rate: 2, sizes: [1, 3]}`";
        at.one_of(&owner, rate, arrivals, poisson, help);
        let (mean, size) = (("mean_size", &mut self.mean_size), ("size", &mut self.size));
        let exponential = |mean| SizeDistribution::Exponential { mean };
        let help = "add `mean_size: 1`, or a law: `size: {law: exponential, mean: 1}`";
        at.one_of(&owner, mean, size, exponential, help);
    }
}

impl Fleet {
    /// Reads a document; `name` is the file name for messages, which list all faults.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        FleetDocument::parse(text, name)
    }

    /// Reads a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with all faults.
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Returns the document of the fleet with all defaults, as policies record it.
    pub fn record(&self) -> FleetDocument {
        let resources = &self.envelope.resources;
        let names = || resources.iter().map(|own| &own.name);
        let amount = |j: usize, amount| Amount::of(amount, resources[j].device.is_some());
        let shape = |own: &Shape| ShapeDocument {
            name: Some(own.name.clone()),
            count: Some(own.count),
            capacity: Pairs::amounts(names(), &own.capacity, amount),
        };
        let job = |own: &JobType| JobDocument {
            name: own.name.clone(),
            nodes: Some(own.nodes).filter(|nodes| *nodes > 1),
            demand: Pairs::amounts(names(), &own.demand, |_, demand| demand),
            arrivals: Some(own.arrivals.clone()),
            size: Some(own.size().clone()),
            limit: own.limit,
            priority: Some(own.priority).filter(|priority| !priority.is_zero()),
            ..JobDocument::default()
        };
        FleetDocument {
            kind: FleetDocument::KIND.to_owned(),
            resources: names().cloned().collect(),
            servers: self.shapes.iter().map(shape).collect(),
            jobs: self.types().iter().map(job).collect(),
            ..self.envelope.header.clone()
        }
    }

    /// Returns the fleet as a YAML document that reads back as this fleet.
    pub fn to_yaml(&self) -> String {
        to_yaml(&self.record().in_short())
    }
}

impl Workload {
    /// Reads a document; see [`Fleet::parse`]. It is a fault if there are several servers.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let parsed = Fleet::parse(text, name)?;
        if parsed.workload.is_one_server() {
            return Ok(Parsed {
                workload: parsed.workload.envelope,
                warnings: parsed.warnings,
            });
        }
        Err(DocumentError::without_text(vec![Fault::new(
            place!("servers"),
            format!(
                "{name} is a fleet of several servers or has devices, but one server without devices is expected"
            ),
            "give `server: {capacity: …}` with amounts here; a fleet goes with `synth --workload FILE --preemption …`, \
             `synth check` and `synth simulate FILE`",
        )]))
    }

    /// Reads a file; see [`Fleet::read`] and [`Workload::parse`].
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Returns the document of one server with all defaults.
    pub fn record(&self) -> FleetDocument {
        Fleet::from(self.clone()).record()
    }

    /// Returns the workload as a YAML document that reads back as this workload.
    pub fn to_yaml(&self) -> String {
        Fleet::from(self.clone()).to_yaml()
    }
}
