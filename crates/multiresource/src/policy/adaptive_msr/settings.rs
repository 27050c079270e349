use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policy that switches between working schedules based on the queue lengths, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMsrConfig {
    /// The working schedules (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (K), at least 0. A schedule is worth at most 1.
    pub prices: Vec<f64>,
    /// The conditions for leaving a schedule.
    pub switching: Switching,
    /// If `true`, `let_in` uses the limits of jobs instead of their mean sizes: a job can start if
    /// its limit is at most `κ` times the time until, according to the limits of the running jobs,
    /// there is enough capacity for the blocked job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// The conditions for leaving a schedule, and the other jobs that are allowed to start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// A schedule is left for one that uses more if it uses at most this fraction of the capacity,
    /// in \[0, 1\].
    pub waste: f64,
    /// A schedule is also left if the weight of another one is more than `1 + margin` times its
    /// weight plus `floor`. Must be at least 0; the best known values are between 0 and 2.
    pub margin: f64,
    /// See `margin`: a weight as a number of jobs, which must be at least 0. The best value is
    /// between one third of the maximum number of jobs of a schedule (at low load) and twice this
    /// number. If the value is several thousand, a schedule is never left because of the weights.
    pub floor: f64,
    /// If a job of the schedule is blocked, other jobs can only start if the value of the capacity
    /// that would otherwise be idle, multiplied by the weight of the schedule, is less than this
    /// number of jobs. Must be at least 0. If it is 0, all of the capacity is held for the
    /// schedule, and if it is very large, none is. The best value is about 1 at low load and less
    /// than 1/3 if the load is close to 1. It is 0 if jobs that need a whole server have to wait
    /// for many small jobs.
    pub patience: f64,
    /// The cost `c` of a drain, which must be at least 0. The weight of another schedule is
    /// multiplied by `F/(F + c D)`, where `D` is the time until one more job of the type with the
    /// most missing jobs fits, and `F` is the time until the schedule runs out of jobs. If `c` is 0
    /// (the default), a schedule has its full weight if one of its jobs can start, and otherwise it
    /// is only used if the current schedule is left because of `waste`.
    #[serde(default, skip_serializing_if = "is_off")]
    pub drain: f64,
    /// The factor `κ`, which must be at least 0. If a job of the schedule is blocked, another job
    /// can start if it fits next to the whole schedule, or if its mean size is at most `κ` times
    /// the remaining waiting time. If `κ` is 0 (the default), no job starts for these reasons.
    #[serde(default, skip_serializing_if = "is_off")]
    pub let_in: f64,
}

fn is_off(knob: &f64) -> bool {
    *knob == 0.0
}
