//! synth: a compiler from workloads to scheduling policies.

pub mod artifact;
pub mod ctmc;
pub mod modulation;
pub mod policy;
pub mod program;
pub mod report;
pub mod schedule;
pub mod simulator;
pub mod synthesis;
pub mod workload;
