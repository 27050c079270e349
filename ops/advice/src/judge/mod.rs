//! Which rule of backfilling is best on a log: chosen on what came before, judged on what came after.
//!
//! # Theory
//! What a rule brings on the log that it was chosen on says little: among many rules one is always lucky. So the log is
//! *walked forward*: it is cut into windows, say weeks; the rule of each window is [chosen](choose) from the jobs alone that had
//! ended before it, and begins with the jobs that its predecessor left waiting and running. What comes of the jobs of all
//! windows is what somebody gets who chooses anew each week.
//!
//! A choice replays candidates on the past: as it was, on weeks of it drawn with replacement, so that one lucky week does
//! not decide, and faster, where the past was quiet. Each gives the logarithm of a rule's mean wait over that of the rule
//! that runs now, and the least mean is taken; a rule that nobody runs has to be better than those that people run by a
//! margin.
//!
//! Candidates are points of one family ([`RulePoint`]): the order of the queue by `a ln ê + b ln p − g ln(w + c)`, one
//! reservation or none, the estimate ê of a job's size, and a promise that nobody waits longer. Sizes are estimated when
//! jobs come, from those that ended before ([`synth_multiresource::policy::Estimator`]).
//!
//! # Bibliography
//! Carastan-Santos, de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017:
//! orders by size, share and age. Gaussier, Glesser, Reis, Trystram, "Improving backfilling by using machine learning to
//! predict running times", SC 2015. Zakay, Feitelson, "Workload resampling for performance evaluation of parallel job
//! schedulers", ICPE 2013.

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
