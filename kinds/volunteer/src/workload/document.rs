use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Campaign;
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, Parsed, Spelling, Spellings, WorkloadDocument,
    unit_of_time,
};
use synth_core::number::Decimal;
use synth_queues::law::Size;

/// A campaign of batches of jobs that run on the hosts of volunteers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampaignDocument {
    /// Always `volunteer`.
    pub kind: String,
    /// Where the numbers come from: free text, copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. If it is a unit of time, times may be given in other units.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The length of the campaign \[time\], > 0.
    pub horizon: Decimal,
    /// Groups of hosts, each with its own distributions.
    pub hosts: Vec<HostsRecord>,
    /// The applications that run on the hosts.
    pub applications: Vec<ApplicationRecord>,
    /// The batches of jobs, and the streams of jobs.
    pub batches: Vec<BatchRecord>,
    /// Fixed parameters of the dispatch, which are not tuned.
    #[serde(default)]
    pub policy: PolicyRecord,
}

/// A group of hosts that are drawn from the same distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostsRecord {
    /// The name of the group.
    pub name: String,
    /// The number of hosts, ≥ 1.
    pub count: u32,
    /// CPU cores per host.
    pub cores: u32,
    /// GPUs per host.
    #[serde(default)]
    pub gpus: u32,
    /// The distribution of the speed of a core \[work/time\], drawn once per host.
    pub speed: Size,
    /// The distribution of the speed of a GPU \[work/time\], drawn once per host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_speed: Option<Size>,
    /// The periods in which a host is on or off. By default, it is always on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<AvailabilityRecord>,
    /// Distribution of the amount of work that a host keeps queued \[time\], drawn once per host.
    pub buffer: Size,
    /// The least time between two requests of a host \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Decimal>,
    /// Distribution of the time from the end of a job to its report \[time\]; no delay by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Size>,
    /// The probability that a result is wrong.
    #[serde(default)]
    pub error: Decimal,
    /// The probability that a job is never returned.
    #[serde(default)]
    pub vanish: Decimal,
}

/// The alternating periods in which a host is on or off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AvailabilityRecord {
    /// The distribution of the time on \[time\].
    pub on: Size,
    /// The distribution of the time off \[time\].
    pub off: Size,
}

/// An application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationRecord {
    /// The name of the application.
    pub name: String,
    /// The number of results that must agree, ≥ 1.
    #[serde(default = "one")]
    pub quorum: u32,
    /// Instances after which a job is given up; 5 plus three per result by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// The versions of the application.
    pub versions: Vec<VersionRecord>,
}

/// A version of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionRecord {
    /// The name of the version.
    pub name: String,
    /// The processor type.
    pub processor: Processor,
    /// The relative speed on the same processor type, > 0.
    #[serde(default = "unit")]
    pub efficiency: Decimal,
    /// Release time \[time\], when it replaces other versions for the same processor.
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
    /// All types.
    pub const ALL: [Processor; 2] = [Processor::Cpu, Processor::Gpu];
}

/// A set of jobs that are submitted together, or a stream of independent jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRecord {
    /// The name of the batch.
    pub name: String,
    /// The name of the application.
    pub application: String,
    /// The size distribution of its jobs \[work\], as run time on a core of speed 1.
    pub size: Size,
    /// The quality of service.
    pub quality: Quality,
    /// The number of jobs; absent for a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// The time of submission \[time\].
    #[serde(default)]
    pub submitted: Decimal,
    /// The number of submissions.
    #[serde(default = "one")]
    pub times: u32,
    /// The time between submissions \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Decimal>,
    /// The deadline after submission \[time\], for `short` and `long`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Decimal>,
    /// The deadline of a stream job after its creation \[time\], for `throughput`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Decimal>,
    /// The arrival rate of a stream's jobs \[1/time\]. By default, there is always another job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_rate: Option<Decimal>,
}

/// The four qualities of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "QualityWord")]
pub enum Quality {
    /// The batch should be done as fast as possible.
    #[default]
    Afap,
    /// The batch has a deadline that only a few of the hosts are likely to meet by chance.
    Short,
    /// The batch has a deadline that can be met by almost all of the hosts.
    Long,
    /// A stream of jobs: as many of them as possible should be done, each of them within a bound.
    Throughput,
}

/// The parameters of the dispatch; parameters not given are tuned or have defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecord {
    /// A host above this percentile gets jobs of a batch that has no estimate yet, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_percentile: Option<Decimal>,
    /// A host above this percentile can get a deadline before the estimate of the batch, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight_percentile: Option<Decimal>,
    /// The quantile of the turnaround used by estimates, between 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Decimal>,
    /// The time that a batch waits before the thresholds start to fall, > 0 \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<Decimal>,
    /// The interval at which percentiles are computed, > 0 \[time\].
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
    /// Parses a document and reports every fault; `name` identifies the file in messages.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        CampaignDocument::parse(text, name)
    }
}
