//! Settings of TDC, as in policy files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TDC (targets, drain, commitment), without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcConfig {
    /// The schedules of the program (N × K): the number of jobs of each type, in the workload's
    /// type order.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (length K): nonnegative; each schedule is worth at
    /// most 1.
    pub prices: Vec<f64>,
    /// The tuning parameters.
    pub knobs: TdcKnobs,
}

/// The tuning parameters of TDC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcKnobs {
    /// a: the urgency of a type is this power of its number of jobs in the system: ≥ 0.
    pub exponent: f64,
    /// β: small and short jobs are favored by this power of price times mean size: ≥ 0.
    pub favour: f64,
    /// ζ: the fraction of the arriving work of shorter jobs for which longer ones leave capacity: ≥
    /// 0.
    pub reserve: f64,
    /// δ: another target must be better than the present one by this fraction: ≥ 0.
    pub margin: f64,
    /// κ: during a drain, jobs start whose mean size is at most this fraction of the remaining
    /// drain: ≥ 0.
    pub let_in: f64,
    /// η: a target counts for this multiple of the time for which the backlog of its lead lasts: >
    /// 0.
    pub patience: f64,
    /// The order in which jobs start.
    pub order: TdcOrder,
}

/// The order in which TDC starts jobs on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TdcOrder {
    /// The most urgent type first.
    Worth,
    /// The oldest first.
    Age,
}
