//! This module selects a backfilling rule using a log, and evaluates it on the jobs that follow.
//!
//! Among many rules, one always looks good by chance. For this reason, the evaluation *walks
//! forward*: the log is divided into windows, such as weeks. The rule of each window is
//! [selected](choose) using only the jobs that ended before it, and continues with the queue of the
//! previous window. Candidates are replayed on the past as recorded, on random weeks of the past
//! and, if the load in the past was low, at a higher speed. A [`QueueRule`] is an order
//! `a ln ê + b ln p − g ln(w + c)` with an estimate `ê` of the size of a job.
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

pub use choose::{ChosenRule, JudgeObjective, SelectionCriteria};
pub use estimates::EstimateAccuracy;
pub use forward::{JudgedWindow, LogWindows, WaitsAndSizes, WalkForward};
pub use past::WaitSummary;
pub use point::{QueueRule, baseline_rules, slurm_rules};

#[cfg(test)]
mod tests;
