//! Slurm, as it is: its commands on a cluster that runs ([`commands`]), how it is set up ([`configuration`]), how it
//! schedules ([`rule`]), an order of jobs that it follows by itself ([`order`]), and what a site should change ([`advice`]).

pub mod advice;
pub mod commands;
pub mod configuration;
pub mod order;
pub mod rule;
