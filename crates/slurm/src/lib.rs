//! Slurm, as it is: its commands on a cluster that runs ([`commands`]).

pub mod commands;
