//! Settings of adaptive MSR, as in policy files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Working schedules that are switched by queue lengths, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMsrConfig {
    /// The working schedules (N × K): the number of jobs of each type, in the workload's type
    /// order.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (length K): nonnegative; each schedule is worth at
    /// most 1.
    pub prices: Vec<f64>,
    /// When to leave a schedule.
    pub switching: Switching,
    /// Whether `let_in` applies to the limits of jobs instead of their mean sizes. The drain then
    /// ends when the limits of the running jobs guarantee enough free capacity.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// When adaptive MSR leaves a schedule, and which other jobs may start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// The schedule is left when it uses at most this fraction of its capacity: in \[0, 1\].
    pub waste: f64,
    /// The schedule is left when another weighs more than (1 + margin) times as much plus `floor`:
    /// ≥ 0; typically best from 0 to 2.
    pub margin: f64,
    /// See `margin`: ≥ 0 \[jobs\]; best from a third of the most jobs of a schedule at low load to
    /// twice as many. From some thousands on, no schedule is left by weight.
    pub floor: f64,
    /// Capacity may stay idle for jobs of up to this weight: ≥ 0 \[jobs\]. At 0 all capacity is
    /// held for the jobs of the schedule; at infinity none. Best about 1 at low load, below a third
    /// near load 1, and 0 if jobs that need a whole server wait for many small ones.
    pub patience: f64,
    /// c: the weight of another schedule is multiplied by F/(F + c D), where D is the wait for the
    /// type that it lacks most and F how long its jobs last: ≥ 0. At 0 (the default) a schedule has
    /// its full weight once one of its jobs can start, and no weight before.
    #[serde(default, skip_serializing_if = "is_off")]
    pub drain: f64,
    /// κ: while a job of the schedule is blocked, jobs start whose mean size is at most this
    /// fraction of the remaining wait, or that fit next to the whole schedule: ≥ 0. At 0 (the
    /// default) neither do.
    #[serde(default, skip_serializing_if = "is_off")]
    pub let_in: f64,
}

fn is_off(knob: &f64) -> bool {
    *knob == 0.0
}
