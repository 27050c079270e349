//! The document of a pool of servers, as it is read, and as policies record it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Objective, SpeedupRecord, Workload};
use synth_core::document::{
    CheckedOrFaults, DocumentError, Fault, Parsed, Spelling, Spellings, WorkloadDocument,
    unit_of_time,
};
use synth_core::number::Decimal;
use synth_queues::law::Size;

/// Jobs that speed up less and less with more servers: of `jobs`, `sizes` and `arrivals` exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["jobs"]}, {"required": ["sizes"]}, {"required": ["arrivals"]}]},
]))]
pub struct PoolDocument {
    /// Always `malleable`.
    pub kind: String,
    /// Where the numbers come from: any text, which is copied to the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of all times and rates. Times may have a unit of their own if this is one of time.
    #[serde(default = "unit_of_time")]
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    pub time_unit: String,
    /// How many servers there are (N), > 0; a part of one is as good as its share.
    pub servers: Decimal,
    /// Whether jobs hold whole servers only.
    #[serde(default)]
    pub whole_servers: bool,
    /// A job uses at most so many servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// The speedup of jobs that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
    /// What is to be small.
    #[serde(default)]
    pub objective: Objective,
    /// Jobs that are all present at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRecord>,
    /// In place of jobs: their sizes are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesRecord>,
    /// In place of both: jobs that arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsRecord>,
}

/// Jobs that arrive: of `mean_size` and `size` exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]}]))]
pub struct ArrivalsRecord {
    /// The rate of Poisson arrivals \[1/time\], > 0.
    pub rate: Decimal,
    /// The mean of exponential sizes: how long a job runs on one server \[time\], > 0. Policy files have `size` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Decimal>,
    /// The law of sizes, which are known when a job arrives: how long a job runs on one server \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// Its name.
    pub name: String,
    /// How long it runs on one server, > 0 \[work\].
    pub size: Decimal,
    /// What a unit of its time costs, > 0; 1 unless it is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Decimal>,
    /// It uses at most so many servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// Its speedup, where it is not that of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
}

/// A law from which sizes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizesRecord {
    /// P(S > x) = x^−shape on x ≥ 1.
    Pareto {
        /// Its shape, > 0.
        shape: Decimal,
        /// How many jobs there are, ≥ 1.
        count: u32,
        /// What they are drawn from.
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
    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        PoolDocument::parse(text, name)
    }
}
