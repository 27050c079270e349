//! Replays a trace: its jobs are submitted again, under another policy.
//!
//! # Theory
//! A job is submitted at its recorded time, holds the recorded resources for the recorded duration,
//! and starts when the policy starts it. Only clocks of policies are random, so the same trace
//! gives the same waits to the second. Times are whole ticks below 2^53 in doubles, so sums and
//! comparisons are exact. A [`Speed`] a/b multiplies submission times by b and sizes by a, and
//! results are divided again. It must be exact: a difference of one second changes which job fits
//! first, and through the jobs behind it means by several percent.
//!
//! With a start latency, a job holds its resources for that long before it runs; if times are whole
//! ticks, the latency is a whole number of fractions of a tick ([`WholeParts`]).
//!
//! At each instant, completions come first, then arrivals in file order. A rule that [decides on
//! the state](synth_multiresource::policy::Policy::decides_on_state) then decides once; other rules
//! react to one event after the other. Jobs that were running when the log began run from time 0
//! for the rest of their sizes, if they fit; otherwise the replay starts empty. It ends when the
//! last job has left.
//!
//! Waits of neighboring jobs depend on each other, so intervals use blocks of time ([`Blocks`]).
//!
//! # Practice
//! [`Log::read`] keeps the jobs of a trace, [`gathered`] builds the workload that a rule sees,
//! [`replay`] runs a policy, and [`WindowMeasures`] holds the results. A job takes 72 bytes.
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
pub use engine::{NoResult, Replayed, Stopped, Walk, replay};
pub use groups::{Groups, OfGroup};
pub use log::{Log, ReplayJob, early};
pub use measured::{
    SeriesStep, Visit, Window, WindowMeasures, bounded_slowdown, passes, percentiles, time_series,
    visits,
};
pub use record::record;
pub use scene::{DecisionState, Kinds, gathered};
pub use speed::{Clock, Speed, WholeParts};

#[cfg(test)]
mod tests;
