//! This crate is for malleable jobs. Each job can run on any number of servers at the same time,
//! but if there are more servers, each of them is less efficient.
//!
//! There are N servers, which are divided among the jobs. If a job has `k` servers, its rate is
//! `s(k)`, where `s` is concave and `s(0) = 0`. As in the paper, the first job is the largest one,
//! so that `x_1 ≥ x_2 ≥ …`. The sum of the weights `w_1 + … + w_i` is denoted by `W_i`. If all jobs
//! are present at the start, they are a *pool*, and the best plan is computed. If they arrive over
//! time, they are a *stream*, and a rule is tuned.
//!
//! The theory is described in "the heSRPT paper": B. Berg, R. Vesilo, M. Harchol-Balter: heSRPT:
//! Parallel Scheduling to Minimize Mean Slowdown. Performance Evaluation 144, 2020.

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
