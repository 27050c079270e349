use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Objective, SpeedupRecord, Workload};
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, Parsed, Spelling, Spellings, WorkloadDocument,
    unit_of_time,
};
use synth_core::number::Decimal;
use synth_queues::law::Size;

/// Malleable jobs; exactly one of `jobs`, `sizes` and `arrivals` is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["jobs"]}, {"required": ["sizes"]}, {"required": ["arrivals"]}]},
]))]
pub struct PoolDocument {
    /// Always `malleable`.
    pub kind: String,
    /// Where the numbers come from: free text, copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. If it is a unit of time, times may be given in other units.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// The number of servers N > 0; fractions of a server are allowed.
    pub servers: Decimal,
    /// Whether a job can only use a whole number of servers.
    #[serde(default)]
    pub whole_servers: bool,
    /// The maximum number of servers that a job can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// The speedup of jobs without their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
    /// The objective to minimize.
    #[serde(default)]
    pub objective: Objective,
    /// Jobs that are all present at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRecord>,
    /// Instead of `jobs`: jobs with random sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesRecord>,
    /// Instead of both: jobs that arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsRecord>,
}

/// Jobs that arrive; exactly one of `mean_size` and `size` is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]}]))]
pub struct ArrivalsRecord {
    /// The rate of Poisson arrivals \[1/time\], > 0.
    pub rate: Decimal,
    /// The mean of exponential sizes, > 0 \[time\]; policy files have `size` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The size distribution, the run time on one server \[time\]; sizes are known on arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The name of the job.
    pub name: String,
    /// Run time on one server \[work\], > 0.
    pub size: Decimal,
    /// The cost per unit of its time, > 0; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Decimal>,
    /// The maximum number of servers that it can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// Its speedup, if different from the shared one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
}

/// A distribution from which sizes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizesRecord {
    /// P(S > x) = x^−shape on x ≥ 1.
    Pareto {
        /// Shape, > 0.
        shape: Decimal,
        /// The number of jobs, ≥ 1.
        count: u32,
        /// The seed of the draw.
        seed: u64,
    },
}

impl WorkloadDocument for PoolDocument {
    const KIND: &'static str = "malleable";
    const EXAMPLE: &'static str = include_str!("example.txt").trim_ascii_end();
    const SHORT: &'static [(&'static str, &'static str)] = &[("size", "mean_size")];
    const SPELLINGS: &'static Spellings = &[
        ("arrivals.size", Spelling::LawOfTimes),
        ("arrivals.mean_size", Spelling::Time),
        ("jobs[].size", Spelling::Time),
    ];

    type Checked = Workload;

    fn checked(self, faults: Vec<Fault>) -> CheckedOrFaults<Workload> {
        self.workload(faults)
    }

    fn record(workload: &Workload) -> Self {
        workload.record().clone()
    }
}

impl Workload {
    /// Parses a document and reports every fault; `name` identifies the file in messages.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        PoolDocument::parse(text, name)
    }
}
