//! What is claimed of a rule for a campaign, and how it is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::{self, NoConditions, Standing, quantities};

quantities! {
    /// What a claim is about.
    pub enum Quantity: Method, NoConditions, Measure;

    /// Median time from submission to the last job, over batches that are to be done as fast as possible.
    MedianMakespan: "median_makespan", "median makespan", Time, [All], Measure::Run;
    /// The mean of the same.
    MeanMakespan: "mean_makespan", "mean makespan", Time, [All], Measure::Run;
    /// The greatest of the same.
    WorstMakespan: "worst_makespan", "worst makespan", Time, [All], Measure::Run;
    /// No rule has a smaller mean: all processors on at all times, for the batch alone.
    LeastMakespan: "least_makespan", "any rule, mean makespan ≥", Time, [All], Measure::Run;
    /// Makespan over the first estimate of it, in the median.
    OverEstimate: "over_estimate", "makespan over first estimate", One, [All], Measure::Run;
    /// The makespan of one batch.
    Makespan: "makespan", "makespan", Time, [Batch], Measure::Run;
    /// Batches with short deadlines that are done by then, of all.
    ShortBatches: "short_batches", "short batches in time", One, [All], Measure::Run;
    /// Jobs of them that are done by then.
    ShortJobs: "short_jobs", "their jobs in time", One, [All], Measure::Run;
    /// Batches with long deadlines that are done by then, of all.
    LongBatches: "long_batches", "long batches in time", One, [All], Measure::Run;
    /// Jobs of them that are done by then.
    LongJobs: "long_jobs", "their jobs in time", One, [All], Measure::Run;
    /// Jobs of streams that are done a unit of time.
    Throughput: "throughput", "jobs of streams done", Rate, [All], Measure::Run;
    /// Of these, within their bound.
    WithinBound: "within_bound", "of these within their bound", One, [All], Measure::Run;
    /// Jobs of batches that are given up, since too many instances of them were wrong or lost.
    GivenUp: "given_up", "jobs given up", One, [All], Measure::Run;
    /// Instances that are sent for a job of a batch.
    Instances: "instances", "instances a job", One, [All], Measure::Run;
    /// Dispatches with a deadline for which the host has to stop other jobs, a job of a batch.
    Tight: "tight", "tight dispatches a job", One, [All], Measure::Run;
    /// Jobs that hosts stop for others, a unit of time.
    Stopped: "stopped", "jobs stopped for others", Rate, [All], Measure::Run;
    /// From the report of a right result to its validation.
    Delay: "validation_delay", "validation delay", Time, [All], Measure::Run;
    /// The longest time for which nothing of a batch is sent, though it has something to send.
    Waited: "longest_wait", "longest wait of a batch", Time, [All], Measure::Run;
    /// Right work that all hosts do at most a unit of time, in the mean.
    Capacity: "capacity", "capacity", WorkRate, [All], Measure::Nothing("it follows from the laws of the hosts alone");
}

/// How a run measures a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In each campaign, once.
    Run,
    /// A run of this policy cannot tell, and why.
    Nothing(&'static str),
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
