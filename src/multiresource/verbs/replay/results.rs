//! What comes of a replay.

use schemars::JsonSchema;
use serde::Serialize;

use crate::multiresource::replay::{
    Interval, OfGroup, SeriesStep, Speed, Visit, Window, WindowMeasures,
};
use crate::number::Decimal;
use crate::simulation::Stretch;
use crate::trace::Account;

/// A trace, and policies on it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Replays {
    /// The trace.
    pub trace: Traced,
    /// Of which jobs measures are.
    pub window: Window,
    /// How long each job held its room before it ran \[s\].
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub start_latency: Decimal,
    /// Seed of all that was drawn.
    pub seed: u64,
    /// At each pace.
    pub paces: Vec<AtPace>,
    /// Whether it was interrupted before all was there.
    pub interrupted: bool,
}

/// A trace that was read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Traced {
    /// Its file.
    pub file: String,
    /// Its format.
    pub format: &'static str,
    /// Jobs that are replayed.
    pub jobs: u64,
    /// From the first submission to the last, as it was \[s\].
    pub span: f64,
    /// The fluid bound on its load.
    pub load: f64,
    /// Vectors of demands.
    pub vectors: u64,
    /// Resources.
    pub resources: Vec<String>,
    /// What all servers have of each.
    pub capacity: Vec<f64>,
    /// Servers.
    pub servers: u64,
    /// Demands that were rounded up to three digits as they were read, since there are so many different ones.
    pub rounded: u64,
    /// Jobs that still ran when it ended: not replayed.
    pub censored: u64,
    /// Whether it tells limits; else sizes are taken for them.
    pub has_limits: bool,
    /// Jobs of which it tells the start.
    pub starts: u64,
    /// What became of its lines.
    pub account: Account,
    /// Assumptions about the site of `--slurm` that shape every result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// The types that its jobs are, where policies decide by types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Typed>,
}

/// What became of vectors as types.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Typed {
    /// Types.
    pub types: u64,
    /// The work of jobs at what their types hold, over their own.
    pub rounding: f64,
    /// Jobs that no type holds: left out.
    pub untyped: u64,
    /// Their share of the work.
    pub untyped_work: f64,
}

/// Policies at one pace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AtPace {
    /// By how much faster jobs come than they did.
    pub speed: Speed,
    /// The fluid bound on the load then.
    pub load: f64,
    /// From the first submission to the last \[s\].
    pub span: f64,
    /// Each policy, in the requested order.
    pub policies: Vec<Outcome>,
}

/// What the row of the starts that a log tells is called in place of a policy.
pub(super) const RECORDED: &str = "as recorded";

/// A policy at one pace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// Its name, or its file.
    pub policy: String,
    /// What identifies its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What was measured, if it was replayed…
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Box<Played>>,
    /// …and else why it could not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A policy that was replayed. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Played {
    /// What was measured.
    pub measured: WindowMeasures,
    /// The same of groups of jobs.
    pub groups: Vec<OfGroup>,
    /// Where the mean wait may be.
    pub wait: Option<Interval>,
    /// Where the mean response time may be.
    pub response: Option<Interval>,
    /// Where the mean bounded slowdown may be.
    pub bounded_slowdown: Option<Interval>,
    /// Length of the blocks that intervals are computed from.
    pub block: f64,
    /// Its mean response time over that of the first policy.
    pub ratio: Option<Ratio>,
    /// The same of mean waits.
    pub wait_ratio: Option<Ratio>,
    /// Whether jobs held what their types do.
    pub by_types: bool,
    /// Arrivals, completions and clocks.
    pub events: u64,
    /// Averages over steps of time; none where starts are not known.
    #[serde(skip)]
    pub series: Vec<SeriesStep>,
    /// What ran while the largest job waited under the first policy, where that is known.
    #[serde(skip)]
    pub stretch: Option<Stretch>,
    /// The visit of each job; none where that is not kept.
    #[serde(skip)]
    pub visits: Vec<Visit>,
    /// The names of the kinds of jobs that the policy saw.
    #[serde(skip)]
    pub kinds: Vec<String>,
}

/// A ratio with its interval, on the same blocks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Where it may be.
    pub interval: Option<Interval>,
}

impl Replays {
    /// Returns all policies at all paces.
    fn outcomes(&self) -> impl Iterator<Item = (&AtPace, &Outcome)> {
        let each = self.paces.iter();
        each.flat_map(|at| at.policies.iter().map(move |outcome| (at, outcome)))
    }

    /// Returns those that were replayed.
    pub fn played(&self) -> impl Iterator<Item = (&AtPace, &Outcome, &Played)> {
        let outcomes = self.outcomes();
        outcomes.filter_map(|(at, own)| Some((at, own, own.replayed.as_deref()?)))
    }

    /// Returns those that could not be, each with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&AtPace, &str, &str)> {
        let outcomes = self.outcomes();
        outcomes.filter_map(|(at, own)| Some((at, own.policy.as_str(), own.failure.as_deref()?)))
    }
}
