//! The contents of a policy file for this kind of workload, and its checker.

mod check;

pub use check::cost;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Online, Rule};
use super::workload::{Objective, PoolDocument, Workload};
use synth_core::artifact::{self, Accuracy, Content, Findings, NoConditions, quantities};
pub(super) use synth_simulation::QueueMeasure as Measure;

/// The kind of workloads with malleable jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Malleable;

/// A policy file that has not been checked yet.
pub type Artifact = artifact::Artifact<Malleable>;

/// A policy file that has been checked.
pub type Checked = artifact::Checked<Malleable>;

/// A claim about the policy.
pub type Claim = artifact::Claim<Quantity>;

impl Content for Malleable {
    const NAME: &'static str = "malleable";

    type Workload = PoolDocument;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Workload;

    synth_core::artifact_io!();

    fn check(artifact: &Artifact, workload: &Workload, findings: &mut Findings) {
        check::check(artifact, workload, findings);
    }
}

/// The policy that is used by the scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// A plan for jobs that are all present at the start.
    Plan(Plan),
    /// A rule for jobs that arrive over time. It is applied each time a job arrives or ends.
    Online(Online),
}

/// A plan, which defines how the servers are divided among the remaining jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The rule. It has one price for each job, or the number of servers of each job in each phase.
    pub rule: Rule,
    /// If there are only a few jobs, the number of servers of each job after 0, 1, 2, … jobs have
    /// ended, or 0 if the job has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Vec<f64>>,
}

/// The end times of a plan and the proof of its lower bound, or empty if the jobs arrive over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The end time of each job \[time\].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<f64>,
    /// The prices of work \[cost/work\] in ascending order, the first one for the largest job. The
    /// cost of any policy is at least the sum of the prices, each multiplied by the job's size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// The rents of the servers over time. The cost of any policy is at least the minimum cost of
    /// the jobs if they pay these rents, minus the rent of all servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rents: Vec<Rent>,
}

/// The rent of a server until the given time. After the last one, the rent is zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rent {
    /// The end of the interval \[time\].
    pub until: f64,
    /// The rent of a single server \[cost/time\], which must not be negative.
    pub rent: f64,
}

quantities! {
    /// The quantity that is the subject of a claim.
    pub enum Quantity: Method, NoConditions, Measure;

    /// The sum of all `T_i`.
    FlowTime: "flow_time", "total flow time", Time, [All], Measure::Response;
    /// The sum of all `w_i T_i`.
    WeightedFlowTime: "weighted_flow_time", "weighted flow time", Time, [All], Measure::Response;
    /// The sum of all `T_i/x_i`.
    Slowdown: "slowdown", "total slowdown", One, [All], Measure::Response;
    /// The maximum of all `T_i`.
    Makespan: "makespan", "makespan", Time, [All], Measure::Response;
    /// The mean of all `T_i`, or `E[T]` if the jobs arrive over time.
    MeanResponse: "mean_response", "mean response time", Time, [All], Measure::Response;
    /// The mean number of jobs in the system, `E[N]`, if the jobs arrive over time.
    MeanNumber: "mean_number", "mean number of jobs", Jobs, [All], Measure::Number;
    /// An upper bound on the relative difference between the objective and the optimum.
    Gap: "gap", "distance from the optimum, at most", One, [All], Measure::Nothing("it is proved for all policies");
    /// A lower bound on the mean response time of any policy, even if it knows all arrivals.
    LeastResponse: "least_response", "mean response time of any policy, at least", Time, [All], Measure::Nothing("it is proved for all policies");
}

impl Objective {
    /// Returns the quantities that are claimed for a plan. The first one is the objective.
    pub fn quantities(self) -> Vec<Quantity> {
        let others = [Quantity::MeanResponse, Quantity::Makespan];
        let others = others.into_iter().filter(|own| *own != self.quantity());
        [self.quantity()].into_iter().chain(others).collect()
    }

    /// Returns the quantity that is minimized by this objective.
    pub fn quantity(self) -> Quantity {
        match self {
            Objective::FlowTime => Quantity::FlowTime,
            Objective::WeightedFlowTime => Quantity::WeightedFlowTime,
            Objective::Slowdown => Quantity::Slowdown,
            Objective::Makespan => Quantity::Makespan,
        }
    }
}

/// The method that was used to compute the value of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The execution of the plan, which is computed exactly from one job completion to the next.
    ExactFlow,
    /// The prices of work for which no policy can do work that is worth more than its time costs.
    BoundPrices,
    /// The number of servers that are needed if all jobs end at the same time.
    BoundServers,
    /// The prices of work for each of the orders in which the jobs can end.
    BoundOrders,
    /// The rents of the servers over time, where each job has a schedule of its own.
    BoundRents,
    /// A single rent of the servers, which is constant.
    BoundRent,
    /// A simulation, which returns a confidence interval.
    Simulated,
}

impl artifact::Method for Method {
    fn accuracy(self) -> Accuracy {
        match self {
            Method::ExactFlow => Accuracy::Exact,
            Method::Simulated => Accuracy::Simulated,
            _ => Accuracy::Bound,
        }
    }
}
