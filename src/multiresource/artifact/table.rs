use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which job to start at each state: the schedule that runs and the jobs that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TablePolicy {
    /// All schedules (each K) that fit the server, the empty one first.
    pub schedules: Vec<Vec<u32>>,
    /// The most waiting jobs of each type that are told apart (K).
    pub limits: Vec<usize>,
    /// By schedule: runs of decisions over the waiting jobs of all types up to their limits, those of
    /// the last type next to each other. A run is how many states, and the type to start + 1, or 0 to
    /// start none.
    pub decisions: Vec<Vec<[u32; 2]>>,
}
