//! Markov chains, queues and laws of sizes and arrivals, exactly. Knows no kind of workload.

pub mod ctmc;
pub mod law;
