//! The log of how a policy was found. It is written next to the policy, for people and programs that want to see it; it is
//! not checked.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Synthesis, Upgrades};
use synth_multiresource::artifact::{Method, Objective, Preemption, Promise, Route};

/// How a policy was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SynthesisLog {
    /// Rounds of column generation.
    pub rounds: usize,
    /// Columns in the last master program, of all shapes together.
    pub columns: usize,
    /// Routes of the loop that were considered, as far as their chains could be listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteTried>,
    /// How it was chosen by simulation, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<ChoiceLog>,
    /// A lower bound on what any policy can reach, if one was sought and found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<Floor>,
    /// Purchases, and the load after each.
    pub upgrades: Upgrades,
}

/// A lower bound for all policies that know no more about a job than the workload reveals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Floor {
    /// The objective that is bounded.
    pub objective: Objective,
    /// The preemption that policies may use.
    pub preemption: Preemption,
    /// No policy has less \[time\].
    pub least: f64,
    /// Whether it holds whatever a policy knows of sizes; else for those that know no more of a job than its type.
    pub knows_sizes: bool,
    /// Whether that is about the optimum: a dynamic program found it, and came to its end. Else the optimum may be well above.
    pub is_near_optimum: bool,
}

/// A route that was considered, at its best switching rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RouteTried {
    /// The route.
    pub route: Route,
    /// The switching rate \[1/time\].
    pub switching_rate: f64,
    /// The objective \[time\]; absent where the policy is unstable at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How it was found.
    pub method: Method,
}

impl SynthesisLog {
    /// The log of a policy that was found by analysis.
    pub fn of(synthesis: &Synthesis) -> Self {
        let known = synthesis.routes.iter();
        let known = known.filter_map(|r| Some((r.route, r.outlook.as_ref()?)));
        let tried = known.map(|(route, outlook)| RouteTried {
            route,
            switching_rate: outlook.rate,
            value: Some(outlook.value).filter(|value| value.is_finite()),
            method: outlook.method,
        });
        SynthesisLog {
            rounds: synthesis.solution.rounds,
            columns: synthesis.solution.columns,
            routes: tried.collect(),
            ..SynthesisLog::default()
        }
    }
}

/// How the policy was chosen among families, by simulation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChoiceLog {
    /// The objective that was minimized \[time\].
    pub objective: Objective,
    /// The promises about types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Promise>,
    /// Seed of the arrivals and sizes that all candidates faced at the end; knobs were tuned on
    /// those of the next seed, and the selected policy was measured on those of the one after that.
    pub seed: u64,
    /// Independent replications.
    pub replications: u32,
    /// The work that might be done, in events of First-Fit with few types.
    pub budget: u64,
    /// Events that were simulated.
    pub events: u64,
    /// Whether the selected policy is better than each other candidate, all at 95 % together, or
    /// differs from it by less than 1 %.
    pub decided: bool,
    /// The selected policy comes first, the others in the order of the objective, those without a steady state last.
    pub candidates: Vec<CandidateLog>,
}

/// A relative difference between policies that is not worth longer runs.
pub const CLOSE: f64 = 1e-2;

/// Rules in common use, which the answer compares the policy with.
pub const USUAL: [&str; 6] = [
    "first-fit",
    "easy-by-mean",
    "easy-backfill",
    "easy",
    "fcfs",
    "best-fit",
];

/// The default budget of a selection by simulation, in events of First-Fit with few types.
pub const BUDGET: u64 = 400_000_000;

impl ChoiceLog {
    /// Whether a candidate may be better or worse than the selected policy, by more than is worth longer runs.
    pub fn is_open(&self, candidate: &CandidateLog) -> bool {
        match (candidate.outcome, candidate.ratio) {
            (Steadiness::Unstable | Steadiness::Behind, _) => false,
            _ if candidate.kept == Some(false) || candidate.at_least.is_some() => false,
            (_, None) => true,
            (_, Some(r)) => {
                let off = (r.mean - 1.0).abs();
                off <= r.half_width && off + r.half_width >= CLOSE
            }
        }
    }

    /// Returns how many candidates have settled.
    pub fn settled(&self) -> usize {
        let steady = |candidate: &&CandidateLog| candidate.outcome == Steadiness::Steady;
        self.candidates.iter().filter(steady).count()
    }
}

impl CandidateLog {
    /// Whether it keeps the promises, and its objective is that of the selected policy within 1 % or what may be chance;
    /// an interval of more than 5 % to both sides is not conclusive.
    pub fn is_level(&self) -> bool {
        let is_known = |r: &LoggedMean| r.half_width <= 5.0 * CLOSE;
        let is_near = |r: &LoggedMean| r.mean <= 1.0 + CLOSE.max(r.half_width);
        self.kept != Some(false) && self.ratio.is_some_and(|r| is_known(&r) && is_near(&r))
    }

    /// Whether it is surely better than the selected policy, which has no ratio itself, and keeps the promises.
    pub fn is_better(&self) -> bool {
        self.kept != Some(false) && self.ratio.is_some_and(|r| r.mean + r.half_width < 1.0)
    }
}

/// A policy that was simulated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CandidateLog {
    /// Its family, or the rule that people run now.
    pub name: String,
    /// Its knobs, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knobs: Option<String>,
    /// How many policies of the family were tried.
    pub tried: usize,
    /// Its outcome.
    pub outcome: Steadiness,
    /// The objective \[time\], with its 95 % interval: for the selected policy as measured in a run of its own, `None` if
    /// that was too short; for the others that value times the ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<LoggedMean>,
    /// The ratio of the objective to that of the selected policy, on the same arrivals and sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<LoggedMean>,
    /// How many times as much at least, at 95 %, if the run ended as soon as that was more than once: then there is neither a
    /// value nor a ratio, since both would be too small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Mean wait \[time\] of the jobs of each type, in the order of the workload: for the selected policy from the run of its own, and
    /// of the others that times the ratio of the two on the same arrivals and sizes. Empty without a ratio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<LoggedMean>,
    /// The same of the mean that is not the objective: of `weighted`, or of `mean` where that is weighted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_ratio: Option<LoggedMean>,
    /// The largest mean slowdown of a type over the smallest, on the arrivals and sizes of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown_ratio: Option<f64>,
    /// Whether it was seen to keep the promises; `None` without promises, and if its runs are not conclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
}

/// A mean from simulation, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoggedMean {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval around it.
    pub half_width: f64,
}

/// Whether a simulated policy has means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// It settled.
    Steady,
    /// The runs were too short to say.
    Unsettled,
    /// It was left out before it settled: its jobs stayed more than twice as long as the best policy's.
    Behind,
    /// The number of jobs, or of jobs of a type, grew without end.
    Unstable,
}
