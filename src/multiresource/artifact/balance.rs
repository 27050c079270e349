use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SearchRecord;

/// What a mix of schedules is best for, where it is not the load; ρ_i = b_i/(πW)_i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// The largest s with `1/ρ_i − 1 ≥ s ω_i`: the headroom of the types in proportion to ω.
    /// (Weights on ρ_i itself could ask for a ρ_i above 1.)
    Headroom,
    /// The least `Σ_i w_i/(1 − ρ_i)`.
    TotalResponse,
    /// The least `max_i w_i/(1 − ρ_i)`.
    WorstResponse,
}

impl Balance {
    /// The name that artifacts have for it.
    pub fn name(self) -> &'static str {
        match self {
            Balance::Headroom => "headroom",
            Balance::TotalResponse => "total-response",
            Balance::WorstResponse => "worst-response",
        }
    }
}

/// The two-sided evidence that the policy's mix is best for something other than the load.
///
/// The bound holds by the prices alone, for every mix: with `y_i = v_i b_i`, `max_{u∈S} v·u` is at
/// most `Σ y_i (1 + ω_i bound)` for the headroom, `Σ y_i + (Σ √(w_i y_i))²/(bound − Σ w_i)` for the
/// total response, `Σ y_i/(1 − w_i/bound)` for the worst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceRecord {
    /// What the mix is best for.
    pub aim: Balance,
    /// ω or w by type (K), positive: pure numbers for the headroom, else in the unit of `value`.
    pub weights: Vec<f64>,
    /// What the policy's mix attains.
    pub value: f64,
    /// No mix attains more headroom than this, or less response.
    pub bound: f64,
    /// Relative gap: the larger of the two over the smaller, less 1.
    pub gap: f64,
    /// Whether the gap is at most 1e-6.
    pub proven: bool,
    /// Prices v of a running job of each type (K), nonnegative, `Σ v_i b_i = 1`.
    pub prices: Vec<f64>,
    /// Prices of one integer unit of each resource (R); `Σ_j D_ij w_j ≥ v_i` for every type.
    pub resource_prices: Vec<f64>,
    /// The search that proves the bound, where prices of resources differ from node to node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchRecord>,
}
