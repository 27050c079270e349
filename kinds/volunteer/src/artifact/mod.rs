//! The contents of a policy file for this kind of workload, and its checker.

mod check;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Dispatch;
use super::workload::{Campaign, CampaignDocument};
use synth_core::artifact::{self, Accuracy, Content, Findings, NoConditions, quantities};

/// The kind of workload where the jobs run on the hosts of volunteers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volunteer;

/// A policy file that has not been checked yet.
pub type Artifact = artifact::Artifact<Volunteer>;

/// A policy file that has been checked.
pub type Checked = artifact::Checked<Volunteer>;

/// A claim about the policy.
pub type Claim = artifact::Claim<Quantity>;

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

/// The policy that is used by the server of a volunteer project.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Selects the jobs for a host, and their deadlines.
    pub dispatch: Dispatch,
    /// The interval at which the percentiles are computed \[time\], which must be positive. For
    /// each pair of host and version with results, `P = min(X, Y)`. X is the fraction of the pairs
    /// of the application with a larger mean turnaround. Y is the fraction of the pairs with fewer
    /// consecutive valid results, or ∞ if the pair has more than ten of them. If
    /// neither the host nor the application has a history, P is 50 %.
    pub refresh: f64,
    /// The maximum interval between two estimates of the end of a batch \[time\], which must be
    /// positive. They are also updated when jobs of the batch are completed.
    pub tick: f64,
}

/// The origin of the claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The number of held-out campaigns that were used for each claim.
    pub campaigns: u32,
}

quantities! {
    /// The quantity that is the subject of a claim.
    pub enum Quantity: Method, NoConditions, Option<&'static str>;

    /// The median makespan of all batches with the quality `afap`.
    MedianMakespan: "median_makespan", "median makespan", Time, [All], None;
    /// The mean makespan of these batches.
    MeanMakespan: "mean_makespan", "mean makespan", Time, [All], None;
    /// The largest makespan of these batches.
    WorstMakespan: "worst_makespan", "worst makespan", Time, [All], None;
    /// A lower bound on the mean makespan: all processors are always on, and have no other jobs.
    LeastMakespan: "least_makespan", "any rule, mean makespan ≥", Time, [All], None;
    /// The median ratio of the makespan to its first estimate.
    OverEstimate: "over_estimate", "makespan over first estimate", One, [All], None;
    /// The makespan of one batch.
    Makespan: "makespan", "makespan", Time, [Batch], None;
    /// The fraction of the batches with a short deadline that are done in time.
    ShortBatches: "short_batches", "short batches in time", One, [All], None;
    /// The fraction of the jobs in these batches that are done by the deadline.
    ShortJobs: "short_jobs", "their jobs in time", One, [All], None;
    /// The fraction of the batches with a long deadline that are done in time.
    LongBatches: "long_batches", "long batches in time", One, [All], None;
    /// The fraction of the jobs in these batches that are done by the deadline.
    LongJobs: "long_jobs", "their jobs in time", One, [All], None;
    /// The number of stream jobs that are done per unit of time.
    Throughput: "throughput", "jobs of streams done", Rate, [All], None;
    /// The fraction of the completed stream jobs that were completed within their bound.
    WithinBound: "within_bound", "of these within their bound", One, [All], None;
    /// The fraction of the batch jobs that are given up because too many results are wrong or lost.
    GivenUp: "given_up", "jobs given up", One, [All], None;
    /// The number of instances that are sent for each batch job.
    Instances: "instances", "instances per job", One, [All], None;
    /// The number of times per batch job that the host has to stop other jobs.
    Tight: "tight", "tight dispatches per job", One, [All], None;
    /// The number of jobs that hosts stop in favour of other jobs, per unit of time.
    Stopped: "stopped", "jobs stopped for others", Rate, [All], None;
    /// The mean time from the report of a correct result to its validation.
    Delay: "validation_delay", "validation delay", Time, [All], None;
    /// The maximum time for which a batch had an instance to send but did not send it.
    Waited: "longest_wait", "longest wait of a batch", Time, [All], None;
    /// The mean rate at which correct work can be done by all hosts.
    Capacity: "capacity", "capacity", WorkRate, [All], Some("it only depends on the distributions of the hosts");
}

impl Quantity {
    pub(crate) const IN_TIME: [Quantity; 4] = [
        Quantity::ShortBatches,
        Quantity::ShortJobs,
        Quantity::LongBatches,
        Quantity::LongJobs,
    ];
}

/// The method that was used to compute the value of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A number of independent campaigns, which result in a confidence interval.
    Simulated,
    /// The means of the distributions.
    BoundMeans,
}

impl artifact::Method for Method {
    fn accuracy(self) -> Accuracy {
        match self {
            Method::Simulated => Accuracy::Simulated,
            Method::BoundMeans => Accuracy::Bound,
        }
    }
}
