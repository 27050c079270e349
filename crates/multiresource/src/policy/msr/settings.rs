use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::artifact::written;

/// What may happen to a running job when the schedule changes (the MSR paper, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Preemption {
    /// Jobs run to completion (nMSR).
    None,
    /// Jobs are preempted and their capacity is held for a setup time (sMSR).
    Setup,
    /// Jobs are preempted at no cost (pMSR).
    Full,
}

/// The order in which a route lowers the counts of types with too many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// One type at a time, in type order; the others are refilled until their turn.
    Sequential,
    /// All types at once.
    Concurrent,
}

/// When a route raises the counts of types with too few slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Only at the end of the route.
    Late,
    /// As soon as they fit, in type order, as many as fit.
    Eager,
}

/// The way from one working schedule to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The order of draining, or of setups.
    pub drain: Drain,
    /// The time of admission.
    pub admission: Admission,
}

impl Route {
    /// All four routes, the default first.
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

/// Whether capacity that the schedule does not use is offered to other waiting jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Backfill {
    /// It stays idle.
    None,
    /// It is offered to waiting jobs in arrival order (the MSR paper, §8.2).
    FirstFit,
}

/// What happens to a draining slot without a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySlots {
    /// It keeps its clock, so that the chain is independent of the queue, as in the analysis.
    Phantom,
    /// It is freed at once, as in practice.
    Release,
}

/// A Markovian Service Rate policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MsrConfig {
    /// What may happen to a running job.
    pub preemption: Preemption,
    /// The working schedules (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The fraction of working time of each schedule: positive, with sum 1.
    pub weights: Vec<f64>,
    /// The order of the schedules in the loop, as indices into `schedules`.
    #[serde(rename = "loop")]
    pub order: Vec<usize>,
    /// α \[1/time\], switches per working time: schedule `s` is left at rate `α / (N · weight_s)`.
    pub switching_rate: f64,
    /// R (N × N), for a chain of schedules: s is left for t at rate `α R_st`. The weights are its
    /// stationary distribution, `Σ_s weight_s Σ_t R_st` is 1, and `loop` is 0, 1, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Vec<f64>>>,
    /// γ \[1/time\]: the exponential rate of the setup of one slot, for `setup` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// The way from one schedule to the next. Unused with full preemption.
    pub route: Route,
    /// The use of capacity that the schedule leaves idle.
    pub backfill: Backfill,
    /// The treatment of draining slots without a job.
    pub empty_slots: EmptySlots,
}

impl MsrConfig {
    /// Returns the n-th schedule of the loop (n < N).
    pub fn schedule(&self, n: usize) -> &[u32] {
        &self.schedules[self.order[n]]
    }

    /// Returns the successors of the n-th schedule, by position, with their rates [1/time]:
    /// `α / (N π)` in a loop, or those of the chain. Empty for a single schedule.
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
