//! Traces of real clusters: reading, fitting a workload, replay.

#[cfg(feature = "fit")]
pub mod fit;
pub mod replay;
pub mod trace;
