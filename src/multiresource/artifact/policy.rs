use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Family;

/// What each server does, and where jobs are sent; or what is done over all servers, where jobs wait in one
/// place. One server is a fleet of one: a single entry, count 1, to which everything is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Where jobs are sent when they arrive: the shapes of servers, in the workload's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerPolicy>,
    /// Where they wait in one place: the rule that says which job starts on which server. There are either
    /// `servers` or a `queue`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Family>,
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
