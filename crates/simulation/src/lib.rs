//! This crate contains the parts that are shared by all simulators: job classes, random streams,
//! arrivals and sizes, measurements in time buckets, confidence intervals, the detection of
//! instability, and the comparison of policies.
//!
//! An engine implements `Replication` and reports all arrivals and departures to its `Recorder`.
//! The function `replicate` runs replications in parallel until the mean response time is precise
//! enough. After that, `EndedRuns::run` is used to create a [`Run`] from them.

mod arrivals;
mod calendar;
mod comparison;
mod growth;
mod memory;
mod quantiles;
mod queue;
mod random;
mod recorder;
mod replication;
mod run;
mod sample;
mod series;
mod settings;
mod settling;
mod sizes;
mod statistics;
mod stretch;
pub mod sweep;
mod verdict;
mod watch;

// Also used by tests of other crates.
#[doc(hidden)]
#[path = "tests/mm1.rs"]
pub mod mm1;
#[path = "tests/sample.rs"]
mod sample_header;

pub use comparison::{Pair, Ranked, Ranking, paired_difference, paired_ratio};
pub use run::{ClassResult, EndedRuns, Ending, Health, Run};
pub use settings::{JobClass, Progress, Settings, total_arrival_rate};
pub use settling::Unsettled;
pub use statistics::{BATCHES, Estimate, median, over_replications, student};
pub use stretch::{Stint, Stretch};
pub use watch::{FirstMoment, Meter, Stay, Threshold, Watch, Watched};

pub use arrivals::{Arrival, Arrivals, Batches, Coming, Modulated, Process};
pub use calendar::{Calendar, Tournament};
pub use growth::{FromAbove, Growth};
pub use quantiles::Histogram;
pub use queue::{
    Departure, Discipline, Gauges, INTERRUPTIONS, MEASURED, Queue, QueueMeasure, QueueRun,
    busy_column,
};
pub use random::{RandomStream, Streams};
pub use recorder::{Recorder, Replication, ReplicationSoFar};
pub use replication::{BURST, go_on, replicate, results};
pub use sample::Sample;
pub use series::Passed;
pub use sizes::{Sampler, numbers, weights};
pub use verdict::{Found, Judgement, Measuring, Verdict, judge_all};

#[cfg(test)]
mod tests;
