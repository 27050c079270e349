use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Method, Quantity, Route};

/// What a policy is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Objective {
    /// `E[T]`: the mean response time over all jobs.
    #[default]
    Mean,
    /// `Σ w_i E[T_i]`, w the share of the dominant load: a job counts as much as it takes.
    Weighted,
    /// The 99th percentile of the response times of all jobs.
    P99,
}

impl Objective {
    /// What is analysed for it: of a percentile over all jobs nothing is exact, and the mean stands for it.
    #[must_use]
    pub fn analysed(self) -> Self {
        match self {
            Objective::P99 => Objective::Mean,
            mean => mean,
        }
    }

    /// The mean that this one does not look at, in which jobs count otherwise.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Objective::Mean | Objective::P99 => Objective::Weighted,
            Objective::Weighted => Objective::Mean,
        }
    }

    /// For tables.
    pub fn label(self) -> &'static str {
        match self {
            Objective::Mean => "E[T]",
            Objective::Weighted => "weighted E[T]",
            Objective::P99 => "P99 of T",
        }
    }

    /// The quantity that is made least.
    pub fn quantity(self) -> Quantity {
        match self {
            Objective::Mean => Quantity::MeanResponse,
            Objective::Weighted => Quantity::WeightedResponse,
            Objective::P99 => Quantity::ResponseP99,
        }
    }
}

/// How the route and the switching rate were chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// What was made least \[time\].
    pub objective: Objective,
    /// The routes considered, as far as their chains could be listed.
    pub routes: Vec<RouteTried>,
    /// The objective over the switching rate on the route taken, by increasing rate; empty
    /// where it was not evaluated exactly.
    pub curve: Vec<CurvePoint>,
}

/// A route that was considered, at its best switching rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteTried {
    /// The route.
    pub route: Route,
    /// The switching rate \[1/time\].
    pub switching_rate: f64,
    /// The objective \[time\]; absent where the policy is unstable at this rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How it was found.
    pub method: Method,
    /// The switching rate that the MSR paper's approximation calls best \[1/time\].
    pub predicted_switching_rate: f64,
}

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// The switching rate \[1/time\].
    pub switching_rate: f64,
    /// The objective \[time\].
    pub value: f64,
}
