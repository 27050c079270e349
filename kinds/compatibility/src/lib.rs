//! Clusters with a compatibility graph: each job may run only on certain servers, and on several of
//! them at once, at the sum of their rates.
//!
//! Server s has capacity C_s. Jobs have mean size σ, so server s completes `μ_s = C_s/σ` jobs per
//! unit of time. Class i arrives at rate λ_i and may run on the servers S_i. `μ(A)` is the sum over
//! all servers that some class of A may use.
//!
//! Source: T. Bonald, C. Comte: Balanced Fair Resource Sharing in Computer Clusters. Performance
//! Evaluation 116, 2017 ("the balanced-fairness paper").

pub mod analysis;
pub mod artifact;
pub mod policy;
mod report;
pub mod simulator;
pub mod synthesis;
mod verbs;
pub mod workload;

pub use artifact::Compatibility;
