//! What policy files have of TDC: its schedules and prices, and the knobs with what they mean and what they may be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Targets, drain, commitment, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcConfig {
    /// Schedules of the program (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// What a running job of each type is worth (K): nonnegative, and a schedule 1 at most.
    pub prices: Vec<f64>,
    /// What it weighs by.
    pub knobs: TdcKnobs,
}

/// What TDC weighs by; see its rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcKnobs {
    /// a: urgency grows as this power of the number in system: ≥ 0.
    pub exponent: f64,
    /// β: small and short jobs are favoured by this power of their price times their mean size: ≥ 0.
    pub favour: f64,
    /// ζ: the part of what shorter jobs bring that longer ones leave room for: ≥ 0.
    pub reserve: f64,
    /// δ: another target has to be better than the present one by this part: ≥ 0.
    pub margin: f64,
    /// κ: during a drain jobs start whose mean size is at most this part of what is left of it: ≥ 0.
    pub let_in: f64,
    /// η: for so long does a target count as the backlog of its lead lasts, times this: > 0.
    pub patience: f64,
    /// Who starts first.
    pub order: TdcOrder,
}

/// In which order TDC starts jobs of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TdcOrder {
    /// By urgency.
    Worth,
    /// The oldest first.
    Age,
}
