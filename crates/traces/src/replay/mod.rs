//! This module replays a trace: its jobs are submitted again, but are run by another policy.
//!
//! # Theory
//! A job is submitted at the time that was recorded and starts when the policy starts it. It then
//! holds the resources that were recorded for the same duration. Only the clocks of policies are
//! random, so the same trace gives the same waits to the second. All times are whole ticks below
//! 2^53 in doubles, so that sums and comparisons are exact. With a [`Speed`] of `a/b`, submission
//! times are multiplied by `b` and sizes by `a`, and the results are divided again. This must be
//! exact: a difference of one second may change which job fits first, and because of the jobs
//! behind it, the means can change by several percent.
//!
//! If there is a start latency, a job holds its resources for this time before it is run. It must
//! be a whole number of equal parts of a tick if all times are whole ticks ([`ExactDuration`]).
//!
//! At the same time, completions are processed first, and then the arrivals in the order of the
//! file. A rule that [decides on the state](synth_multiresource::policy::Policy::decides_on_state)
//! then makes a single decision, while other rules react to each event. A job that was running when
//! the log began runs from time 0 for the rest of its size, or waits if it does not fit. The replay
//! ends when the last job has left.
//!
//! The waits of neighboring jobs are not independent, so intervals are computed from blocks of time
//! ([`Blocks`]).
//!
//! [`Log::read`] reads the jobs of a trace, and [`replay_workload`] builds the workload that is
//! visible to the rule. The policy is run by [`replay`], and [`WindowMeasures`] contains the
//! results. Each job needs 72 bytes.
//!
//! # Bibliography
//! Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of
//! Statistics 17(3), 1989. Feitelson, "Metrics for parallel job scheduling and their convergence",
//! JSSPP 2001: the bounded slowdown. Zakay, Feitelson, "Workload resampling for performance
//! evaluation of parallel job schedulers", ICPE 2013.

mod blocks;
mod engine;
mod groups;
mod log;
mod measured;
mod record;
mod scene;
mod speed;

pub use blocks::{Blocks, Interval, resampled};
pub use engine::{LogError, ReplayError, Replayed, Walk, replay};
pub use groups::{GroupResult, Groups};
pub use log::{Log, ReplayJob, early};
pub use measured::{
    SeriesStep, Visit, Window, WindowMeasures, bounded_slowdown, passes, percentiles, time_series,
    visits,
};
pub use record::record;
pub use scene::{DecisionState, DemandKinds, replay_workload};
pub use speed::{Clock, ExactDuration, Speed};

#[cfg(test)]
mod tests;
