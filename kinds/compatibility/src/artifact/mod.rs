//! The contents of a policy file for this kind of workload, and its checker.

mod check;
mod means;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::{Cluster, ClusterDocument};
use synth_core::artifact::{
    self, Accuracy, Content, Findings, NoConditions, SizeAssumption, ViolatedAssumptions,
    quantities,
};
use synth_simulation::QueueMeasure as Measure;

/// The kind of workload where each job is only compatible with some of the servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compatibility;

/// A policy file that has not been checked yet.
pub type Artifact = artifact::Artifact<Compatibility>;

/// A policy file that has been checked. Only a checked file can be simulated.
pub type Checked = artifact::Checked<Compatibility>;

/// A claim about the policy.
pub type Claim = artifact::Claim<Quantity>;

impl Content for Compatibility {
    const NAME: &'static str = "compatibility";

    type Workload = ClusterDocument;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Cluster;

    synth_core::artifact_io!();

    fn check(artifact: &Artifact, cluster: &Cluster, findings: &mut Findings) {
        check::check(artifact, cluster, findings);
    }
}

/// The parameters of the policy, which uses a fair queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The mean number of times that a job is interrupted, m = σ/θ ≥ 0.
    pub interruptions: f64,
    /// The mean amount of work between two interruptions, θ > 0 \[work\]. The server `s` interrupts
    /// its job after an exponential time with mean `θ/C_s`. Absent if jobs are never interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<f64>,
}

/// The proof of the load `ρ = 1/θ*`, which consists of a lower bound and an upper bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The load ρ. The policy is stable if all arrival rates are multiplied by a factor that is
    /// less than `1/ρ`. If the factor is larger, there is no policy that is stable.
    pub load: f64,
    /// The classes that need the fraction ρ of the total capacity of the servers that they can use.
    /// This is absent if the servers are drawn at random, because all jobs then need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight: Option<Vec<String>>,
    /// For each class (K), the fraction of its jobs that is sent to each server. The sum is 1, and
    /// no server has a load above ρ. This is absent if the servers are drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Vec<Vec<Part>>>,
}

/// The fraction of the jobs of a class that is sent to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The name of the server.
    pub server: String,
    /// The fraction, which is in (0, 1].
    pub part: f64,
}

/// Returns the assumptions of a claim that are not met by this workload.
pub fn unmet(claim: &Claim, cluster: &Cluster) -> ViolatedAssumptions {
    let is_met = |assumed| match assumed {
        SizeAssumption::Exponential => cluster.size().is_exponential(),
        SizeAssumption::PhaseType => cluster.size().phases().is_some(),
    };
    claim.holds_for.unmet(is_met, (true, true))
}

quantities! {
    /// The quantity that is the subject of a claim.
    pub enum Quantity: Method, NoConditions, Measure;

    /// The load ρ, as a fraction of the maximum load that any policy can sustain.
    Load: "load", "load", One, [All], Measure::Nothing("it has been proved for all policies");
    /// The mean response time `E[T]` under this policy.
    MeanResponse: "mean_response", "mean response time", Time, [All, Type], Measure::Response;
    /// The mean number of jobs `E[x]` under this policy.
    MeanNumber: "mean_number", "mean number in system", Jobs, [All, Type], Measure::Number;
    /// The utilization of a server under this policy.
    Utilization: "utilization", "utilization", One, [All], Measure::Utilization;
    /// The mean response time `E[T]` under balanced fairness.
    FairResponse: "fair_response", "balanced-fair response time", Time, [All, Type], Measure::Nothing(LIMIT);
    /// The mean number of jobs `E[x]` under balanced fairness.
    FairNumber: "fair_number", "balanced-fair number in system", Jobs, [All, Type], Measure::Nothing(LIMIT);
    /// The mean service rate `σ/E[T]` under balanced fairness. The waiting time is included.
    FairRate: "fair_rate", "balanced-fair service rate", WorkRate, [All, Type], Measure::Nothing(LIMIT);
}

const LIMIT: &str = "it is a property of balanced fairness, and the policy is only close to it if there are many interruptions";

/// The method that was used to compute the value of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A maximum flow and a minimum cut, which have the same value.
    ExactFlow,
    /// A sum over all sets of servers that can be idle.
    ExactIdleServers,
    /// A sum over all sets of classes that can be active.
    ExactActiveClasses,
    /// A sum over the number of servers. This is possible because all servers are the same.
    ExactSymmetry,
    /// Independent simulation runs with a fixed seed, which result in a 95 % confidence interval.
    Simulated,
}

impl artifact::Method for Method {
    fn accuracy(self) -> Accuracy {
        match self {
            Method::Simulated => Accuracy::Simulated,
            _ => Accuracy::Exact,
        }
    }
}
