//! Traces of real clusters: read, fitted to a workload, replayed.

#[cfg(feature = "fit")]
pub mod fit;
pub mod forecast;
pub mod judge;
pub mod replay;
pub mod trace;
