use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Family;

/// Where jobs are sent, and what each server does. One server is a fleet of one: a single entry,
/// count 1, to which everything is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The shapes of servers, in the workload's order.
    pub servers: Vec<ServerPolicy>,
}

/// What is sent to the servers of one shape, and what each of them does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerPolicy {
    /// The name of the shape.
    pub name: String,
    /// How many servers have it.
    pub count: u32,
    /// The fraction of each type that is sent to servers of this shape, to each of them alike (K,
    /// in the workload's type order): in \[0, 1\], of sum 1 over the shapes.
    pub routing: Vec<f64>,
    /// The rule of one such server. Its schedules count the types that are sent there, in the
    /// workload's order.
    pub rule: Family,
}
