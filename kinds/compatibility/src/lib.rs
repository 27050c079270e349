//! Clusters with a compatibility graph: not every job may run on every server, and a job runs on several servers at
//! once, as fast as they are together.
//!
//! Server s has capacity C_s, jobs have mean size σ, so that it ends `μ_s = C_s/σ` jobs a time unit; class i arrives at rate
//! λ_i and may run on the servers S_i. `μ(A)` is the sum over all servers that some class of A may use.
//!
//! Source: T. Bonald, C. Comte: Balanced Fair Resource Sharing in Computer Clusters. Performance Evaluation 116, 2017
//! ("the balanced-fairness paper").

pub mod analysis;
pub mod artifact;
pub mod policy;
mod report;
pub mod simulator;
pub mod synthesis;
mod verbs;
pub mod workload;

pub use artifact::Compatibility;
