//! This crate reads the logs of real clusters and replays them.

pub mod replay;
pub mod trace;
