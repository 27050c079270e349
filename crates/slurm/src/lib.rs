//! Slurm, as it is: its commands on a cluster that runs ([`commands`]), and how it is set up ([`configuration`]).

pub mod commands;
pub mod configuration;
