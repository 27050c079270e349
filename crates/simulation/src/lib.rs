//! The parts that are shared by all simulators: random streams, statistics and comparisons.
//!
//! The simulator provides the events of the system. This crate decides how long a simulation runs,
//! removes the warm-up, computes the confidence intervals, and detects if the system is unstable.
//!
//! - A simulator implements [`Replication`] and reports arrivals and departures to its
//!   [`Recorder`]. For a simple queue, it is sufficient to implement [`Discipline`] and to call
//!   [`Queue::simulate`].
//! - The function [`go_on`] runs independent replications in parallel until one of the conditions
//!   in the [`Settings`] holds.
//! - The [`results`] are a [`Run`], which has an [`Estimate`] of each mean if the run has
//!   converged. Two runs on the same random numbers are compared with [`paired_ratio`].
//!
//! In the example, the mean size of the jobs in an M/M/1 queue is 1 and the load is ρ = 1/2, so the
//! mean response time is `1/(1 − ρ) = 2`.
//!
//! ```
//! use synth_simulation::{Health, Settings, mm1};
//!
//! let settings = Settings { events: 200_000, ..Settings::default() };
//! let run = mm1::run(0.5, &settings);
//! assert_eq!(run.health, Health::Settled);
//! let response = run.mean_response.ok_or("the run is too short")?;
//! assert!(response.covers(2.0, 0.999));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The file `src/tests/mm1.rs` contains the queue of this example and is the shortest simulator.
//! The module [`sweep`] compares policies for many different loads. See
//! `docs/explanation/intervals.md` for the statistical methods.

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
pub use settling::NotConverged;
pub use statistics::{BATCHES, Estimate, median, over_replications, student};
pub use stretch::{Stint, Stretch};
pub use watch::{FirstMoment, Meter, Stay, Threshold, Watch, Watched};

pub use arrivals::{Arrival, ArrivalBuffer, Arrivals, Batches, Modulated, Process};
pub use calendar::{CompletionQueue, Tournament};
pub use growth::FromAbove;
pub use queue::{
    Departure, Discipline, INTERRUPTIONS, MEASURED, Queue, QueueIntegrals, QueueMeasure, QueueRun,
    busy_column,
};
pub use random::{RandomStream, Streams};
pub use recorder::{Recorder, Replication, ReplicationState};
pub use replication::{BURST, go_on, results};
pub use sample::Sample;
pub use series::Passed;
pub use sizes::{Sampler, numbers, weights};
pub use verdict::{ClaimMeasurement, ClaimMeter, Judgement, Verdict, judge_all};

#[cfg(test)]
mod tests;
