use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::Workload;

/// MaxWeight with full preemption: serves the present jobs with maximum `Σ c_i Q_i^a u_i`, where
/// Q_i is the number of jobs of type `i` in the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightConfig {
    /// c_i (length K): from 1e-6 to 1.
    pub worths: Vec<f64>,
    /// a: positive, at most 2.
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

    /// Multiplies the worths by `factors` and scales them to maximum 1, rounded up to six digits.
    pub fn times(&self, factors: impl Iterator<Item = f64>) -> Self {
        let pairs = self.worths.iter().zip(factors);
        let mut worths: Vec<f64> = pairs.map(|(c, f)| c * f).collect();
        let most = worths.iter().copied().fold(0.0, f64::max);
        for c in &mut worths {
            // Keeps the weight of types with price 0 positive.
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
            "of Q jobs of a type weighs c Q^{}, with c = {}.",
            self.exponent,
            worths.join(", ")
        )
    }
}

/// MaxWeight with setups: moves to the schedule of maximum weight when the gain is worth it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightSetupConfig {
    /// The weights of running jobs.
    pub weights: MaxWeightConfig,
    /// γ \[1/time\]: the setup rate at which the capacity of stopped jobs is released.
    pub setup_rate: f64,
    /// The importance of a gain relative to the loss during the transition: ≥ 0.
    pub eagerness: f64,
    /// ≥ 0: jobs stop if that loses less than this multiple of the loss of waiting; 0 never.
    pub haste: f64,
}
