//! The document of a cluster, as it is read, and as policies record it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cluster;
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, Parsed, Spelling, Spellings, WorkloadDocument,
    unit_of_time,
};
use synth_core::number::Decimal;
use synth_queues::law::Size;

/// Jobs that run on some servers only, also on several at once: of `mean_size` and `size` exactly one; `servers` with
/// `classes`, or `assignment`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["servers", "classes"]}, {"required": ["assignment"]}]},
    {"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]},
]))]
pub struct ClusterDocument {
    /// Always `compatibility`.
    pub kind: String,
    /// Where the numbers come from: any text, which is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// The classes of jobs, each with the servers that it may run on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRecord>,
    /// In place of servers and classes: servers that are alike, drawn for each job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AssignmentRecord>,
    /// The mean of exponential sizes \[work\], > 0, of all classes. Policy files have `size` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The law of sizes \[work\] of all classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its capacity \[work/time\], ≥ 0.
    pub rate: Decimal,
}

/// A class of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRecord {
    /// Its name.
    pub name: String,
    /// Names of its servers.
    pub servers: Vec<String>,
    /// Poisson arrivals \[1/time\].
    pub arrival_rate: Decimal,
}

/// Servers that are drawn for each job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssignmentRecord {
    /// How they are drawn.
    pub random: RandomRecord,
    /// Poisson arrivals \[1/time\] of all jobs.
    pub arrival_rate: Decimal,
}

/// So many different servers a job, all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRecord {
    /// How many servers there are.
    pub servers: u32,
    /// Capacity of each \[work/time\].
    pub rate: Decimal,
    /// Servers a job.
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
    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        ClusterDocument::parse(text, name)
    }
}
