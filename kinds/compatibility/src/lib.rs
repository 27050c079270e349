//! Clusters where a job can only run on some of the servers, but can use several of them at the
//! same time.
//!
//! Server s has capacity `C_s`. The mean size of a job is σ, so that server s can complete
//! `μ_s = C_s/σ` jobs per unit of time. The jobs of class i arrive at rate `λ_i` and can use the
//! servers in `S_i`. A job is served at the sum of the rates of its servers. `μ(A)` is the sum over
//! all servers that may be used by a class of A.
//!
//! - A [`Cluster`](workload::Cluster) is a checked workload.
//! - [`analysis::load`] computes the load, with a proof, and [`analysis::means`] the exact means
//!   under balanced fairness, which do not depend on the size distribution.
//! - [`synthesize`](synthesis::synthesize) chooses how often jobs are interrupted and returns a
//!   policy file, whose rule is the [`FairQueue`](policy::FairQueue).
//!
//! The example is figure 1 of the paper at load 0.6: each class has a server of its own, and both
//! of them share a third server.
//!
//! ```
//! use synth_compatibility::{analysis, workload::ClusterDocument};
//! use synth_core::document::WorkloadDocument as _;
//!
//! let document = "
//! {kind: compatibility, mean_size: 1,
//!  servers: [{name: own-1, rate: 1}, {name: own-2, rate: 1}, {name: shared, rate: 1}],
//!  classes: [{name: one, servers: [own-1, shared], arrival_rate: 0.9},
//!            {name: two, servers: [own-2, shared], arrival_rate: 0.9}]}";
//! let cluster = ClusterDocument::parse(document, "example")?.workload;
//! assert!((analysis::load(&cluster).load - 0.6).abs() < 1e-9);
//! let response = analysis::means(&cluster)?.response(&cluster);
//! assert!((response - 1.18983957219).abs() < 1e-10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: T. Bonald, C. Comte: Balanced Fair Resource Sharing in Computer Clusters. Performance
//! Evaluation 116, 2017 ("the balanced-fairness paper"). See also `docs/explanation/balanced-fairness.md`.

pub mod analysis;
pub mod artifact;
pub mod policy;
mod report;
pub mod simulator;
pub mod synthesis;
mod verbs;
pub mod workload;

pub use artifact::Compatibility;
