//! Logs of real clusters: reading and replay.

pub mod replay;
pub mod trace;
