//! What the artifact of a cluster holds, and the checker that derives its claims anew.

mod check;
mod means;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::{Cluster, ClusterDocument};
use synth_core::artifact::{
    self, Content, Findings, Laws, NoConditions, Standing, Unmet, quantities,
};
use synth_simulation::QueueMeasure as Measure;

/// The kind: jobs that may run on some of the servers, and on several at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compatibility;

/// A policy artifact as it is written.
pub type Artifact = artifact::Artifact<Compatibility>;

/// An artifact that the checker has found valid: the only thing that a simulator runs.
pub type Checked = artifact::Checked<Compatibility>;

/// A number about the policy.
pub type Claim = artifact::Claim<Quantity>;

/// What a claim assumes.
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

/// All that the online rule, a fair queue, needs beside the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// m = σ/θ ≥ 0: how often a job is interrupted in the mean.
    pub interruptions: f64,
    /// θ \[work\], > 0: a server s that works on a job interrupts it after an exponential time of mean θ/C_s. Absent
    /// where jobs are never interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<f64>,
}

/// What proves the load ρ = 1/θ*, from both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// ρ: arrivals times less than 1/ρ are stable under this policy, and under no policy more.
    pub load: f64,
    /// Classes that need the fraction ρ of all servers that they may use; absent where servers are drawn for each job, and
    /// all jobs need it of all servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight: Option<Vec<String>>,
    /// By class (K): the fraction of its jobs that is sent to each server, of sum 1, so that no server has more than ρ
    /// of what it can do; absent as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Vec<Vec<Part>>>,
}

/// What one server has of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The server.
    pub server: String,
    /// The fraction, in (0, 1].
    pub part: f64,
}

/// Returns what a claim assumes and this workload does not meet.
pub fn unmet(holds_for: &HoldsFor, cluster: &Cluster) -> Unmet {
    holds_for.unmet(Laws {
        exponential: cluster.size().is_exponential(),
        phase_type: cluster.size().phases().is_some(),
        independent: true,
        poisson: true,
    })
}

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
