//! Selects the jobs that a host gets from the array, and their deadlines.
//!
//! All functions are deterministic, with the current time as an argument, so that servers in other
//! languages can be tested against them. Details that the proposal does not define are defined
//! here. Its exact wording is an option, but does not work well ([`WorkAhead::Tight`]).

mod completion;
mod decide;
mod percentile;
#[cfg(test)]
mod tests;

pub(crate) use completion::{completion, last_of, turnaround};
pub(crate) use decide::Decider;
pub use decide::{
    Answer, Candidate, DispatchReason, Host, Refusal, Request, UsableVersion, Verdict, decide,
};
pub(crate) use percentile::{History, UNKNOWN, ceiling, percentiles};

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::PolicyRecord;
use synth_core::number::Decimal;

/// The jobs that are run before a new job, which are used to compute its earliest deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkAhead {
    /// All jobs of the host. A job that is run in order does not miss its deadline.
    #[default]
    All,
    /// Only jobs with a tight deadline, as in the proposal. If the queues of the hosts are full,
    /// almost all deadlines are then tight.
    Tight,
}

/// The parameters of the dispatch rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// If a batch has no estimate, only hosts above this percentile get its jobs \[%\], 0 to 100.
    pub first_percentile: f64,
    /// A host above this percentile can get a deadline before the estimate \[%\], 0 to 100.
    pub tight_percentile: f64,
    /// The quantile of the turnaround that is used for the estimates, in (0, 1). If there are `r`
    /// jobs that are not done, the default is `1 − 1/(r+1)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// The jobs that are run before a new job.
    #[serde(default)]
    pub queued: WorkAhead,
    /// The maximum number of jobs without an estimate for each processor. There is no limit if it
    /// is absent, as in the proposal. A fast host with an empty queue can then get a whole batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_each: Option<u32>,
    /// If this is `true`, an instance only gets half of the time until the deadline of its batch,
    /// so that it can be sent again if it is lost. In the proposal, it gets all of the time.
    #[serde(default = "yes")]
    pub reserve: bool,
    /// The thresholds are reduced if a batch has to wait for more than this \[time\], which must be
    /// positive. After twice this time, there is no threshold.
    pub patience: f64,
}

fn yes() -> bool {
    true
}

impl Dispatch {
    /// Returns the rule with the parameters that are fixed by the workload.
    pub(crate) fn with_fixed(self, own: &PolicyRecord) -> Self {
        let value = |fixed: Option<Decimal>, own: f64| fixed.map_or(own, Decimal::value);
        Dispatch {
            first_percentile: value(own.first_percentile, self.first_percentile),
            tight_percentile: value(own.tight_percentile, self.tight_percentile),
            quantile: own.quantile.map(Decimal::value).or(self.quantile),
            patience: value(own.patience, self.patience),
            ..self
        }
    }

    /// Returns the threshold for a batch that has not sent any of its jobs for the time `waiting`:
    /// the minimum of `base` and `ceiling` until `patience`, which decreases linearly until twice
    /// that time, and then less than 0, so that all hosts are accepted.
    fn threshold(&self, base: f64, ceiling: f64, waiting: f64) -> f64 {
        let late = waiting / self.patience - 1.0;
        if late >= 1.0 {
            return -1.0;
        }
        base.min(ceiling) * (1.0 - late.max(0.0))
    }
}

/// Returns `true` if enough jobs of a batch are done for an estimate: ten and 5 %, or all of them.
pub(crate) fn enough_done(done: u32, jobs: u32) -> bool {
    done >= 10.max(jobs.div_ceil(20)) || done >= jobs
}

/// The sort key of a job in the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    /// The end time of its batch, or the creation time plus the bound for a stream \[time\].
    pub end: f64,
    pub retries: u32,
    pub id: u64,
}

/// The order of the array: first the end, then the retries (the largest first), then the number.
pub(crate) fn feed(a: &Place, b: &Place) -> Ordering {
    let ends = a.end.total_cmp(&b.end);
    let tries = b.retries.cmp(&a.retries);
    ends.then(tries).then(a.id.cmp(&b.id))
}
