//! This crate analyzes Markov chains and queues exactly, and defines the distributions of sizes and
//! arrivals. It does not depend on the kind of workload.

pub mod ctmc;
pub mod law;
