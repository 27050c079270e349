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
    /// With setups at this rate of so many types, and knobs that were good somewhere.
    pub fn plain(setup_rate: f64, types: usize) -> Self {
        MaxWeightSetupPolicy {
            weights: MaxWeightPolicy {
                worths: vec![1.0; types],
                exponent: 1.0,
            },
            setup_rate,
            eagerness: 0.3,
            haste: 0.5,
        }
    }

    pub(super) fn knobs(&self, workload: &Workload) -> String {
        let weights = self.weights.knobs(workload);
        format!(
            "eagerness {}, haste {}, {weights}",
            self.eagerness, self.haste
        )
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
