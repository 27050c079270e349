//! The replay of a trace: the jobs that came to a cluster come again, under another policy.
//!
//! # Theory
//! A job is submitted when the trace says, holds what it held for as long as it did, and starts when the policy
//! starts it. Nothing is drawn at random but the clocks of policies that have some, so that the same trace gives
//! the same waits to the last second. Times are whole ticks, in doubles, below 2^53: sums and comparisons of them are
//! exact. A [`Speed`] a/b multiplies submissions by b and sizes by a, and results are divided again: whole, too. It
//! has to be exact: a second here or there changes which job fits first, and through the jobs behind it means by
//! several percent.
//!
//! With a start latency a job holds its room for that long before it runs; where times are whole ticks it is a whole
//! number of parts of one ([`WholeParts`]).
//!
//! At one instant first all jobs end that end then, then all come that come then, in the order of the file, then a
//! rule that [decides on the state](synth_multiresource::policy::Policy::decides_on_state) decides once. Others react
//! to one event after the other, in this order. Jobs that ran when the log began run from time 0 on, each for the rest
//! of its size, as far as they fit; otherwise the replay starts empty. It runs on until the last job has left.
//!
//! The waits of a trace are one sample, and those of neighbouring jobs are not independent: an interval is computed from
//! moving blocks of time ([`Blocks`]).
//!
//! # Practice
//! [`Log::read`] keeps the jobs of a trace, [`gathered`] makes the workload that a rule sees of them, [`replay`] runs
//! a policy, and [`WindowMeasures`] has what came of it. A job takes 72 bytes: 64 for itself, 8 for its end.
//!
//! # Bibliography
//! Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17(3), 1989.
//! Feitelson, "Metrics for parallel job scheduling and their convergence", JSSPP 2001: the bounded slowdown.
//! Zakay, Feitelson, "Workload resampling for performance evaluation of parallel job schedulers", ICPE 2013.

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
