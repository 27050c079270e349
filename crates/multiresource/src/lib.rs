//! Multiresource jobs: workload, schedules, policy files and bounds and their checkers, rules and the simulator. Imports nothing that makes policies.

pub mod artifact;
pub mod bound;
pub mod policy;
pub mod schedule;
pub mod simulator;
pub mod workload;

pub use artifact::Multiresource;
