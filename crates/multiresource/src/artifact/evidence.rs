use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ExactRecord;
use crate::schedule::Schedule;
use crate::workload::Workload;

/// The two-sided evidence for the load, and how what was simulated was measured; see
/// the module `program` of the crate `make` for the mathematics. One server is a fleet of one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// `max_i ρ_i` of the mixes: the load from above.
    pub load: f64,
    /// Prices y_i of the types, nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// For each shape, what a server is worth at these prices.
    pub servers: Vec<ShapeWorth>,
    /// No policy has a load below this: `1 / Σ_h n_h worth_h`.
    pub bound: f64,
    /// Relative gap `load/bound − 1`.
    pub gap: f64,
    /// Whether the gap is at most 1e-9.
    pub proven: bool,
    /// The same in fractions, of one server, where there are any and they are not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactRecord>,
    /// The run that claims come from, where some were simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<SimulationRecord>,
}

/// What a server of one shape is worth at the prices of the types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeWorth {
    /// Prices of one unit of each resource that the shape has: `Σ_j D_ij w_j ≥ y_i/b_i` for every
    /// type that fits, in units of the greatest common divisor of the demands of these types.
    pub resource_prices: Vec<f64>,
    /// No schedule on such a server is worth more: `max_u Σ_i (y_i/b_i) u_i`.
    pub worth: f64,
    /// The mix of schedules of its servers that has the load, over the types that fit there; absent where the policy
    /// is a mix itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The search that proves it, where prices of resources differ from node to node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}

/// How simulated claims were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulationRecord {
    /// Seed of its arrivals and sizes.
    pub seed: u64,
    /// Independent replications.
    pub replications: u32,
    /// Events of all of them.
    pub events: u64,
}

/// Proof that no schedule is worth more than a bound B: a tree of bounds on the counts of jobs.
///
/// At prices w of a node, with counts from `least` to `most` and the room that the least leave, no
/// schedule of the node is worth more than `Σ v_i least_i + w·room + Σ (v_i − w·D_i)⁺ (most_i −
/// least_i)`. Where that is above B, what it is above it bounds how far each count is from the bound
/// that it has there, since each step costs `|v_i − w·D_i|`. A node without branch is settled by
/// that, or by a search or a table that the reader makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// The types searched, by index; every other type of value is worth no more than as many jobs of one
    /// of these as fit into its demand.
    pub types: Vec<usize>,
    /// The root first; after a branch all nodes of its first part, then those of the second.
    pub nodes: Vec<SearchNode>,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchNode {
    /// Prices of one integer unit of each resource, nonnegative.
    pub prices: Vec<f64>,
    /// A type and a number: first comes the part with at most so many jobs of it, then that with more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<(usize, u32)>,
}

/// Schedules with the fraction of time of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The schedules (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// Positive, of sum 1.
    pub weights: Vec<f64>,
}

impl Mix {
    /// Returns a mix from raw weights, one of which is positive: those are normalized, the others dropped.
    /// Every positive weight is kept, however small: 7e-10 may be what serves a rare type.
    pub fn new(schedules: &[Schedule], weights: &[f64]) -> Self {
        let kept = || schedules.iter().zip(weights).filter(|(_, p)| **p > 0.0);
        let total: f64 = kept().map(|(_, p)| p).sum();
        Mix {
            schedules: kept().map(|(u, _)| u.clone()).collect(),
            weights: kept().map(|(_, p)| p / total).collect(),
        }
    }

    /// Returns the mean schedule `πW`: how many jobs of each type are in service on average.
    pub fn mean_schedule(&self) -> Vec<f64> {
        let mean = |i: usize| {
            let pairs = self.schedules.iter().zip(&self.weights);
            pairs.map(|(u, p)| p * f64::from(u[i])).sum()
        };
        (0..self.schedules[0].len()).map(mean).collect()
    }

    /// Returns `ρ_i = b_i / (πW)_i` for each type, recomputed from the mix itself.
    pub fn loads(&self, workload: &Workload) -> Vec<f64> {
        let pairs = workload.types().iter().zip(self.mean_schedule());
        pairs.map(|(t, s)| t.offered_load() / s).collect()
    }

    /// Returns `max_i ρ_i`.
    pub fn load(&self, workload: &Workload) -> f64 {
        self.loads(workload).into_iter().fold(0.0, f64::max)
    }
}
