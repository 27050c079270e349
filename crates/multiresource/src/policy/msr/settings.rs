use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::artifact::written;

/// The type of preemption that is used if the schedule changes (the MSR paper, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Preemption {
    /// Each job runs to completion (nMSR).
    None,
    /// A job can be preempted, and its capacity is held for a setup time (sMSR).
    Setup,
    /// A job can be preempted without any cost (pMSR).
    Full,
}

/// The order in which a route lowers the counts of types with too many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// One type at a time, in type order. The slots of the other types are still filled until it is
    /// their turn.
    Sequential,
    /// All types at once.
    Concurrent,
}

/// The time at which a route increases the counts of types that do not have enough slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Only at the end of the route.
    Late,
    /// As soon as there is enough capacity, in type order, with as many slots of each as possible.
    Eager,
}

/// The way in which a policy moves from one working schedule to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The order in which the types are drained, or put into setup if preemption needs a setup.
    pub drain: Drain,
    /// The time at which slots of the next schedule are admitted.
    pub admission: Admission,
}

impl Route {
    /// A list of all four routes. The first one is the default.
    pub const ALL: [Route; 4] = [
        Route::new(Drain::Sequential, Admission::Eager),
        Route::new(Drain::Concurrent, Admission::Eager),
        Route::new(Drain::Concurrent, Admission::Late),
        Route::new(Drain::Sequential, Admission::Late),
    ];

    const fn new(drain: Drain, admission: Admission) -> Self {
        Route { drain, admission }
    }
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", written(&self.drain), written(&self.admission))
    }
}

impl std::str::FromStr for Route {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Route::ALL.into_iter().find(|r| r.to_string() == text);
        named.ok_or_else(|| {
            let known = Route::ALL.map(|r| r.to_string()).join(", ");
            format!("unknown route `{text}`; the routes are {known}")
        })
    }
}

/// The jobs that can use the capacity that is not used by the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Backfill {
    /// The capacity is not used.
    None,
    /// The capacity can be used by waiting jobs in the order of arrival (the MSR paper, §8.2).
    FirstFit,
}

/// The behavior of a slot that is being drained and does not have a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySlots {
    /// It keeps its clock, so that the chain is independent of the queue, as in the analysis.
    Phantom,
    /// It is freed at once, as in practice.
    Release,
}

/// The settings of a Markovian Service Rate policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MsrConfig {
    /// What may happen to a running job.
    pub preemption: Preemption,
    /// The working schedules (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The fraction of the working time of each schedule, which is positive. The sum is 1.
    pub weights: Vec<f64>,
    /// The order of the schedules in the loop, as indices into `schedules`.
    #[serde(rename = "loop")]
    pub order: Vec<usize>,
    /// The number of switches per working time, `α` \[1/time\]. Schedule `s` is left at the rate
    /// `α / (N · weight_s)`.
    pub switching_rate: f64,
    /// The rates `R` (N × N) of a chain of schedules. It moves from `s` to `t` at the rate
    /// `α R_st`. The weights are its stationary distribution, `Σ_s weight_s Σ_t R_st` is 1, and
    /// `loop`, which is not used, is 0, 1, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Vec<f64>>>,
    /// The rate `γ` \[1/time\] of the exponential setup time of a slot, only for `setup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// The route from one schedule to the next one. It is not used with full preemption.
    pub route: Route,
    /// The usage of the capacity that is not needed by the schedule.
    pub backfill: Backfill,
    /// The behavior of slots that are being drained and do not have a job.
    pub empty_slots: EmptySlots,
}

impl MsrConfig {
    /// Returns the n-th schedule of the loop (n < N).
    pub fn schedule(&self, n: usize) -> &[u32] {
        &self.schedules[self.order[n]]
    }

    /// Returns the positions in the loop that can follow the n-th one, and their rates [1/time]:
    /// `α / (N π)` in a loop, or the rates of the chain. It is empty if there is only one schedule.
    pub fn leaving(&self, n: usize) -> Vec<(usize, f64)> {
        let count = self.order.len();
        match &self.rates {
            _ if count == 1 => Vec::new(),
            None => {
                let often = count as f64 * self.weights[self.order[n]];
                vec![((n + 1) % count, self.switching_rate / often)]
            }
            Some(rates) => {
                let row = rates[n].iter().enumerate().filter(|(_, rate)| **rate > 0.0);
                row.map(|(to, rate)| (to, self.switching_rate * rate))
                    .collect()
            }
        }
    }
}

/// Returns the policy of section 7 of the MSR paper, whose loop is unique, for tests.
#[doc(hidden)]
pub fn section_seven(preemption: Preemption, route: Route, rate: f64) -> MsrConfig {
    MsrConfig {
        preemption,
        schedules: vec![vec![0, 0, 2], vec![1, 4, 0]],
        weights: vec![0.5, 0.5],
        order: vec![0, 1],
        switching_rate: rate,
        rates: None,
        setup_rate: (preemption == Preemption::Setup).then_some(10.0),
        route,
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
    }
}
