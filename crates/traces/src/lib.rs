//! Reads and replays the logs of real clusters.

pub mod replay;
pub mod trace;
