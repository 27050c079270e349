use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TDC (targets, drain, commitment), without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcConfig {
    /// The schedules of the program (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (K): ≥ 0; each schedule is worth at most 1.
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
    /// ζ ≥ 0: the fraction of the arriving shorter work for which longer jobs leave capacity.
    pub reserve: f64,
    /// δ: another target must be better than the present one by this fraction: ≥ 0.
    pub margin: f64,
    /// κ ≥ 0: during a drain, jobs of mean size at most κ times the remaining drain start.
    pub let_in: f64,
    /// η > 0: a target counts for this multiple of the time that the backlog of its lead lasts.
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
