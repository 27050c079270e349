//! Slurm, as it is: its commands on a cluster that runs ([`commands`]); an order that it follows without a daemon ([`order`]).

pub mod commands;
pub mod order;
