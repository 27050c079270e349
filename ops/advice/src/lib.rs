//! Answers to an administrator's questions about a queue, from its own log: which order is best ([`judge`]), when jobs will
//! start ([`forecast`]), and what a Slurm site should change ([`slurm`]).

pub mod forecast;
pub mod judge;
#[cfg(feature = "verbs")]
pub mod slurm;
#[cfg(feature = "verbs")]
pub mod verbs;
