use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::multiresource::workload::Workload;

/// MaxWeight with full preemption: of the schedules that there are jobs for, one with the largest `Σ c_i Q_i^a u_i`
/// is served, Q_i the jobs of type i in the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightPolicy {
    /// c_i (K): positive, at most 1.
    pub worths: Vec<f64>,
    /// a: positive, at most 4.
    pub exponent: f64,
}

/// Worths are told one by one of no more types.
const LISTED: usize = 5;

impl MaxWeightPolicy {
    pub(super) fn knobs(&self, workload: &Workload) -> String {
        let pairs = workload.types().iter().zip(&self.worths);
        let worths: Vec<String> = pairs.map(|(t, c)| format!("{} {c}", t.name())).collect();
        match self.worths.len() <= LISTED {
            true => format!("exponent {}, worths {}", self.exponent, worths.join(", ")),
            false => format!("exponent {}", self.exponent),
        }
    }
}

/// Which schedule to serve, with full preemption, at each number of jobs of each type in the system, and how to
/// go on beyond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresentTablePolicy {
    /// Maximal schedules (each K); jobs that there are not leave their room idle.
    pub schedules: Vec<Vec<u32>>,
    /// The most jobs of each type of which the table tells (K).
    pub limits: Vec<usize>,
    /// Runs over the jobs of all types up to their limits, those of the last type next to each other: how many
    /// states, and the place of the schedule.
    pub decisions: Vec<[u32; 2]>,
    /// With more jobs of some type.
    pub beyond: MaxWeightPolicy,
}
