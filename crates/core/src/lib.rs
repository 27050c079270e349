//! This crate defines numbers, the documents of workloads, and policy files for all kinds of
//! workload. It does not depend on any other crate of the workspace.

pub mod artifact;
pub mod document;
pub mod number;
