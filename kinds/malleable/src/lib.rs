//! Malleable jobs: each may run on any number of servers at once, with diminishing returns.
//!
//! N servers are divided among the jobs. A job on k servers progresses at rate `s(k)`, with s
//! concave and `s(0) = 0`. Jobs are numbered from the largest, `x_1 ≥ x_2 ≥ …`, as in the paper;
//! `W_i = w_1 + … + w_i`. They are either all present at the start (a *pool*, for which the best
//! plan is computed) or arrive over time (a *stream*, for which a rule is tuned).
//!
//! Source: B. Berg, R. Vesilo, M. Harchol-Balter: heSRPT: Parallel Scheduling to Minimize Mean
//! Slowdown. Performance Evaluation 144, 2020 ("the heSRPT paper").

pub mod analysis;
pub mod artifact;
pub mod policies;
pub mod policy;
mod report;
pub mod simulator;
pub mod synthesis;
mod verbs;
pub mod workload;

pub use artifact::Malleable;
