//! What the artifact of a campaign holds, and the checker of what it says.

mod check;
mod quantity;

pub use quantity::{Measure, Method, Quantity};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Dispatch;
use super::workload::{Campaign, Record};
use crate::artifact::{self, Content, Findings, NoConditions};

/// The kind: dispatch to volunteers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volunteer;

/// A policy for a campaign.
pub type Artifact = artifact::Artifact<Volunteer>;

/// A policy that the checker found valid.
pub type Checked = artifact::Checked<Volunteer>;

/// What is claimed of it.
pub type Claim = artifact::Claim<Quantity>;

/// When a claim holds.
pub type HoldsFor = artifact::HoldsFor<NoConditions>;

impl Content for Volunteer {
    const NAME: &'static str = "volunteer-dispatch";
    const WORKLOAD: &'static str = "volunteer";

    type Workload = Record;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Campaign;

    fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Campaign> {
        check::check(artifact, findings)
    }
}

/// What a server of volunteers executes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Which jobs a host gets, and with which deadlines.
    pub dispatch: Dispatch,
    /// How often the table of percentiles is made, > 0 \[time\]: of each host and version of an application that have
    /// returned something, P = min(X, Y) of X = share of pairs of the application with a strictly larger mean turnaround,
    /// and Y = share with strictly fewer valid results in a row, infinite beyond ten; 50 % where nobody knows anything.
    pub refresh: f64,
    /// How often the ends of batches are estimated at least, > 0 \[time\]; besides whenever a job of the batch
    /// is done.
    pub tick: f64,
}

/// Where the claims are from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Campaigns behind each claim, which decided nothing.
    pub campaigns: u32,
}
