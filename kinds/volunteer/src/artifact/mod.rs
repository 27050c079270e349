//! What the artifact of a campaign holds, what is claimed in it, and the checker of what it says.

mod check;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Dispatch;
use super::workload::{Campaign, CampaignDocument};
use synth_core::artifact::{self, Content, Findings, NoConditions, Standing, quantities};

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

    type Workload = CampaignDocument;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Campaign;

    synth_core::artifact_io!();

    fn check(artifact: &Artifact, campaign: &Campaign, findings: &mut Findings) {
        check::check(artifact, campaign, findings);
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

quantities! {
    /// What a claim is about.
    pub enum Quantity: Method, NoConditions, Option<&'static str>;

    /// Median time from submission to the last job, over batches that are to be done as fast as possible.
    MedianMakespan: "median_makespan", "median makespan", Time, [All], None;
    /// The mean of the same.
    MeanMakespan: "mean_makespan", "mean makespan", Time, [All], None;
    /// The greatest of the same.
    WorstMakespan: "worst_makespan", "worst makespan", Time, [All], None;
    /// No rule has a smaller mean: all processors on at all times, for the batch alone.
    LeastMakespan: "least_makespan", "any rule, mean makespan ≥", Time, [All], None;
    /// Makespan over the first estimate of it, in the median.
    OverEstimate: "over_estimate", "makespan over first estimate", One, [All], None;
    /// The makespan of one batch.
    Makespan: "makespan", "makespan", Time, [Batch], None;
    /// Batches with short deadlines that are done by then, of all.
    ShortBatches: "short_batches", "short batches in time", One, [All], None;
    /// Jobs of them that are done by then.
    ShortJobs: "short_jobs", "their jobs in time", One, [All], None;
    /// Batches with long deadlines that are done by then, of all.
    LongBatches: "long_batches", "long batches in time", One, [All], None;
    /// Jobs of them that are done by then.
    LongJobs: "long_jobs", "their jobs in time", One, [All], None;
    /// Jobs of streams that are done a unit of time.
    Throughput: "throughput", "jobs of streams done", Rate, [All], None;
    /// Of these, within their bound.
    WithinBound: "within_bound", "of these within their bound", One, [All], None;
    /// Jobs of batches that are given up, since too many instances of them were wrong or lost.
    GivenUp: "given_up", "jobs given up", One, [All], None;
    /// Instances that are sent for a job of a batch.
    Instances: "instances", "instances a job", One, [All], None;
    /// Dispatches with a deadline for which the host has to stop other jobs, a job of a batch.
    Tight: "tight", "tight dispatches a job", One, [All], None;
    /// Jobs that hosts stop for others, a unit of time.
    Stopped: "stopped", "jobs stopped for others", Rate, [All], None;
    /// From the report of a right result to its validation.
    Delay: "validation_delay", "validation delay", Time, [All], None;
    /// The longest time for which nothing of a batch is sent, though it has something to send.
    Waited: "longest_wait", "longest wait of a batch", Time, [All], None;
    /// Right work that all hosts do at most a unit of time, in the mean.
    Capacity: "capacity", "capacity", WorkRate, [All], Some("it follows from the laws of the hosts alone");
}

impl Quantity {
    /// The parts of batches with deadlines, and of their jobs, that are done in time.
    pub(crate) const IN_TIME: [Quantity; 4] = [
        Quantity::ShortBatches,
        Quantity::ShortJobs,
        Quantity::LongBatches,
        Quantity::LongJobs,
    ];
}

/// How a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Measured in independent campaigns, with an interval.
    Simulated,
    /// From the means of the laws.
    BoundMeans,
}

impl artifact::Method for Method {
    fn standing(self) -> Standing {
        match self {
            Method::Simulated => Standing::Simulated,
            Method::BoundMeans => Standing::Bound,
        }
    }
}
