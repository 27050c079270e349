//! synth: a compiler from workloads to scheduling policies.

pub mod artifact;
pub mod ctmc;
pub mod modulation;
pub mod policy;
pub mod program;
pub mod schedule;
pub mod workload;
pub mod synthesis;
