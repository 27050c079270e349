use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::Workload;

/// MaxWeight with full preemption. Let `Q_i` be the number of jobs of type `i` in the system. Among
/// the schedules `u` for which there are enough jobs, it serves one with the maximum of
/// `Σ c_i Q_i^a u_i`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightConfig {
    /// The values `c_i` (length K), which must be between 1e-6 and 1.
    pub worths: Vec<f64>,
    /// The exponent `a`, which must be positive and at most 2.
    pub exponent: f64,
}

impl MaxWeightConfig {
    /// Returns the published rule.
    pub fn plain(types: usize) -> Self {
        MaxWeightConfig {
            worths: vec![1.0; types],
            exponent: 1.0,
        }
    }

    /// Multiplies the values by `factors` and scales the maximum to 1. The values are rounded up to
    /// six decimal places.
    pub fn times(&self, factors: impl Iterator<Item = f64>) -> Self {
        let pairs = self.worths.iter().zip(factors);
        let mut worths: Vec<f64> = pairs.map(|(c, f)| c * f).collect();
        let most = worths.iter().copied().fold(0.0, f64::max);
        for c in &mut worths {
            // If the price of a type is 0, its weight must still be positive.
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
            "If there are Q jobs of a type, the weight of each of them is c Q^{}, with c = {}.",
            self.exponent,
            worths.join(", ")
        )
    }
}

/// MaxWeight with setups, which switches to the best schedule if the gain is large enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightSetupConfig {
    /// The weights of running jobs.
    pub weights: MaxWeightConfig,
    /// The setup rate `γ` \[1/time\] at which the capacity of a stopped job is released.
    pub setup_rate: f64,
    /// The weight of a gain compared with the loss during the transition. Must be at least 0.
    pub eagerness: f64,
    /// A job is only stopped if the loss is less than this value times the loss of waiting for it.
    /// If the value is 0, jobs are never stopped. Must be at least 0.
    pub haste: f64,
}
