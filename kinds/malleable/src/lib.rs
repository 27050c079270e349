//! Malleable jobs: each may run on any number of servers at once, with diminishing returns.
//!
//! The jobs share N servers. The rate of a job with k servers is `s(k)`, where `s` is a concave
//! function with `s(0) = 0`. As in the paper, jobs are numbered from the largest, `x_1 ≥ x_2 ≥ …`,
//! and `W_i = w_1 + … + w_i`.
//!
//! - A [`Workload`](workload::Workload) is either a [`Pool`](workload::Pool), in which all jobs are
//!   present at the start, or a [`Stream`](workload::Stream), in which jobs arrive over time.
//! - For a pool, [`synthesis::plan()`] computes the best plan that it can find, and a lower bound.
//! - For a stream, [`synthesis::online`] tunes a rule by simulation. Both return a policy file.
//!
//! In the example, the speedup is `√k`, and the minimum makespan is `√(3² + 4²) / √25 = 1`.
//!
//! ```
//! use synth_core::document::WorkloadDocument as _;
//! use synth_malleable::synthesis::plan;
//! use synth_malleable::workload::{PoolDocument, Workload};
//!
//! let document = "
//! {kind: malleable, servers: 25, speedup: {power: {p: 0.5}}, objective: makespan,
//!  jobs: [{name: a, size: 3}, {name: b, size: 4}]}";
//! let Workload::Pool(pool) = PoolDocument::parse(document, "example")?.workload else {
//!     return Err("all jobs are present at the start".into());
//! };
//! let (_, planned) = plan(&pool);
//! assert!(planned.gap(&pool) < 1e-9);
//! assert!(planned.evidence.ends.iter().all(|end| (end - 1.0).abs() < 1e-9));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: B. Berg, R. Vesilo, M. Harchol-Balter: heSRPT: Optimal Parallel Scheduling of Jobs
//! With Known Sizes. arXiv:1903.09346, 2019 ("the heSRPT paper"). The division of the servers is
//! explained in [`policy`], and the workload in `docs/explanation/malleable.md`.

pub mod analysis;
pub mod artifact;
mod policies;
pub mod policy;
mod report;
pub mod simulator;
pub mod synthesis;
mod verbs;
pub mod workload;

pub use artifact::Malleable;
