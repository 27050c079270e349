//! A policy on a real Slurm: the loop that starts its jobs.

pub mod bridge;
