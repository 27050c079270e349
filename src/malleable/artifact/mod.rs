//! What the artifact of malleable jobs holds, and the checker that derives its claims anew.

mod check;
mod quantity;

pub use check::cost;
pub use quantity::{Measure, Method, Quantity};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Online, Rule};
use super::workload::{Record, Workload};
use crate::artifact::{self, Content, Findings, NoConditions};

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

    type Workload = Record;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Workload;

    fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Workload> {
        check::check(artifact, findings)
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
