//! The content of a volunteer policy artifact, and its checker.

mod check;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Dispatch;
use super::workload::{Campaign, CampaignDocument};
use synth_core::artifact::{self, Content, Findings, NoConditions, Standing, quantities};

/// The kind of workloads with volunteer hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volunteer;

/// A policy artifact, not yet checked.
pub type Artifact = artifact::Artifact<Volunteer>;

/// An artifact that has passed the checker.
pub type Checked = artifact::Checked<Volunteer>;

/// A claim about the policy.
pub type Claim = artifact::Claim<Quantity>;

/// The assumptions of a claim.
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

/// The policy of a volunteer computing server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Selects the jobs for a host, and their deadlines.
    pub dispatch: Dispatch,
    /// Interval at which percentiles are computed, > 0 \[time\]. For each pair of host and version
    /// with results, P = min(X, Y): X is the share of pairs of the application with a strictly
    /// larger mean turnaround, Y the share with strictly fewer consecutive valid results, infinite
    /// beyond ten; 50 % without any information.
    pub refresh: f64,
    /// Maximum interval between estimates of a batch's end, > 0 \[time\]; completions update them
    /// too.
    pub tick: f64,
}

/// The origin of the claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The number of held-out campaigns behind each claim.
    pub campaigns: u32,
}

quantities! {
    /// The quantity that a claim is about.
    pub enum Quantity: Method, NoConditions, Option<&'static str>;

    /// The median makespan over the batches with quality `afap`.
    MedianMakespan: "median_makespan", "median makespan", Time, [All], None;
    /// The mean makespan over these batches.
    MeanMakespan: "mean_makespan", "mean makespan", Time, [All], None;
    /// The largest makespan of these batches.
    WorstMakespan: "worst_makespan", "worst makespan", Time, [All], None;
    /// A lower bound on the mean makespan: all processors are always on, and have no other jobs.
    LeastMakespan: "least_makespan", "any rule, mean makespan ≥", Time, [All], None;
    /// The median ratio of the makespan to its first estimate.
    OverEstimate: "over_estimate", "makespan over first estimate", One, [All], None;
    /// The makespan of one batch.
    Makespan: "makespan", "makespan", Time, [Batch], None;
    /// The fraction of batches with short deadlines that meet them.
    ShortBatches: "short_batches", "short batches in time", One, [All], None;
    /// The fraction of the jobs in these batches that are done by the deadline.
    ShortJobs: "short_jobs", "their jobs in time", One, [All], None;
    /// The fraction of batches with long deadlines that meet them.
    LongBatches: "long_batches", "long batches in time", One, [All], None;
    /// The fraction of the jobs in these batches that are done by the deadline.
    LongJobs: "long_jobs", "their jobs in time", One, [All], None;
    /// The number of stream jobs that are done per unit of time.
    Throughput: "throughput", "jobs of streams done", Rate, [All], None;
    /// The fraction of the stream jobs that were done within their bound.
    WithinBound: "within_bound", "of these within their bound", One, [All], None;
    /// The fraction of batch jobs that are given up because too many instances were wrong or lost.
    GivenUp: "given_up", "jobs given up", One, [All], None;
    /// The number of instances that are sent per batch job.
    Instances: "instances", "instances per job", One, [All], None;
    /// The number of dispatches per batch job that force the host to stop other jobs.
    Tight: "tight", "tight dispatches per job", One, [All], None;
    /// The number of jobs that hosts stop in favour of other jobs, per unit of time.
    Stopped: "stopped", "jobs stopped for others", Rate, [All], None;
    /// The mean time from the report of a correct result to its validation.
    Delay: "validation_delay", "validation delay", Time, [All], None;
    /// The longest time without a dispatch for a batch that has unsent instances.
    Waited: "longest_wait", "longest wait of a batch", Time, [All], None;
    /// The mean rate of correct work of all hosts.
    Capacity: "capacity", "capacity", WorkRate, [All], Some("it follows from the hosts' distributions alone");
}

impl Quantity {
    pub(crate) const IN_TIME: [Quantity; 4] = [
        Quantity::ShortBatches,
        Quantity::ShortJobs,
        Quantity::LongBatches,
        Quantity::LongJobs,
    ];
}

/// The method by which a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Measured in independent campaigns, with a confidence interval.
    Simulated,
    /// Derived from the means of the distributions.
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
