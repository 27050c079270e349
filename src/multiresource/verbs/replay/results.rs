use schemars::JsonSchema;
use serde::Serialize;

use crate::multiresource::replay::{
    GroupResult, Interval, SeriesStep, Speed, Visit, Window, WindowMeasures,
};
use crate::number::Decimal;
use crate::simulation::Stretch;
use crate::trace::Account;

/// The results of a replay of a log using one or more policies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Replays {
    /// The log that was replayed.
    pub trace: LogSummary,
    /// The part of the time span in which the jobs that are measured were submitted.
    pub window: Window,
    /// The time in seconds for which each job held its capacity before it started to run.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub start_latency: Decimal,
    /// The seed for all random numbers.
    pub seed: u64,
    /// The results for each speed.
    pub paces: Vec<SpeedResults>,
    /// This is `true` if the replay was interrupted.
    pub interrupted: bool,
}

/// The properties of a log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LogSummary {
    /// The path to the file.
    pub file: String,
    /// The format of the file.
    pub format: &'static str,
    /// The number of replayed jobs.
    pub jobs: u64,
    /// The time in seconds between the first and the last submission in the log.
    pub span: f64,
    /// The fluid bound on the load.
    pub load: f64,
    /// The number of distinct demand vectors.
    pub vectors: u64,
    /// The names of the resources.
    pub resources: Vec<String>,
    /// The total capacity of each resource.
    pub capacity: Vec<f64>,
    /// The number of servers.
    pub servers: u64,
    /// The number of demands that were rounded up to three digits because there are too many
    /// different ones.
    pub rounded: u64,
    /// The number of jobs that were still running at the end of the log, which are not replayed.
    pub censored: u64,
    /// Whether there are time limits in the log. If not, the run times are used instead.
    pub has_limits: bool,
    /// The number of jobs with a start time in the log.
    pub starts: u64,
    /// The number of lines in the log that were used or ignored.
    pub account: Account,
    /// The assumptions about the site of `--slurm` that have an effect on the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// The job types, if they are used by a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<TypeRounding>,
}

/// The effect of rounding the demand of each job up to the demand of its type.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct TypeRounding {
    /// The number of types.
    pub types: u64,
    /// The work with the demand of the type of each job, divided by the work with its own demand.
    pub rounding: f64,
    /// The number of jobs that do not fit into any type and are ignored.
    pub untyped: u64,
    /// The fraction of the work that is done by these jobs.
    pub untyped_work: f64,
}

/// The results of all policies at one of the speeds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SpeedResults {
    /// The factor by which jobs arrive faster than in the log.
    pub speed: Speed,
    /// The fluid bound on the load at this speed.
    pub load: f64,
    /// The time in seconds between the first and the last submission.
    pub span: f64,
    /// The result of each policy, in the given order.
    pub policies: Vec<Outcome>,
}

pub(super) const RECORDED: &str = "as recorded";

/// The result of a policy at one of the speeds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Outcome {
    /// The name of the policy, or the path to its file.
    pub policy: String,
    /// The digest of the policy file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The results of the policy if it was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Box<ReplayResult>>,
    /// The reason why the policy was not replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The results of a policy that was replayed. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayResult {
    /// The measures for all jobs that are measured.
    pub measured: WindowMeasures,
    /// The measures for each group of jobs.
    pub groups: Vec<GroupResult>,
    /// The confidence interval for the mean wait.
    pub wait: Option<Interval>,
    /// The confidence interval for the mean response time.
    pub response: Option<Interval>,
    /// The confidence interval for the mean bounded slowdown.
    pub bounded_slowdown: Option<Interval>,
    /// The length of the blocks that were used for the bootstrap.
    pub block: f64,
    /// The mean response time divided by the mean response time of the first policy.
    pub ratio: Option<Ratio>,
    /// The mean wait divided by the mean wait of the first policy.
    pub wait_ratio: Option<Ratio>,
    /// Whether the demand of the type was used for each job.
    pub by_types: bool,
    /// The number of arrivals, completions and clock events.
    pub events: u64,
    /// The average values for each time step, which are empty if the start times are not known.
    #[serde(skip)]
    pub series: Vec<SeriesStep>,
    /// The jobs around the start of the largest job that had to wait under the first policy.
    #[serde(skip)]
    pub stretch: Option<Stretch>,
    /// The visit of each job, if this was requested.
    #[serde(skip)]
    pub visits: Vec<Visit>,
    /// The name of each kind of job that is known to the policy.
    #[serde(skip)]
    pub kinds: Vec<String>,
}

/// A ratio and its confidence interval, which are computed from the same blocks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Ratio {
    /// The value of the ratio.
    pub value: f64,
    /// The confidence interval.
    pub interval: Option<Interval>,
}

impl Replays {
    fn outcomes(&self) -> impl Iterator<Item = (&SpeedResults, &Outcome)> {
        let each = self.paces.iter();
        each.flat_map(|at| at.policies.iter().map(move |outcome| (at, outcome)))
    }

    pub(crate) fn played(&self) -> impl Iterator<Item = (&SpeedResults, &Outcome, &ReplayResult)> {
        let outcomes = self.outcomes();
        outcomes.filter_map(|(at, own)| Some((at, own, own.replayed.as_deref()?)))
    }

    pub(crate) fn failures(&self) -> impl Iterator<Item = (&SpeedResults, &str, &str)> {
        let outcomes = self.outcomes();
        outcomes.filter_map(|(at, own)| Some((at, own.policy.as_str(), own.failure.as_deref()?)))
    }
}
