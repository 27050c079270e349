//! The decisions of the server: which jobs a host gets from its array, and with which deadlines.
//!
//! All functions are deterministic and take the time as an argument, so servers in other languages
//! can be tested against them. The source is the proposal; its open points are decided here. Where
//! its wording would defeat its purpose, it is available as an option ([`Queued::Tight`]).

mod completion;
mod decide;
mod percentile;
#[cfg(test)]
mod tests;

pub use completion::{completion, last_of, turnaround};
pub use decide::{
    Answer, Candidate, Decider, Host, Refusal, Request, Sent, Usable, Verdict, decide,
};
pub use percentile::{History, MOST_COPIED, UNKNOWN, ceiling, percentiles};

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::PolicyRecord;
use synth_core::number::Decimal;

/// The jobs ahead of a new job when its earliest deadline is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queued {
    /// All jobs of the host: a job that runs in its turn meets its deadline.
    #[default]
    All,
    /// Only the jobs with tight deadlines, as in the proposal. Then almost every deadline is tight.
    Tight,
}

/// The parameters of the dispatch rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// A host above this percentile gets jobs of a batch that has no estimate yet \[%\], 0 to 100.
    pub first_percentile: f64,
    /// A host above this percentile can get a deadline before the batch's estimate \[%\], 0 to 100.
    pub tight_percentile: f64,
    /// Quantile of the turnaround for estimates, in (0, 1); default 1 − 1/(r+1) for r unfinished
    /// jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// The jobs ahead of a new job.
    #[serde(default)]
    pub queued: Queued,
    /// The maximum number of jobs without an estimate per processor; unlimited if absent, as in the
    /// proposal, where a fast host with an empty queue may take a whole batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_each: Option<u32>,
    /// Whether an instance gets only half of the time to the batch's deadline, leaving time to send
    /// a lost one again; otherwise it gets all, as in the proposal.
    #[serde(default = "yes")]
    pub reserve: bool,
    /// Wait of a batch after which thresholds fall, > 0 \[time\]; after twice this time they are
    /// zero.
    pub patience: f64,
}

fn yes() -> bool {
    true
}

impl Dispatch {
    /// Returns the rule with the parameters that the workload fixes.
    pub fn with_fixed(self, own: &PolicyRecord) -> Self {
        let value = |fixed: Option<Decimal>, own: f64| fixed.map_or(own, Decimal::value);
        Dispatch {
            first_percentile: value(own.first_percentile, self.first_percentile),
            tight_percentile: value(own.tight_percentile, self.tight_percentile),
            quantile: own.quantile.map(Decimal::value).or(self.quantile),
            patience: value(own.patience, self.patience),
            ..self
        }
    }

    /// Returns the threshold for a batch that had jobs to send, but sent none, for time `waiting`.
    ///
    /// It is `base` (at most `ceiling`) until `patience`, then falls linearly until twice that
    /// time. Below 0 every host passes.
    pub fn threshold(&self, base: f64, ceiling: f64, waiting: f64) -> f64 {
        let late = waiting / self.patience - 1.0;
        if late >= 1.0 {
            return -1.0;
        }
        base.min(ceiling) * (1.0 - late.max(0.0))
    }
}

/// Returns whether a batch can be estimated: ten jobs and a twentieth of all are done.
pub fn enough_done(done: u32, jobs: u32) -> bool {
    done >= 10.max(jobs.div_ceil(20)) || done >= jobs
}

/// Sort key of a job in the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Logical end time of its batch, or for stream jobs the creation time plus the bound \[time\].
    pub end: f64,
    /// How often it was sent before.
    pub retries: u32,
    /// Its number.
    pub id: u64,
}

/// Compares two jobs by the order of the array: first the end, then the number of retries (the
/// largest first), and then the number of the job.
pub fn feed(a: &Place, b: &Place) -> Ordering {
    let ends = a.end.total_cmp(&b.end);
    let tries = b.retries.cmp(&a.retries);
    ends.then(tries).then(a.id.cmp(&b.id))
}
