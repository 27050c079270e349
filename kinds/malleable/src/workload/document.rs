use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Objective, SpeedupRecord};
use synth_core::document::unit_of_time;
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;

/// A workload with malleable jobs. Exactly one of `jobs`, `sizes` and `arrivals` must be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["jobs"]}, {"required": ["sizes"]}, {"required": ["arrivals"]}]},
]))]
pub struct PoolDocument {
    /// This must be `malleable`.
    pub kind: String,
    /// A description of where the numbers come from. It is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. If it is a unit of time, times may be given in other units.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The number of servers N > 0, which does not have to be a whole number.
    pub servers: Decimal,
    /// If this is `true`, each job can only use a whole number of servers.
    #[serde(default)]
    pub whole_servers: bool,
    /// The maximum number of servers that a job can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// The speedup of all jobs that do not have their own speedup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
    /// The objective to minimize.
    #[serde(default)]
    pub objective: Objective,
    /// The jobs, if all of them are present at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRecord>,
    /// Use this instead of `jobs` if the sizes of the jobs are random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesRecord>,
    /// Use this instead of `jobs` if the jobs arrive over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsRecord>,
}

/// Jobs that arrive over time. Exactly one of `mean_size` and `size` must be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]}]))]
pub struct ArrivalsRecord {
    /// The rate at which jobs arrive \[1/time\], which must be greater than 0 (a Poisson process).
    pub rate: Decimal,
    /// The mean run time on one server \[time\], which must be greater than 0. It is exponential.
    /// In a policy file, this is replaced with `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The distribution of the run time on one server \[time\]. The size of a job is known when it
    /// arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeDistribution>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The name of the job.
    pub name: String,
    /// The run time on one server \[work\], which must be greater than 0.
    pub size: Decimal,
    /// The cost per unit of its time, which must be greater than 0. The default is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Decimal>,
    /// The maximum number of servers that it can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// The speedup of the job, if it is different from the other jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
}

/// The distribution that is used to draw the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizesRecord {
    /// A Pareto distribution: `P(S > x) = x^−shape` for x ≥ 1.
    Pareto {
        /// The shape, which must be at least 0.05.
        shape: Decimal,
        /// The number of jobs, from 1 to 100000.
        count: u32,
        /// The seed that is used to draw the sizes.
        seed: u64,
    },
}
