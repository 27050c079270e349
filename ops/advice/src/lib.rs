//! Advice for administrators from a log: the best queue order ([`judge`]), when jobs will start
//! ([`forecast`]), and changes to a Slurm configuration ([`slurm`]).

pub mod forecast;
pub mod judge;
#[cfg(feature = "verbs")]
pub mod slurm;
#[cfg(feature = "verbs")]
pub mod verbs;
