use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::multiresource::workload::Workload;

/// MaxWeight with full preemption: of the schedules that there are jobs for, one with the largest `Σ c_i Q_i^a u_i`
/// is served, Q_i the jobs of type i in the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightPolicy {
    /// c_i (K): 1e-6 at least, at most 1.
    pub worths: Vec<f64>,
    /// a: positive, at most 2.
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

/// MaxWeight with setups: the schedule of most weight, as under [`MaxWeightPolicy`], is gone to where the gain outlasts
/// the way there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightSetupPolicy {
    /// What running jobs weigh.
    pub weights: MaxWeightPolicy,
    /// γ: room of a job that is stopped is held for a setup at this rate \[1/time\].
    pub setup_rate: f64,
    /// How much a gain counts beside what is lost on the way: ≥ 0.
    pub eagerness: f64,
    /// How much is lost at least by waiting for jobs to end beside what is lost by stopping them, for jobs to be
    /// stopped: ≥ 0, and 0 stops none.
    pub haste: f64,
}

impl MaxWeightSetupPolicy {
    pub(super) fn knobs(&self, workload: &Workload) -> String {
        let weights = self.weights.knobs(workload);
        format!(
            "eagerness {}, haste {}, {weights}",
            self.eagerness, self.haste
        )
    }
}
