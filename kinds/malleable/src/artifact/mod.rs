//! The content of a malleable policy artifact, and its checker.

mod check;

pub use check::cost;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Online, Rule};
use super::workload::{Objective, PoolDocument, Workload};
use synth_core::artifact::{self, Content, Findings, NoConditions, Standing, quantities};
pub(super) use synth_simulation::QueueMeasure as Measure;

/// The kind of workloads with malleable jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Malleable;

/// A policy artifact, not yet checked.
pub type Artifact = artifact::Artifact<Malleable>;

/// An artifact that has passed the checker.
pub type Checked = artifact::Checked<Malleable>;

/// A claim about the policy.
pub type Claim = artifact::Claim<Quantity>;

/// The assumptions of a claim.
pub type HoldsFor = artifact::HoldsFor<NoConditions>;

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

/// The policy that a scheduler executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// A plan for jobs that are all present at the start.
    Plan(Plan),
    /// A rule for jobs that arrive. The servers are divided again when a job arrives or completes.
    Online(Online),
}

/// A plan, which defines how the servers are divided among the remaining jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The rule; its lists have one entry per job of the workload.
    pub rule: Rule,
    /// For few jobs, the servers of each job after 0, 1, 2, … jobs have ended (0 if it has ended).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Vec<f64>>,
}

/// The end times of a plan, and the proof of its lower bound; empty for jobs that arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The end time of each job \[time\].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<f64>,
    /// Prices of work \[cost/work\], ascending, from the largest job on: no policy costs less than
    /// the sum of price times size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// The rents of servers over time, which prove a lower bound by weak duality.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rents: Vec<Rent>,
}

/// The rent of a server until a time; after the last one servers are free.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rent {
    /// The end of the interval \[time\].
    pub until: f64,
    /// The rent of one server \[cost/time\], ≥ 0.
    pub rent: f64,
}

quantities! {
    /// The quantity that a claim is about.
    pub enum Quantity: Method, NoConditions, Measure;

    /// Σ T_i.
    FlowTime: "flow_time", "total flow time", Time, [All], Measure::Response;
    /// Σ w_i T_i.
    WeightedFlowTime: "weighted_flow_time", "weighted flow time", Time, [All], Measure::Response;
    /// Σ T_i/x_i.
    Slowdown: "slowdown", "total slowdown", One, [All], Measure::Response;
    /// max T_i.
    Makespan: "makespan", "makespan", Time, [All], Measure::Response;
    /// The mean of T_i over the jobs; E\[T\] for jobs that arrive.
    MeanResponse: "mean_response", "mean response time", Time, [All], Measure::Response;
    /// The mean number of jobs in the system, E\[N\], for jobs that arrive.
    MeanNumber: "mean_number", "mean number of jobs", Jobs, [All], Measure::Number;
    /// Upper bound on the relative excess of the objective over the optimum.
    Gap: "gap", "distance from the optimum, at most", One, [All], Measure::Nothing("it is proved for all policies");
    /// Lower bound on the mean response time of every policy, even one that knows all arrivals.
    LeastResponse: "least_response", "mean response time of any policy, at least", Time, [All], Measure::Nothing("it is proved for all policies");
}

impl Objective {
    /// Returns the quantities that are claimed for a plan, where the objective is the first one.
    pub fn quantities(self) -> Vec<Quantity> {
        let others = [Quantity::MeanResponse, Quantity::Makespan];
        let others = others.into_iter().filter(|own| *own != self.quantity());
        [self.quantity()].into_iter().chain(others).collect()
    }

    /// Returns the quantity that this objective minimizes.
    pub fn quantity(self) -> Quantity {
        match self {
            Objective::FlowTime => Quantity::FlowTime,
            Objective::WeightedFlowTime => Quantity::WeightedFlowTime,
            Objective::Slowdown => Quantity::Slowdown,
            Objective::Makespan => Quantity::Makespan,
        }
    }
}

/// The method by which a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The integral over the plan, which is exact between two job completions.
    ExactFlow,
    /// The prices of work at which no policy does work worth more than its time costs.
    BoundPrices,
    /// Servers needed for the rates at which all jobs end together.
    BoundServers,
    /// The prices of work for each order in which jobs may end.
    BoundOrders,
    /// The rents of servers over time, with each job scheduled on its own.
    BoundRents,
    /// One constant rent of servers.
    BoundRent,
    /// Simulation, with a confidence interval.
    Simulated,
}

impl artifact::Method for Method {
    fn standing(self) -> Standing {
        match self {
            Method::ExactFlow => Standing::Exact,
            Method::Simulated => Standing::Simulated,
            _ => Standing::Bound,
        }
    }
}
