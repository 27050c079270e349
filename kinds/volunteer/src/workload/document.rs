//! The document of a campaign, as it is read, and as policies record it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Campaign;
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, Parsed, Spelling, Spellings, WorkloadDocument,
    unit_of_time,
};
use synth_core::number::Decimal;
use synth_queues::law::Size;

/// Batches of jobs on the machines of volunteers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampaignDocument {
    /// Always `volunteer`.
    pub kind: String,
    /// Where the numbers come from: any text, which is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. Times may have a unit of their own if this is one of time.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// How long the campaign lasts \[time\], > 0.
    pub horizon: Decimal,
    /// Groups of hosts, each drawn from the same laws.
    pub hosts: Vec<HostsRecord>,
    /// What runs on them.
    pub applications: Vec<ApplicationRecord>,
    /// What is to be done.
    pub batches: Vec<BatchRecord>,
    /// Parameters of the dispatch that are fixed, and not tuned.
    #[serde(default)]
    pub policy: PolicyRecord,
}

/// Hosts that are alike in law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostsRecord {
    /// Name of the group.
    pub name: String,
    /// How many there are, ≥ 1.
    pub count: u32,
    /// CPU cores of each.
    pub cores: u32,
    /// GPUs of each.
    #[serde(default)]
    pub gpus: u32,
    /// The law of the speed of a core \[work/time\], drawn once a host.
    pub speed: Size,
    /// The law of the speed of a GPU \[work/time\], drawn once a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_speed: Option<Size>,
    /// When a host is on; always, if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<AvailabilityRecord>,
    /// The law of the work that a host keeps queued \[time\], drawn once a host.
    pub buffer: Size,
    /// The least time between two requests of a host \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Decimal>,
    /// The law of the time from the end of a job to its report \[time\]; none if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Size>,
    /// The chance that a result is wrong.
    #[serde(default)]
    pub error: Decimal,
    /// The chance that a job that was sent is never returned.
    #[serde(default)]
    pub vanish: Decimal,
}

/// Hosts are on and off in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AvailabilityRecord {
    /// The law of the time that a host is on \[time\].
    pub on: Size,
    /// The law of the time that it is off \[time\].
    pub off: Size,
}

/// An application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationRecord {
    /// Its name.
    pub name: String,
    /// Results that have to agree, ≥ 1.
    #[serde(default = "one")]
    pub quorum: u32,
    /// Instances that a job may have before it is given up; 5 and three a result if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// Its versions.
    pub versions: Vec<VersionRecord>,
}

/// A version of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionRecord {
    /// Its name.
    pub name: String,
    /// What it runs on.
    pub processor: Processor,
    /// How fast it is beside others on the same processor, > 0.
    #[serde(default = "unit")]
    pub efficiency: Decimal,
    /// From when on it is there \[time\]; it takes the place of those for the same processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Decimal>,
}

/// A type of processor.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Processor {
    /// A core of a CPU.
    Cpu,
    /// A GPU.
    Gpu,
}

impl Processor {
    /// All of them.
    pub const ALL: [Processor; 2] = [Processor::Cpu, Processor::Gpu];
}

/// Jobs that are submitted together; or a stream of jobs, of which each is for itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRecord {
    /// Its name.
    pub name: String,
    /// The application.
    pub application: String,
    /// The law of the sizes of its jobs \[work\]; a size takes so long on a core of speed 1.
    pub size: Size,
    /// How soon it is to be done.
    pub quality: Quality,
    /// How many jobs it has; none of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// When it is submitted \[time\].
    #[serde(default)]
    pub submitted: Decimal,
    /// How often it is submitted.
    #[serde(default = "one")]
    pub times: u32,
    /// How long after the one before \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Decimal>,
    /// How long after its submission it is to be done \[time\]; of `short` and `long`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Decimal>,
    /// How long after its creation a job of a stream is to be done \[time\]; of `throughput`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Decimal>,
    /// Jobs of a stream a unit of time \[1/time\]; always some if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_rate: Option<Decimal>,
}

/// The four qualities of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "QualityWord")]
pub enum Quality {
    /// As fast as possible.
    #[default]
    Afap,
    /// By a deadline that few hosts can meet by chance.
    Short,
    /// By a deadline that nearly all hosts can meet.
    Long,
    /// No batch: as many jobs as possible, each within a bound.
    Throughput,
}

/// Parameters of the dispatch; what is not given is tuned, or has a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecord {
    /// The percentile that a host has to be above to get jobs of a batch without an estimate, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_percentile: Option<Decimal>,
    /// The percentile that a host has to be above to get a deadline before the batch's estimate, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight_percentile: Option<Decimal>,
    /// The quantile of the time that the last results take, between 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Decimal>,
    /// How long a batch waits before thresholds fall, > 0 \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<Decimal>,
    /// How often percentiles are computed, > 0 \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Decimal>,
}

fn one() -> u32 {
    1
}

fn unit() -> Decimal {
    Decimal::ONE
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl WorkloadDocument for CampaignDocument {
    const KIND: &'static str = "volunteer";
    const EXAMPLE: &'static str = include_str!("example.txt").trim_ascii_end();
    const SPELLINGS: &'static Spellings = &[
        ("horizon", Spelling::Time),
        ("policy.patience", Spelling::Time),
        ("policy.refresh", Spelling::Time),
        ("hosts[].speed", Spelling::LawOrNumber),
        ("hosts[].gpu_speed", Spelling::LawOrNumber),
        ("hosts[].buffer", Spelling::LawOrTime),
        ("hosts[].delay", Spelling::LawOrTime),
        ("hosts[].contact", Spelling::Time),
        ("hosts[].availability.on", Spelling::LawOrTime),
        ("hosts[].availability.off", Spelling::LawOrTime),
        ("applications[].versions[].released", Spelling::Time),
        ("batches[].size", Spelling::LawOrTime),
        ("batches[].submitted", Spelling::Time),
        ("batches[].every", Spelling::Time),
        ("batches[].deadline", Spelling::Time),
        ("batches[].bound", Spelling::Time),
    ];

    type Checked = Campaign;

    fn checked(self, faults: Vec<Fault>) -> CheckedOrFaults<Campaign> {
        Ok((self.campaign(faults)?, Vec::new()))
    }

    fn record(campaign: &Campaign) -> Self {
        campaign.record().clone()
    }
}

impl Campaign {
    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        CampaignDocument::parse(text, name)
    }
}
