//! Exact analysis of Markov chains and queues, and distributions of sizes and arrivals. Independent
//! of the kind of workload.

pub mod ctmc;
pub mod law;
