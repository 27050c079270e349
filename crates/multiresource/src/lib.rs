//! This crate runs, checks and simulates policies for multiresource jobs. It does not depend on the
//! crates that make a policy, so the checker cannot know how the policy was found.
//!
//! - A [`Workload`](workload::Workload) is a list of job types and their server. A
//!   [`Fleet`](workload::Fleet) can have more than one server.
//! - A rule implements [`Policy`](policy::Policy). It reacts to each [`Event`](policy::Event) by
//!   starting jobs on a [`System`](policy::System), which checks that they fit.
//! - A policy file ([`artifact::Artifact`]) contains a rule and the claims about it. If it is
//!   [`Checked`](artifact::Checked), it can be simulated, and [`judge`](simulator::judge())
//!   compares its claims with the measurements.
//!
//! | symbol | shape | meaning | unit |
//! |---|---|---|---|
//! | `P`, `D` | R, K × R | capacity, demand | the resource's own; exact integers internally |
//! | `λ`, `μ` | K | arrival rate, service rate | 1/time |
//! | `b = λ/μ` | K | offered load: mean number of jobs in service | jobs |
//! | `u` | K | a schedule, which is feasible if `u·D ≤ P` | jobs |
//! | `Q`, `T` | K | number of jobs in the system, response time | jobs, time |
//!
//! ```
//! use synth_multiresource::policy::{Event, FIRST_FIT, Policy as _, System};
//! use synth_multiresource::workload::Workload;
//!
//! let document = "{kind: multiresource, time_unit: s, server: {capacity: {cpu: 2}}, jobs: [
//!     {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}]}";
//! let workload = Workload::parse(document, "example")?.workload;
//! let (mut rule, mut system) = (FIRST_FIT, System::new(&workload, 0, false));
//! for time in [0.0, 0.1, 0.2] {
//!     system.arrive(0, time);
//!     rule.react(Event::Arrival(0), &mut system);
//! }
//! assert_eq!((system.running(0), system.waiting(0)), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Z. Chen, I. Grosof, B. Berg: Improving Multiresource Job Scheduling with Markovian
//! Service Rate Policies. POMACS 9(2), 2025 ("the MSR paper"); the same authors: Improving
//! Nonpreemptive Multiserver Job Scheduling with Quickswap, 2025 ("the Quickswap paper").

pub mod artifact;
pub mod bound;
pub mod policy;
pub mod schedule;
pub mod simulator;
pub mod workload;

pub use artifact::Multiresource;
