//! What the artifact of malleable jobs holds, and the checker that derives its claims anew.

mod check;

pub use check::cost;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Online, Rule};
use super::workload::{Objective, PoolDocument, Workload};
use synth_core::artifact::{self, Content, Findings, NoConditions, Standing, quantities};
pub(super) use synth_simulation::QueueMeasure as Measure;

/// The kind: malleable jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Malleable;

/// A policy for a pool or a stream.
pub type Artifact = artifact::Artifact<Malleable>;

/// A policy whose claims the checker has derived.
pub type Checked = artifact::Checked<Malleable>;

/// What is claimed of it.
pub type Claim = artifact::Claim<Quantity>;

/// When a claim holds.
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

/// What a scheduler executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Of jobs that are all there.
    Plan(Plan),
    /// Of jobs that arrive: servers are divided anew whenever a job comes or ends.
    Online(Online),
}

/// How servers are divided among the jobs that remain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The rule; a list in it has an entry for each job of the workload.
    pub rule: Rule,
    /// Of few jobs: the servers of each after 0, 1, 2, … jobs have ended; 0 for those that have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Vec<f64>>,
}

/// When jobs that are all there end, and why no plan is much better; of jobs that arrive nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// When each job ends \[time\].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<f64>,
    /// Prices of work \[cost/work\] from the largest job on, ascending: with them no policy costs less than the sum of
    /// price times size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// Rents of servers over time, with which no policy costs less than all jobs do that pay them, less what is paid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rents: Vec<Rent>,
}

/// What a server costs until a time; after the last one nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rent {
    /// Until when \[time\].
    pub until: f64,
    /// What a server costs \[cost/time\], ≥ 0.
    pub rent: f64,
}

quantities! {
    /// What a claim is about.
    pub enum Quantity: Method, NoConditions, Measure;

    /// Σ T_i.
    FlowTime: "flow_time", "total flow time", Time, [All], Measure::Response;
    /// Σ w_i T_i.
    WeightedFlowTime: "weighted_flow_time", "weighted flow time", Time, [All], Measure::Response;
    /// Σ T_i/x_i.
    Slowdown: "slowdown", "total slowdown", One, [All], Measure::Response;
    /// max T_i.
    Makespan: "makespan", "makespan", Time, [All], Measure::Response;
    /// Σ T_i over the number of jobs; E\[T\] of jobs that arrive.
    MeanResponse: "mean_response", "mean response time", Time, [All], Measure::Response;
    /// E\[N\] of jobs that arrive.
    MeanNumber: "mean_number", "mean number of jobs", Jobs, [All], Measure::Number;
    /// How far the objective is at most above its least value under any policy, of that value.
    Gap: "gap", "distance from the optimum, at most", One, [All], Measure::Nothing("it is proved for all policies");
    /// No policy has a smaller mean response time, whatever it knows of arrivals.
    LeastResponse: "least_response", "mean response time of any policy, at least", Time, [All], Measure::Nothing("it is proved for all policies");
}

impl Objective {
    /// Returns what is claimed of a plan for it: what it makes small first.
    pub fn quantities(self) -> Vec<Quantity> {
        let others = [Quantity::MeanResponse, Quantity::Makespan];
        let others = others.into_iter().filter(|own| *own != self.quantity());
        [self.quantity()].into_iter().chain(others).collect()
    }

    /// Returns what a plan for it makes small.
    pub fn quantity(self) -> Quantity {
        match self {
            Objective::FlowTime => Quantity::FlowTime,
            Objective::WeightedFlowTime => Quantity::WeightedFlowTime,
            Objective::Slowdown => Quantity::Slowdown,
            Objective::Makespan => Quantity::Makespan,
        }
    }
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
            Method::Simulated => Standing::Simulated,
            _ => Standing::Bound,
        }
    }
}
