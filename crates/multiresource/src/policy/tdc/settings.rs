use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of TDC (targets, drain, commitment), without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcConfig {
    /// The schedules of the program (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (K), at least 0. A schedule is worth at most 1.
    pub prices: Vec<f64>,
    /// The tuning parameters.
    pub knobs: TdcParameters,
}

/// The tuning parameters of TDC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcParameters {
    /// The exponent `a`, at least 0. The urgency of a type is its number of jobs to this power.
    pub exponent: f64,
    /// The exponent `β`, at least 0, of price times mean size. It is used to prefer small and short
    /// jobs.
    pub favour: f64,
    /// The fraction `ζ`, at least 0, of arriving shorter jobs for which longer jobs leave capacity.
    pub reserve: f64,
    /// The fraction `δ`, at least 0, by which another target must be better than the current one.
    pub margin: f64,
    /// The factor `κ`, which must be at least 0. During a drain, a job can start if its mean size
    /// is at most `κ` times the remaining time of the drain.
    pub let_in: f64,
    /// The factor `η`, which must be positive. The earnings of a target count for the time until
    /// the backlog of its lead is done, multiplied by `η`.
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
