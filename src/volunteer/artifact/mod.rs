//! What the artifact of a campaign holds, and the checker of what it says.

mod check;
mod quantity;

pub use check::check_against;
pub use quantity::{Conditions, Measure, Method, Quantity};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Dispatch;
use super::workload::{Campaign, Record};
use crate::artifact::{self, Content, Findings};

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
pub type HoldsFor = artifact::HoldsFor<Conditions>;

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
    /// How the percentiles are made that it tests.
    pub percentiles: Percentiles,
    /// How often the ends of batches are estimated at least, > 0 \[time\]; besides whenever a job of the batch
    /// is done.
    pub tick: f64,
}

/// The table of percentiles: of each host and version of an application that have returned something,
/// P = min(X, Y) of X = share of pairs of the application with a strictly larger mean turnaround, and Y =
/// share with strictly fewer valid results in a row, infinite beyond ten.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Percentiles {
    /// How often it is made, > 0 \[time\].
    pub refresh: f64,
    /// P of a host of which nothing is known, of an application of which nobody knows anything \[%\].
    pub unknown: f64,
    /// The threshold falls so far that this many pairs pass, and this part of all.
    pub least_pairs: u32,
    /// See `least_pairs`.
    pub least_part: f64,
}

/// What was simulated to choose the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Parameters that were tried on the same campaigns.
    pub tried: Vec<Tried>,
    /// Other rules on the campaigns that the claims are from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// The seed of the campaigns of the trials; the claims are from others.
    pub seed: u64,
    /// Campaigns behind each claim.
    pub campaigns: u32,
    /// Events simulated in all.
    pub events: u64,
}

/// Parameters, and what they gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The rule.
    pub dispatch: Dispatch,
    /// What the choice makes small: median makespan over that of the first rule that was tried, plus
    /// parts of jobs and batches that missed their deadlines; none where a batch was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Mean>,
    /// Median makespan \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makespan: Option<Mean>,
    /// Tight dispatches a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tight: Option<Mean>,
    /// Jobs stopped for others \[1/time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Mean>,
    /// Validation delay \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Mean>,
    /// Whether nothing that was tried is surely better in one of these and not surely worse in another.
    pub front: bool,
}

/// A mean with half the width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Half the width of its 95 % interval.
    pub half_width: f64,
}

/// What the rule is called that tuning found, where another was surely better and is taken.
pub const TUNED: &str = "tuned";

/// The rules that stand beside the one that was taken.
pub const BESIDE: [&str; 3] = ["fixed", "boinc-2025", "literal"];

/// Another rule beside the one that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// Its name.
    pub rule: String,
    /// Its median makespan, over that of the rule that was taken; none where a batch was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makespan: Option<Mean>,
    /// Its instances a job, over those of the rule that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<Mean>,
    /// By how much more it costs, as what was tried costs, beside the makespans of the rule that was taken; what was not
    /// done counts as done at the end. Below 0 it is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Mean>,
}
