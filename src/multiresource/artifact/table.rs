use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MaxWeightSetupPolicy;

/// Which job to start at each state: the schedule that runs and the jobs that wait. With setups also which to stop:
/// then a schedule is jobs that run, and after them slots in setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TablePolicy {
    /// All schedules (each K; with setups 2K) that fit the server, the empty one first.
    pub schedules: Vec<Vec<u32>>,
    /// The most waiting jobs of each type that are told apart (K).
    pub limits: Vec<usize>,
    /// By schedule: runs of decisions over the waiting jobs of all types up to their limits, those of
    /// the last type next to each other. A run is how many states, and the type to start + 1, or the type to
    /// stop + 1 + K, or 0 for neither.
    pub decisions: Vec<Vec<[u32; 2]>>,
    /// With setups: their rate, and how to go on with more waiting jobs of some type. No job is preempted where it is
    /// not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<MaxWeightSetupPolicy>,
}
