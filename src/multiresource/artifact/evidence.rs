use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ExactRecord;

/// The proofs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// For each shape, that the mix of schedules of one of its servers is best for what is sent there; none where
    /// nothing is sent to a server, since jobs wait in one place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<CertificateRecord>,
    /// That the mixes are best together; where there is more than one server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetCertificateRecord>,
}

/// The two-sided evidence for the load; see [`crate::multiresource::program`] for the mathematics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertificateRecord {
    /// `max_i ρ_i` of the mix: the load from above.
    pub load: f64,
    /// Prices y_i of the types, nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// Prices of one integer unit of each resource; `Σ_j D_ij w_j ≥ y_i/b_i` for every type.
    pub resource_prices: Vec<f64>,
    /// No policy has a load below this: `1 / max_u Σ_i (y_i/b_i) u_i`.
    pub bound: f64,
    /// The search that proves the bound, where prices of resources differ from node to node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
    /// Relative gap `load/bound − 1`.
    pub gap: f64,
    /// Whether the gap is at most 1e-9.
    pub proven: bool,
    /// The same in fractions, where there are any and they are not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactRecord>,
    /// The mix of schedules that has this load; absent where it is the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
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

/// The two-sided evidence for the load of a fleet; see [`crate::multiresource::program`] for the mathematics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetCertificateRecord {
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
}

/// What a server of one shape is worth at the certificate's prices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeWorth {
    /// Prices of one unit of each resource that the shape has: `Σ_j D_ij w_j ≥ y_i/b_i` for every
    /// type that fits, in units of the greatest common divisor of the demands of these types.
    pub resource_prices: Vec<f64>,
    /// No schedule on such a server is worth more: `max_u Σ_i (y_i/b_i) u_i`.
    pub worth: f64,
    /// The mix of schedules of its servers that has the load, over the types that fit there; absent where the rule of
    /// its servers or their certificate has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The search that proves it, where prices of resources differ from node to node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}
