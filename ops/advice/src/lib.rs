//! This crate provides advice for administrators based on a log: the best order of the queue
//! ([`judge`]), when jobs will start ([`forecast`]), and changes to a Slurm configuration
//! ([`slurm`]).

pub mod forecast;
pub mod judge;
#[cfg(feature = "verbs")]
pub mod slurm;
#[cfg(feature = "verbs")]
pub mod verbs;
