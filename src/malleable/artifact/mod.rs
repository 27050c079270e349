//! What the artifact of a pool holds, and the checker that derives its claims anew.

mod bound;
mod check;
mod quantity;

pub use check::{check_against, cost};
pub use quantity::{Conditions, Measure, Method, Quantity};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Rule;
use super::workload::{Pool, Record};
use crate::artifact::{self, Content, Findings};

/// The kind: malleable jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Malleable;

/// A policy for a pool.
pub type Artifact = artifact::Artifact<Malleable>;

/// A policy whose claims the checker has derived.
pub type Checked = artifact::Checked<Malleable>;

/// What is claimed of it.
pub type Claim = artifact::Claim<Quantity>;

/// When a claim holds.
pub type HoldsFor = artifact::HoldsFor<Conditions>;

impl Content for Malleable {
    const NAME: &'static str = "malleable";

    type Workload = Record;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Provenance = Provenance;
    type Checked = Pool;

    fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Pool> {
        check::check(artifact, findings)
    }
}

/// What a scheduler executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// How servers are divided among the jobs that remain; a list in it has an entry for each job of the workload.
    pub rule: Rule,
    /// Of few jobs: the servers of each after 0, 1, 2, … jobs have ended; 0 for those that have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Vec<f64>>,
}

/// Why the claims hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// When each job ends \[time\].
    pub ends: Vec<f64>,
    /// Prices of work \[cost/work\] from the largest job on, ascending: with them no policy costs less than the sum of
    /// price times size. None for the makespan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
}

/// Where the policy comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The program and its version.
    pub tool: String,
    /// Options that it was called with.
    pub options: Vec<String>,
}
