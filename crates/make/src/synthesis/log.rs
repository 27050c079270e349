//! The log of a synthesis, written next to the policy for information; it is not checked.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Synthesis, Upgrades};
use synth_multiresource::artifact::{Guarantee, Method, Objective, Preemption, Route};

/// How a policy was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SynthesisLog {
    /// The number of rounds of column generation.
    pub rounds: usize,
    /// The number of columns in the last master program, over all shapes.
    pub columns: usize,
    /// The routes that have been considered, if their chains are small enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteTried>,
    /// The selection by simulation, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<ChoiceLog>,
    /// A lower bound for all policies, if one was requested and found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<LowerBoundLog>,
    /// The possible upgrades, and the load after each of them.
    pub upgrades: Upgrades,
}

/// A lower bound for all policies that use only the information in the workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LowerBoundLog {
    /// The objective that is bounded.
    pub objective: Objective,
    /// The kind of preemption that a policy is allowed to use.
    pub preemption: Preemption,
    /// A lower bound on the objective of every policy \[time\].
    pub least: f64,
    /// Whether the bound is valid for any information about sizes. Otherwise, it is only valid for
    /// policies that know no more about a job than its type.
    pub knows_sizes: bool,
    /// Whether the bound is close to the optimum, because it is from a dynamic program that was
    /// completed. Otherwise, the optimum may be much higher.
    pub is_near_optimum: bool,
}

/// A route and the best switching rate for it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RouteTried {
    /// The route.
    pub route: Route,
    /// The switching rate of the policy \[1/time\].
    pub switching_rate: f64,
    /// The value of the objective \[time\]. It is missing if the policy is unstable at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The method by which the value was found.
    pub method: Method,
}

impl SynthesisLog {
    /// Returns the log of a policy that was found by analysis.
    pub fn of(synthesis: &Synthesis) -> Self {
        let tried = synthesis.routes.iter().map(|outlook| RouteTried {
            route: outlook.route,
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

/// A selection of one of the policy families by simulation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChoiceLog {
    /// The objective that was minimized \[time\].
    pub objective: Objective,
    /// The guarantees that are required for some job types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<Guarantee>,
    /// The seed of the comparison. The tuning and the final run used the next two seeds.
    pub seed: u64,
    /// The number of independent replications.
    pub replications: u32,
    /// The maximum amount of work, in events of First-Fit with few types.
    pub budget: u64,
    /// The number of simulated events.
    pub events: u64,
    /// Whether the selected policy is better than each of the others or within 1 % of it. The
    /// confidence level is 95 % for all of them together.
    pub decided: bool,
    /// The candidates, sorted by their objective. The first one is the selected policy, and the
    /// last ones did not reach a steady state.
    pub candidates: Vec<CandidateLog>,
}

/// Smaller relative differences between two policies do not matter.
pub const RELEVANT_DIFFERENCE: f64 = 1e-2;

/// Rules in common use, with which the report compares the policy.
pub const COMMON_RULES: [&str; 6] = [
    "first-fit",
    "easy-by-mean",
    "easy-backfill",
    "easy",
    "fcfs",
    "best-fit",
];

/// The default budget of a selection, in events of First-Fit with few types.
pub const BUDGET: u64 = 400_000_000;

impl ChoiceLog {
    /// Returns whether a candidate may differ from the selected policy by a relevant margin.
    pub fn is_open(&self, candidate: &CandidateLog) -> bool {
        let is_worse = matches!(candidate.outcome, Steadiness::Unstable | Steadiness::Behind)
            || candidate.kept == Some(false)
            || candidate.at_least.is_some();
        let may_differ = |r: LoggedMean| {
            let off = (r.mean - 1.0).abs();
            off <= r.half_width && off + r.half_width >= RELEVANT_DIFFERENCE
        };
        !is_worse && candidate.ratio.is_none_or(may_differ)
    }
}

impl CandidateLog {
    /// Returns whether it was not seen to break a guarantee and its objective exceeds that of the
    /// selected policy by at most 1 % or the half-width of the interval, which must be at most 5 %.
    pub fn is_equally_good(&self) -> bool {
        let is_known = |r: &LoggedMean| r.half_width <= 5.0 * RELEVANT_DIFFERENCE;
        let is_near = |r: &LoggedMean| r.mean <= 1.0 + RELEVANT_DIFFERENCE.max(r.half_width);
        self.kept != Some(false) && self.ratio.is_some_and(|r| is_known(&r) && is_near(&r))
    }

    /// Returns whether it surely beats the selected policy and was not seen to break a guarantee.
    pub fn is_better(&self) -> bool {
        self.kept != Some(false) && self.ratio.is_some_and(|r| r.mean + r.half_width < 1.0)
    }
}

/// The results of a policy that has been simulated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CandidateLog {
    /// The name of its family or rule.
    pub name: String,
    /// A description of the values of its tuning parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knobs: Option<String>,
    /// The number of policies of the family that were tried.
    pub tried: usize,
    /// Whether it converged.
    pub outcome: Steadiness,
    /// The objective \[time\] and its 95 % interval. For the selected policy, it is from a separate
    /// run, and it is missing if this run was too short. For the others, it is this value
    /// multiplied by the ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<LoggedMean>,
    /// The ratio of the objective to that of the selected policy, on the same arrivals and sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<LoggedMean>,
    /// A lower bound (95 %) on the ratio, if the run was stopped because the ratio is greater than
    /// 1. In this case, there is no value and no ratio, because both would be too small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The mean wait of each type \[time\], in the order of the workload. For the selected policy,
    /// it is from the separate run, and for the others, it is this wait multiplied by the ratio on
    /// the same arrivals and sizes. It is empty without a ratio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<LoggedMean>,
    /// The ratio of the mean that is not the objective, the weighted or the plain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_ratio: Option<LoggedMean>,
    /// The largest mean slowdown of a type over the smallest, in the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown_ratio: Option<f64>,
    /// Whether the guarantees were kept. It is missing if there are none or if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
}

/// A mean value from a simulation with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoggedMean {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval.
    pub half_width: f64,
}

/// Whether the simulation of a policy has reached a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// It converged.
    Steady,
    /// The runs were too short to decide this.
    Unsettled,
    /// The run was stopped before it converged, because the jobs stayed much longer than under the
    /// selected policy.
    Behind,
    /// The number of jobs, in total or of one type, grew without bound.
    Unstable,
}
