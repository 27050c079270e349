use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::unit_of_time;
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;

/// A campaign, which consists of batches of jobs that run on the hosts of volunteers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampaignDocument {
    /// This must be `volunteer`.
    pub kind: String,
    /// A description of where the numbers come from. It is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. If it is a unit of time, times may be given in other units.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The length of the campaign \[time\], > 0.
    pub horizon: Decimal,
    /// The groups of hosts, each with its own distributions.
    pub hosts: Vec<HostsRecord>,
    /// The applications that can be run on the hosts.
    pub applications: Vec<ApplicationRecord>,
    /// The batches of jobs, and the streams of jobs.
    pub batches: Vec<BatchRecord>,
    /// The parameters of the dispatch rule that are fixed. These parameters are not tuned.
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
    /// The number of CPU cores of each host.
    pub cores: u32,
    /// The number of GPUs of each host.
    #[serde(default)]
    pub gpus: u32,
    /// The distribution of the speed of a core \[work/time\]. It is drawn once for each host.
    pub speed: SizeDistribution,
    /// The distribution of the speed of a GPU \[work/time\]. It is drawn once for each host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_speed: Option<SizeDistribution>,
    /// The times for which a host is on or off. By default, it is always on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<AvailabilityRecord>,
    /// The distribution of the amount of work in the queue of a host \[time\], drawn once per host.
    pub buffer: SizeDistribution,
    /// The minimum time between two requests of a host \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Decimal>,
    /// The distribution of the time from the end of a job to its report \[time\], 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<SizeDistribution>,
    /// The probability that a result is wrong.
    #[serde(default)]
    pub error: Decimal,
    /// The probability that a job is never returned.
    #[serde(default)]
    pub vanish: Decimal,
}

/// The times for which a host is on and then off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AvailabilityRecord {
    /// The distribution of the time on \[time\].
    pub on: SizeDistribution,
    /// The distribution of the time off \[time\].
    pub off: SizeDistribution,
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
    /// The number of instances after which a job is given up (default: 5 plus 3 times the quorum).
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
    /// The speed relative to other versions for the same processor type, which must be positive.
    #[serde(default = "unit")]
    pub efficiency: Decimal,
    /// The release time \[time\], when it replaces the older versions for the same processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Decimal>,
}

/// A type of processor.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Processor {
    /// A core of the CPU.
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
    /// The distribution of the sizes of its jobs \[work\], as the run time on a core of speed 1.
    pub size: SizeDistribution,
    /// The quality of service.
    pub quality: Quality,
    /// The number of jobs. This is absent for a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// The time at which it is submitted \[time\].
    #[serde(default)]
    pub submitted: Decimal,
    /// The number of times that it is submitted.
    #[serde(default = "one")]
    pub times: u32,
    /// The time between two submissions \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Decimal>,
    /// The time from the submission to the deadline \[time\], for `short` and `long`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Decimal>,
    /// The time from the creation of a job to its deadline \[time\], for `throughput`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Decimal>,
    /// The rate at which the jobs of a stream arrive \[1/time\]. If absent, there is always a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_rate: Option<Decimal>,
}

/// The quality of service of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "QualityWord")]
pub enum Quality {
    /// The batch should be done as fast as possible.
    #[default]
    Afap,
    /// The batch has a deadline that would be missed by most of the hosts.
    Short,
    /// The batch has a deadline that can be met by almost all of the hosts.
    Long,
    /// A stream of jobs: as many of them as possible should be done, each of them within a bound.
    Throughput,
}

/// The parameters of the dispatch rule. If a parameter is not given, it is tuned or has a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecord {
    /// If a batch has no estimate yet, only hosts above this percentile get its jobs, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_percentile: Option<Decimal>,
    /// A host above this percentile can get a deadline before the estimate of the batch, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight_percentile: Option<Decimal>,
    /// The quantile of the turnaround that is used for the estimates, between 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Decimal>,
    /// The thresholds are reduced if a batch has to wait longer than this \[time\], > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<Decimal>,
    /// The interval at which the percentiles are computed \[time\], which must be greater than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Decimal>,
}

fn one() -> u32 {
    1
}

fn unit() -> Decimal {
    Decimal::ONE
}
