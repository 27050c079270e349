//! What every simulator stands on, whatever it simulates: classes of jobs, random streams, arrivals
//! and sizes, measurements in buckets of time, and from them means with intervals, instability, and
//! comparisons of policies.
//!
//! An engine of a kind of workload implements `Replication`: it goes from event to event and tells
//! its `Recorder` which jobs came and left. `replicate` runs several of them side by side until the
//! mean response time is known well enough, and `Results::run` makes a [`Run`] of them. What a
//! kind measures besides stands in extra columns of the series, and in fields of its own in the
//! run.

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

// What tests of several crates need.
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
pub mod tests;
