use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cluster;
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, Parsed, Spelling, Spellings, WorkloadDocument,
    unit_of_time,
};
use synth_core::number::Decimal;
use synth_queues::law::Size;

/// Jobs that may run only on certain servers, possibly on several at once. Give either `mean_size`
/// or `size`, and either `servers` with `classes` or `assignment`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["servers", "classes"]}, {"required": ["assignment"]}]},
    {"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]},
]))]
pub struct ClusterDocument {
    /// Always `compatibility`.
    pub kind: String,
    /// Where the numbers come from: free text, copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// The classes of jobs, each with the servers that it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRecord>,
    /// Instead of servers and classes: identical servers, of which some are drawn for each job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AssignmentRecord>,
    /// The mean of exponential sizes \[work\], > 0, of all classes; policy files have `size`
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The size distribution \[work\] of all classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The name of the server.
    pub name: String,
    /// The capacity \[work/time\], ≥ 0.
    pub rate: Decimal,
}

/// A class of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRecord {
    /// The name of the class.
    pub name: String,
    /// The names of the servers that it may use.
    pub servers: Vec<String>,
    /// The rate of Poisson arrivals \[1/time\].
    pub arrival_rate: Decimal,
}

/// The servers that are drawn at random for each job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssignmentRecord {
    /// Describes how the servers are drawn.
    pub random: RandomRecord,
    /// The rate of Poisson arrivals of all jobs \[1/time\].
    pub arrival_rate: Decimal,
}

/// A fixed number of distinct, identical servers for each job, drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRecord {
    /// The number of servers.
    pub servers: u32,
    /// Capacity of each server \[work/time\].
    pub rate: Decimal,
    /// The number of servers drawn for each job.
    pub degree: u32,
}

impl WorkloadDocument for ClusterDocument {
    const KIND: &'static str = "compatibility";
    const EXAMPLE: &'static str = include_str!("example.txt").trim_ascii_end();
    const SHORT: &'static [(&'static str, &'static str)] = &[("size", "mean_size")];
    const SPELLINGS: &'static Spellings = &[("size", Spelling::Law)];

    type Checked = Cluster;

    fn checked(self, faults: Vec<Fault>) -> CheckedOrFaults<Cluster> {
        self.cluster(faults)
    }

    fn record(cluster: &Cluster) -> Self {
        cluster.record().clone()
    }
}

impl Cluster {
    /// Parses a document and reports every fault; `name` identifies the file in messages.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        ClusterDocument::parse(text, name)
    }
}
