//! What the artifact of a cluster holds, and the checker that derives its claims anew.

mod check;
mod means;
mod quantity;

pub use quantity::{Measure, Method, Quantity};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::{self, Content, Findings, Laws, NoConditions, Unmet};
use crate::compatibility::workload::{Cluster, Record};

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

    type Workload = Record;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Cluster;

    fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Cluster> {
        check::check(artifact, findings)
    }
}

/// All that the online rule needs beside the workload: see [`crate::compatibility::policy::FairQueue`].
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

/// What a claim assumes and this workload does not meet.
pub fn unmet(holds_for: &HoldsFor, cluster: &Cluster) -> Unmet {
    holds_for.unmet(Laws {
        exponential: cluster.size().is_exponential(),
        phase_type: cluster.size().phases().is_some(),
        independent: true,
        poisson: true,
    })
}
