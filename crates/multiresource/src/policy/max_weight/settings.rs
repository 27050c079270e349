//! What policy files have of MaxWeight, with full preemption and with setups.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::Workload;

/// MaxWeight with full preemption: of the schedules that there are jobs for, one with the largest `Σ c_i Q_i^a u_i`
/// is served, Q_i the jobs of type i in the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightConfig {
    /// c_i (K): 1e-6 at least, at most 1.
    pub worths: Vec<f64>,
    /// a: positive, at most 2.
    pub exponent: f64,
}

impl MaxWeightConfig {
    /// Returns the rule as it is published, for so many types.
    pub fn plain(types: usize) -> Self {
        MaxWeightConfig {
            worths: vec![1.0; types],
            exponent: 1.0,
        }
    }

    /// The worths times these, the largest of them 1, to six digits.
    pub fn times(&self, factors: impl Iterator<Item = f64>) -> Self {
        let pairs = self.worths.iter().zip(factors);
        let mut worths: Vec<f64> = pairs.map(|(c, f)| c * f).collect();
        let most = worths.iter().copied().fold(0.0, f64::max);
        for c in &mut worths {
            // A type that costs nothing has a weight, too.
            *c = (*c / most * 1e6).ceil().max(1.0) / 1e6;
        }
        MaxWeightConfig {
            worths,
            exponent: self.exponent,
        }
    }

    pub(super) fn weights_in_words(&self, workload: &Workload) -> String {
        let pairs = workload.types().iter().zip(&self.worths);
        let worths: Vec<String> = pairs.map(|(t, c)| format!("{c:.3} {}", t.name())).collect();
        format!(
            "of Q jobs of a type weighs c Q^{}, where c is {}.",
            self.exponent,
            worths.join(", ")
        )
    }
}

/// MaxWeight with setups: the schedule of most weight, as under MaxWeight, is gone to where the gain outlasts
/// the way there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightSetupConfig {
    /// What running jobs weigh.
    pub weights: MaxWeightConfig,
    /// γ: room of a job that is stopped is held for a setup at this rate \[1/time\].
    pub setup_rate: f64,
    /// How much a gain counts beside what is lost on the way: ≥ 0.
    pub eagerness: f64,
    /// How much is lost at least by waiting for jobs to end beside what is lost by stopping them, for jobs to be
    /// stopped: ≥ 0, and 0 stops none.
    pub haste: f64,
}
