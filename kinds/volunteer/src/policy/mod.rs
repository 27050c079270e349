//! What a server of volunteers decides: which jobs of its array a host gets, and with which deadlines.
//!
//! Everything here is a function of its arguments, without a clock and without chance, so that a
//! server in another language can be tested against it.
//!
//! Source: the proposal "Server job scheduling" of the BOINC project, 2012; what it leaves open is
//! settled here, and where it would defeat its own purpose the seed's wording is an option
//! ([`Queued::Tight`]).

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

/// What stands before a job when its earliest deadline is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queued {
    /// All jobs that the host has: a job that runs in its turn meets its deadline.
    #[default]
    All,
    /// Jobs with tight deadlines only, as the proposal has it: on hosts with full queues this makes
    /// nearly every deadline tight.
    Tight,
}

/// The parameters of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// Hosts above it get jobs of a batch that has no estimate yet \[%\], 0 to 100.
    pub first_percentile: f64,
    /// Hosts above it may have deadlines before the estimate of a batch \[%\], 0 to 100.
    pub tight_percentile: f64,
    /// The quantile of the turnaround that an estimate takes, in (0, 1); 1 − 1/(r+1) of r jobs that
    /// are not done where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// What stands before a job.
    #[serde(default)]
    pub queued: Queued,
    /// Jobs of batches without an estimate that a host may have for each of its processors; any number, as
    /// in the proposal, where none is given: then a fast host with an empty queue takes a batch home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_each: Option<u32>,
    /// Whether deadlines of batches leave time to send once more what is lost: an instance has half of
    /// the time that is left. Else it has all of it, as in the proposal.
    #[serde(default = "yes")]
    pub reserve: bool,
    /// How long a batch waits for a host before thresholds fall, > 0 \[time\]; after twice as long
    /// there are none.
    pub patience: f64,
}

fn yes() -> bool {
    true
}

impl Dispatch {
    /// Returns the rule with the parameters that a campaign has in place of its own.
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

    /// Returns the threshold for a batch of which nothing was sent for so long, though it has jobs to send:
    /// as it is until `patience` is over, then falling, none from twice as long on. `ceiling` is the
    /// greatest that leaves enough hosts. Below 0 every host passes.
    pub fn threshold(&self, base: f64, ceiling: f64, waiting: f64) -> f64 {
        let late = waiting / self.patience - 1.0;
        if late >= 1.0 {
            return -1.0;
        }
        base.min(ceiling) * (1.0 - late.max(0.0))
    }
}

/// Returns whether enough of a batch is done to estimate its end: ten jobs, and a twentieth of all.
pub fn enough_done(done: u32, jobs: u32) -> bool {
    done >= 10.max(jobs.div_ceil(20)) || done >= jobs
}

/// What decides on the place of a job in the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The logical end time of its batch \[time\]; of a job without a batch when it was created plus its
    /// bound.
    pub end: f64,
    /// How often it was sent before.
    pub retries: u32,
    /// Its number.
    pub id: u64,
}

/// Orders the array: the earliest end first, of those the one that was tried most often, of those the oldest.
pub fn feed(a: &Place, b: &Place) -> Ordering {
    let ends = a.end.total_cmp(&b.end);
    let tries = b.retries.cmp(&a.retries);
    ends.then(tries).then(a.id.cmp(&b.id))
}
