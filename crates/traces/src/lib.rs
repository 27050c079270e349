//! Reading and replaying logs of real clusters.

pub mod replay;
pub mod trace;
