use schemars::JsonSchema;
use serde::Serialize;

use crate::multiresource::replay::{
    Interval, OfGroup, SeriesStep, Speed, Visit, Window, WindowMeasures,
};
use crate::number::Decimal;
use crate::simulation::Stretch;
use crate::trace::Account;

/// Policies replayed on a log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Replays {
    /// The log.
    pub trace: Traced,
    /// The part of the time span in which measured jobs were submitted.
    pub window: Window,
    /// How long each job held its capacity before it ran \[s\].
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub start_latency: Decimal,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The results at each speed.
    pub paces: Vec<AtPace>,
    /// Whether the replay was interrupted.
    pub interrupted: bool,
}

/// A log as read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Traced {
    /// Its file.
    pub file: String,
    /// Its format.
    pub format: &'static str,
    /// The number of replayed jobs.
    pub jobs: u64,
    /// The time from the first to the last submission at recorded speed \[s\].
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
    /// The number of demands rounded up to three digits, because too many are distinct.
    pub rounded: u64,
    /// Jobs still running at the end of the log; they are not replayed.
    pub censored: u64,
    /// Whether the log has time limits; otherwise run times are used.
    pub has_limits: bool,
    /// The number of jobs with a recorded start.
    pub starts: u64,
    /// How the lines of the log were used.
    pub account: Account,
    /// Assumptions about the site of `--slurm` that affect every result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// The job types, if policies decide by types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Typed>,
}

/// The effect of rounding demand vectors up to job types.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Typed {
    /// The number of types.
    pub types: u64,
    /// The work of jobs with the demands of their types, divided by that with their own demands.
    pub rounding: f64,
    /// Jobs that fit into no type and are left out.
    pub untyped: u64,
    /// The share of the work in these jobs.
    pub untyped_work: f64,
}

/// The policies at one speed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AtPace {
    /// How many times as fast as recorded jobs arrive.
    pub speed: Speed,
    /// The fluid bound on the load at this speed.
    pub load: f64,
    /// The time from the first to the last submission \[s\].
    pub span: f64,
    /// Each policy, in the requested order.
    pub policies: Vec<Outcome>,
}

pub(super) const RECORDED: &str = "as recorded";

/// A policy at one speed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// Its name or file.
    pub policy: String,
    /// The digest of its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The results, if it was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Box<Played>>,
    /// The reason, if it was not replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The results of a replayed policy. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Played {
    /// Measures of all measured jobs.
    pub measured: WindowMeasures,
    /// The same by groups of jobs.
    pub groups: Vec<OfGroup>,
    /// The interval of the mean wait.
    pub wait: Option<Interval>,
    /// The interval of the mean response time.
    pub response: Option<Interval>,
    /// The interval of the mean bounded slowdown.
    pub bounded_slowdown: Option<Interval>,
    /// The length of the bootstrap blocks.
    pub block: f64,
    /// Its mean response time divided by that of the first policy.
    pub ratio: Option<Ratio>,
    /// Its mean wait divided by that of the first policy.
    pub wait_ratio: Option<Ratio>,
    /// Whether jobs held the demands of their types.
    pub by_types: bool,
    /// The number of arrivals, completions and clock events.
    pub events: u64,
    /// Averages over time steps; empty if starts are unknown.
    #[serde(skip)]
    pub series: Vec<SeriesStep>,
    /// The jobs that ran around the start of the largest job that waited under the first policy.
    #[serde(skip)]
    pub stretch: Option<Stretch>,
    /// The visit of each job, if kept.
    #[serde(skip)]
    pub visits: Vec<Visit>,
    /// The names of the kinds of jobs as the policy saw them.
    #[serde(skip)]
    pub kinds: Vec<String>,
}

/// A ratio with its interval, from the same blocks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Ratio {
    pub value: f64,
    /// Its interval.
    pub interval: Option<Interval>,
}

impl Replays {
    fn outcomes(&self) -> impl Iterator<Item = (&AtPace, &Outcome)> {
        let each = self.paces.iter();
        each.flat_map(|at| at.policies.iter().map(move |outcome| (at, outcome)))
    }

    /// Returns the replayed policies.
    pub fn played(&self) -> impl Iterator<Item = (&AtPace, &Outcome, &Played)> {
        let outcomes = self.outcomes();
        outcomes.filter_map(|(at, own)| Some((at, own, own.replayed.as_deref()?)))
    }

    /// Returns the policies that could not be replayed, each with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&AtPace, &str, &str)> {
        let outcomes = self.outcomes();
        outcomes.filter_map(|(at, own)| Some((at, own.policy.as_str(), own.failure.as_deref()?)))
    }
}
