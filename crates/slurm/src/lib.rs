//! Slurm, as it is: its commands on a cluster that runs ([`commands`]), how it is set up ([`configuration`]), how it
//! schedules ([`rule`]), and an order of jobs that it follows by itself ([`order`]).

pub mod commands;
pub mod configuration;
pub mod order;
pub mod rule;
