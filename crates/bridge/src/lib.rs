//! A policy on a real Slurm: its commands, and the loop that starts its jobs.

pub mod bridge;
pub mod slurm;
