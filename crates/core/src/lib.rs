//! Numbers, workload documents and policy files, for all kinds of workload. Depends on no other
//! crate of the workspace.

pub mod artifact;
pub mod document;
pub mod number;
