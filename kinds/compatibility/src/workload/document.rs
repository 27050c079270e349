use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::unit_of_time;
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;

/// A workload where each job can only run on some of the servers. A job can run on several servers
/// at the same time. Exactly one of `mean_size` and `size` must be given, and either `servers` with
/// `classes` or `assignment`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["servers", "classes"]}, {"required": ["assignment"]}]},
    {"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]},
]))]
pub struct ClusterDocument {
    /// This must be `compatibility`.
    pub kind: String,
    /// A description of where the numbers come from. It is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// The classes of jobs, each with the servers that it can use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRecord>,
    /// This is used instead of `servers` and `classes` if all servers are identical, and some of
    /// them are drawn for each job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AssignmentRecord>,
    /// The mean size of the jobs of all classes \[work\], which must be greater than 0. The sizes
    /// are exponential. In a policy file, this is replaced with `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The size distribution \[work\] of all classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeDistribution>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The name of the server.
    pub name: String,
    /// The capacity of the server \[work/time\], which must not be negative.
    pub rate: Decimal,
}

/// A class of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRecord {
    /// The name of the class.
    pub name: String,
    /// The names of the servers that it can use.
    pub servers: Vec<String>,
    /// The rate at which jobs arrive \[1/time\]. The arrivals are a Poisson process.
    pub arrival_rate: Decimal,
}

/// A set of servers, some of which are drawn at random for each job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssignmentRecord {
    /// Describes how the servers are drawn.
    pub random: RandomRecord,
    /// The rate at which jobs arrive \[1/time\]. The arrivals are a Poisson process.
    pub arrival_rate: Decimal,
}

/// The number of servers that each job can use, which are drawn at random from identical servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRecord {
    /// The number of servers.
    pub servers: u32,
    /// The capacity of each server \[work/time\].
    pub rate: Decimal,
    /// The number of different servers that are drawn for each job.
    pub degree: u32,
}
