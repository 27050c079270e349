//! What policy files have of adaptive MSR: its schedules and prices, and the knobs with what they mean.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Working schedules that are left and chosen by queue lengths, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMsrConfig {
    /// The working schedules (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// What a running job of each type is worth (K): nonnegative, and a working schedule 1 at most.
    pub prices: Vec<f64>,
    /// When a schedule is left.
    pub switching: Switching,
    /// Whether jobs are let in during a drain by their limits instead of their mean sizes: those that are over
    /// before κ times what is left of the drain, which ends when all limits say that there is room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// When Adaptive MSR leaves a schedule, and what may start beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// The schedule is left when it uses no more than this part of what it could: in \[0, 1\].
    pub waste: f64,
    /// And when another one weighs more than 1 + this times as much plus the floor: ≥ 0; 0 to 2 are
    /// best as far as is known.
    pub margin: f64,
    /// See the margin: ≥ 0 \[jobs\]; best between a third of the most jobs of a schedule, at low load,
    /// and twice as many. From some thousands on no schedule is left by weight.
    pub floor: f64,
    /// Room may stay idle for jobs that wait up to this weight: ≥ 0 \[jobs\]. At 0 all room is held for
    /// the schedule's jobs, and without end none; best about 1 at low load and less than a third near
    /// 1, and 0 where jobs that hold a whole server wait for many small ones.
    pub patience: f64,
    /// Another schedule weighs less by the factor F/(F + this times D), if room for what it lacks most takes D and
    /// its jobs last for F: ≥ 0. At 0, as where it is not given, a schedule weighs all it has once one of its jobs
    /// can start, and nothing before.
    #[serde(default, skip_serializing_if = "is_off")]
    pub drain: f64,
    /// κ: while a job of the schedule waits for room, those start whose mean size is at most this part of what
    /// is left of that wait, and those that fit beside the whole schedule: ≥ 0. At 0, as where it is not
    /// given, neither do.
    #[serde(default, skip_serializing_if = "is_off")]
    pub let_in: f64,
}

fn is_off(knob: &f64) -> bool {
    *knob == 0.0
}
