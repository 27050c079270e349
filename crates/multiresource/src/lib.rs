//! Multiresource jobs: workloads, schedules, policy files and bounds with their checkers, rules,
//! and the simulator. Has no dependency on the crates that synthesize policies.

pub mod artifact;
pub mod bound;
pub mod policy;
pub mod schedule;
pub mod simulator;
pub mod workload;

pub use artifact::Multiresource;
