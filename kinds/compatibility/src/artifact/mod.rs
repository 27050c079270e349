//! The content of a cluster's policy artifact, and its checker.

mod check;
mod means;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::{Cluster, ClusterDocument};
use synth_core::artifact::{
    self, Content, Findings, Laws, NoConditions, Standing, Unmet, quantities,
};
use synth_simulation::QueueMeasure as Measure;

/// The kind of workloads with a compatibility graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compatibility;

/// A policy artifact, not yet checked.
pub type Artifact = artifact::Artifact<Compatibility>;

/// An artifact that passed the checker. Only a checked artifact can be simulated.
pub type Checked = artifact::Checked<Compatibility>;

/// A claim about the policy.
pub type Claim = artifact::Claim<Quantity>;

/// The assumptions of a claim.
pub type HoldsFor = artifact::HoldsFor<NoConditions>;

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

/// The parameters of the online rule, a fair queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The mean number of interruptions per job, m = σ/θ ≥ 0.
    pub interruptions: f64,
    /// The mean work between interruptions, θ > 0 \[work\]: server s interrupts its job after an
    /// exponential time of mean θ/C_s. Absent if jobs are never interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<f64>,
}

/// The proof of the load ρ = 1/θ*, by a lower and an upper bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The load ρ. The policy is stable if arrival rates are multiplied by less than 1/ρ, and no
    /// policy is stable beyond this.
    pub load: f64,
    /// The classes that use the fraction ρ of their servers. Absent if servers are drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight: Option<Vec<String>>,
    /// For each class (K), the fraction of its jobs that each server gets. Absent if servers are
    /// drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Vec<Vec<Part>>>,
}

/// The share of a class that is sent to one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The name of the server.
    pub server: String,
    /// The fraction, in (0, 1].
    pub part: f64,
}

/// Returns the assumptions of a claim that this workload does not meet.
pub fn unmet(holds_for: &HoldsFor, cluster: &Cluster) -> Unmet {
    holds_for.unmet(Laws {
        exponential: cluster.size().is_exponential(),
        phase_type: cluster.size().phases().is_some(),
        independent: true,
        poisson: true,
    })
}

quantities! {
    /// The quantity that a claim is about.
    pub enum Quantity: Method, NoConditions, Measure;

    /// ρ: the fraction of the maximum load that any policy can sustain.
    Load: "load", "load", One, [All], Measure::Nothing("it is proved for all policies");
    /// `E[T]` under this policy.
    MeanResponse: "mean_response", "mean response time", Time, [All, Type], Measure::Response;
    /// `E[x]` under this policy.
    MeanNumber: "mean_number", "mean number in system", Jobs, [All, Type], Measure::Number;
    /// The utilization of a server under this policy.
    Utilization: "utilization", "utilization", One, [All], Measure::Utilization;
    /// `E[T]` under balanced fairness.
    FairResponse: "fair_response", "balanced-fair response time", Time, [All, Type], Measure::Nothing(LIMIT);
    /// `E[x]` under balanced fairness.
    FairNumber: "fair_number", "balanced-fair number in system", Jobs, [All, Type], Measure::Nothing(LIMIT);
    /// The mean service rate under balanced fairness, `σ/E[T]`, where waiting is included.
    FairRate: "fair_rate", "balanced-fair service rate", WorkRate, [All, Type], Measure::Nothing(LIMIT);
}

const LIMIT: &str =
    "it is about balanced fairness, which the policy approximates with many interruptions";

/// The method by which a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A maximum flow and a minimum cut, which have the same value.
    ExactFlow,
    /// A sum over all sets of idle servers.
    ExactIdleServers,
    /// A sum over all sets of active classes.
    ExactActiveClasses,
    /// A sum over the number of servers, since all servers are identical.
    ExactSymmetry,
    /// Independent replications with a fixed seed, which give a 95 % confidence interval.
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
