//! Selection of a backfilling rule on a log, evaluated on later jobs.
//!
//! Among many rules one always looks good by chance on the jobs it was selected on. So the
//! evaluation *walks forward*: the log is cut into windows, such as weeks; the rule of each window
//! is [selected](choose) using only jobs that ended before it, and takes over the queue of its
//! predecessor. Candidates are replayed on the past as recorded, on weeks resampled with
//! replacement (so that one lucky week does not decide) and, if the past was quiet, faster. The
//! score is the mean logarithm of the mean wait relative to the current rule; unusual rules must
//! beat common ones by a margin. [`RulePoint`]s are orders `a ln ê + b ln p − g ln(w + c)` with an
//! estimate ê of job sizes, at most one reservation, and a maximum wait.
//!
//! # Bibliography
//! Carastan-Santos, de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
//! learning", SC 2017: orders by size, share and age. Gaussier, Glesser, Reis, Trystram, "Improving
//! backfilling by using machine learning to predict running times", SC 2015. Zakay, Feitelson,
//! "Workload resampling for performance evaluation of parallel job schedulers", ICPE 2013.

mod choose;
mod estimates;
mod forward;
mod past;
mod point;

pub use choose::{ChosenRule, Goal, JudgeObjective};
pub use estimates::OfEstimate;
pub use forward::{Forward, JudgedWindow, LogWindows, Served};
pub use past::PastOutcome;
pub use point::{RulePoint, usual};

#[cfg(test)]
mod tests;
