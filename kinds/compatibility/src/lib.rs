//! This crate is for clusters where each job can only run on some of the servers, as described by a
//! compatibility graph. A job can run on several servers at once, at the sum of their rates.
//!
//! The server `s` has the capacity `C_s`. The mean size of a job is `σ`, so the server completes
//! `μ_s = C_s/σ` jobs per unit of time. The jobs of class `i` arrive at rate `λ_i`, and each of
//! them can run on the servers `S_i`. `μ(A)` is the sum over all servers that some class of `A` can
//! use.
//!
//! The theory is described in the following paper, "the balanced-fairness paper": T. Bonald, C.
//! Comte: Balanced Fair Resource Sharing in Computer Clusters. Performance Evaluation 116, 2017.

pub mod analysis;
pub mod artifact;
pub mod policy;
mod report;
pub mod simulator;
pub mod synthesis;
mod verbs;
pub mod workload;

pub use artifact::Compatibility;
