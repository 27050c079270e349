use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::{self, NoConditions, Standing, quantities};

quantities! {
    /// What a claim is about.
    pub enum Quantity: Method, NoConditions, Measure;

    /// ρ: the fraction of what any policy can serve.
    Load: "load", "load", One, [All], Measure::Nothing("it is proved for all policies");
    /// `E[T]` under this policy.
    MeanResponse: "mean_response", "mean response time", Time, [All, Type], Measure::Response;
    /// `E[x]` under this policy.
    MeanNumber: "mean_number", "mean number in system", Jobs, [All, Type], Measure::Number;
    /// The fraction of the time that a server works, under this policy.
    Utilization: "utilization", "utilization", One, [All], Measure::Utilization;
    /// `E[T]` under balanced fairness.
    FairResponse: "fair_response", "balanced-fair response time", Time, [All, Type], Measure::Nothing(LIMIT);
    /// `E[x]` under balanced fairness.
    FairNumber: "fair_number", "balanced-fair number in system", Jobs, [All, Type], Measure::Nothing(LIMIT);
    /// `σ/E[T]` under balanced fairness: how fast a job is served, waiting included.
    FairRate: "fair_rate", "balanced-fair service rate", WorkRate, [All, Type], Measure::Nothing(LIMIT);
}

const LIMIT: &str =
    "it is of balanced fairness, to which the policy comes near with many interruptions";

/// How a run measures a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Response times.
    Response,
    /// Jobs in the system.
    Number,
    /// The fraction of time that a server works.
    Utilization,
    /// A run of this policy cannot tell, and why.
    Nothing(&'static str),
}

/// How a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A greatest flow and a smallest cut, which are equal.
    ExactFlow,
    /// The sum over sets of idle servers.
    ExactIdleServers,
    /// The sum over sets of classes with jobs.
    ExactActiveClasses,
    /// The sum over numbers of servers, which are all alike.
    ExactSymmetry,
    /// Independent replications under a seed, with a 95 % interval.
    Simulated,
}

impl artifact::Method for Method {
    fn standing(self) -> Standing {
        match self {
            Method::Simulated => Standing::Simulated,
            _ => Standing::Exact,
        }
    }
}
