use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ExactRecord;
use crate::schedule::Schedule;
use crate::workload::Workload;

/// The evidence for the load from both sides, and the record of simulations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// An upper bound on the optimal load, which is the load `max_i ρ_i` of the mixes.
    pub load: f64,
    /// The price y_i of each type. The prices are nonnegative, and their sum is 1.
    pub prices: Vec<f64>,
    /// For each shape, the value of a server at these prices.
    pub servers: Vec<ShapeValue>,
    /// Lower bound on the load under any policy: `1 / Σ_h n_h worth_h`.
    pub bound: f64,
    /// Relative gap `load/bound − 1`.
    pub gap: f64,
    /// Whether the gap is at most 1e-9.
    pub proven: bool,
    /// The same as fractions, for one server, unless they are too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactRecord>,
    /// The run behind simulated claims, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<SimulationRecord>,
}

/// The value of a server of one shape at the prices of the types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeValue {
    /// The price of one unit of each resource of the shape, such that `Σ_j D_ij w_j ≥ y_i/b_i` for
    /// all types that fit. The unit is the greatest common divisor of the demands.
    pub resource_prices: Vec<f64>,
    /// Upper bound on the value of a schedule on such a server: `max_u Σ_i (y_i/b_i) u_i`.
    pub worth: f64,
    /// The mix of schedules for this load, over the types that fit there. It is absent if the
    /// policy is a mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The search that is used to prove the value, if the prices are not the same for all of its
    /// nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}

/// The settings of the simulation that was used for the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulationRecord {
    /// Seed of arrivals and sizes.
    pub seed: u64,
    /// Number of independent replications.
    pub replications: u32,
    /// Number of events of all replications.
    pub events: u64,
}

/// Proof that no schedule is worth more than a bound B, as a tree of bounds on job counts.
///
/// At prices w of a node, with counts from `least` to `most` and free capacity `room` at the least
/// counts, no schedule of the node is worth more than
/// `Σ v_i least_i + w·room + Σ (v_i − w·D_i)⁺ (most_i − least_i)`. If this is greater than B, the
/// difference limits how far each count can be from one of its bounds, because each step costs
/// `|v_i − w·D_i|`. If this does not decide a leaf, the checker uses a table or a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// Indices of the types searched. Any other type of value is worth no more than the jobs of one
    /// of these that fit into its demand.
    pub types: Vec<usize>,
    /// The nodes in depth-first order: the root, then all nodes of the first part of its branch,
    /// then those of the second part.
    pub nodes: Vec<SearchNode>,
}

/// A node of the search tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchNode {
    /// The price of one unit of each resource, which is nonnegative.
    pub prices: Vec<f64>,
    /// A type and a count: the first part has at most this many jobs of it, the second part more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<(usize, u32)>,
}

/// Schedules with the fraction of time of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The schedules (N × K): number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The fraction of time for each schedule (N). The fractions are positive, and their sum is 1.
    pub weights: Vec<f64>,
}

impl Mix {
    /// Creates a mix of the positive weights, at least one, normalized. Even very small ones are
    /// kept, because a rare type may need them.
    pub fn new(schedules: &[Schedule], weights: &[f64]) -> Self {
        let kept = || schedules.iter().zip(weights).filter(|(_, p)| **p > 0.0);
        let total: f64 = kept().map(|(_, p)| p).sum();
        Mix {
            schedules: kept().map(|(u, _)| u.clone()).collect(),
            weights: kept().map(|(_, p)| p / total).collect(),
        }
    }

    /// Returns the mean schedule `πW`: mean number of jobs of each type in service.
    pub fn mean_schedule(&self) -> Vec<f64> {
        let mean = |i: usize| {
            let pairs = self.schedules.iter().zip(&self.weights);
            pairs.map(|(u, p)| p * f64::from(u[i])).sum()
        };
        (0..self.schedules[0].len()).map(mean).collect()
    }

    /// Returns `ρ_i = b_i / (πW)_i` for each type.
    pub fn loads(&self, workload: &Workload) -> Vec<f64> {
        let pairs = workload.types().iter().zip(self.mean_schedule());
        pairs.map(|(t, s)| t.offered_load() / s).collect()
    }

    /// Returns `max_i ρ_i`.
    pub fn load(&self, workload: &Workload) -> f64 {
        self.loads(workload).into_iter().fold(0.0, f64::max)
    }
}
