//! Numbers, documents and policy files: what every kind of workload stands on. Imports no other crate of the workspace.

pub mod artifact;
pub mod document;
pub mod number;
