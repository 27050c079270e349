//! What is claimed of a plan, and how it is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::{self, NoConditions, Standing, quantities};
use crate::malleable::workload::Objective;

quantities! {
    /// What a claim is about.
    pub enum Quantity: Method, NoConditions, Measure;

    /// Σ T_i.
    FlowTime: "flow_time", "total flow time", Time, [All], Measure::Run;
    /// Σ w_i T_i.
    WeightedFlowTime: "weighted_flow_time", "weighted flow time", Time, [All], Measure::Run;
    /// Σ T_i/x_i.
    Slowdown: "slowdown", "total slowdown", One, [All], Measure::Run;
    /// max T_i.
    Makespan: "makespan", "makespan", Time, [All], Measure::Run;
    /// Σ T_i over the number of jobs; E\[T\] of jobs that arrive.
    MeanResponse: "mean_response", "mean response time", Time, [All], Measure::Run;
    /// E\[N\] of jobs that arrive.
    MeanNumber: "mean_number", "mean number of jobs", Jobs, [All], Measure::Number;
    /// How far the objective is at most above its least value under any policy, of that value.
    Gap: "gap", "distance from the optimum, at most", One, [All], Measure::Nothing("it is proved for all policies");
    /// No policy has a smaller mean response time, whatever it knows of arrivals.
    LeastResponse: "least_response", "mean response time of any policy, at least", Time, [All], Measure::Nothing("it is proved for all policies");
}

impl Objective {
    /// What a plan for it makes small.
    #[must_use]
    pub fn quantity(self) -> Quantity {
        match self {
            Objective::FlowTime => Quantity::FlowTime,
            Objective::WeightedFlowTime => Quantity::WeightedFlowTime,
            Objective::Slowdown => Quantity::Slowdown,
            Objective::Makespan => Quantity::Makespan,
        }
    }
}

/// How a run measures a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// From the times at which jobs end.
    Run,
    /// From the numbers of jobs that are there.
    Number,
    /// A run of this policy cannot tell, and why.
    Nothing(&'static str),
}

/// How a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Integrated over the stages of the plan, between two ends of jobs each.
    ExactFlow,
    /// Prices of work under which no policy does work that is worth more than what its time costs.
    BoundPrices,
    /// Servers for the rates that end all jobs together.
    BoundServers,
    /// Prices of work for each order in which jobs may end.
    BoundOrders,
    /// Rents of servers over time: what jobs cost at least that are served for them one by one.
    BoundRents,
    /// The same with one rent at all times.
    BoundRent,
    /// Measured, with an interval.
    Simulated,
}

impl artifact::Method for Method {
    fn standing(self) -> Standing {
        match self {
            Method::ExactFlow => Standing::Exact,
            Method::BoundPrices
            | Method::BoundOrders
            | Method::BoundServers
            | Method::BoundRents
            | Method::BoundRent => Standing::Bound,
            Method::Simulated => Standing::Simulated,
        }
    }
}
