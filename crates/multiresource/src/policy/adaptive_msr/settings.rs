use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Working schedules that are switched by queue lengths, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMsrConfig {
    /// The working schedules (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (K): ≥ 0; each schedule is worth at most 1.
    pub prices: Vec<f64>,
    /// When to leave a schedule.
    pub switching: Switching,
    /// Whether `let_in` applies to the limits of jobs instead of their mean sizes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// When adaptive MSR leaves a schedule, and which other jobs may start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// The schedule is left when it uses at most this fraction of its capacity: in \[0, 1\].
    pub waste: f64,
    /// ≥ 0: another schedule must weigh (1 + margin) times as much plus `floor`; best below 2.
    pub margin: f64,
    /// ≥ 0 \[jobs\], see `margin`; best from a third of the most jobs of a schedule at low load to
    /// twice as many. From some thousands on, no schedule is left by weight.
    pub floor: f64,
    /// ≥ 0 \[jobs\]: capacity may stay idle for jobs of up to this weight. At 0 all capacity is
    /// held for the schedule. Best about 1 at low load, below a third near load 1, and 0 if jobs
    /// that need a whole server wait for many small ones.
    pub patience: f64,
    /// c ≥ 0: the weight of another schedule is multiplied by F/(F + c D), where D is the wait for
    /// the type that it lacks most and F how long its jobs last. At 0 (the default) it has its full
    /// weight once one of its jobs can start, and no weight before.
    #[serde(default, skip_serializing_if = "is_off")]
    pub drain: f64,
    /// κ ≥ 0: while a job of the schedule is blocked, jobs start that fit next to the whole
    /// schedule, or whose mean size is at most κ times the remaining wait. At 0 (the default)
    /// neither do.
    #[serde(default, skip_serializing_if = "is_off")]
    pub let_in: f64,
}

fn is_off(knob: &f64) -> bool {
    *knob == 0.0
}
