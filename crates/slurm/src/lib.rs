//! Slurm, as it is: its commands on a cluster that runs ([`commands`]), how it is set up ([`configuration`]), and how it
//! schedules ([`rule`]).

pub mod commands;
pub mod configuration;
pub mod rule;
