//! What policy files have of a Markovian Service Rate policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::artifact::written;

/// What may happen to a running job when the schedule changes (the MSR paper, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Preemption {
    /// Jobs run to their end (nMSR).
    None,
    /// Jobs are preempted; their room is held for a setup time before it is free (sMSR).
    Setup,
    /// Jobs are preempted at no cost (pMSR).
    Full,
}

/// In which order a route lowers the counts of the types that have too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// One type at a time, in type order; the others are still refilled until their turn.
    Sequential,
    /// All at once.
    Concurrent,
}

/// When a route raises the counts of the types that have too few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Only at the end of the route.
    Late,
    /// As soon as they fit, in type order, each as many as fit.
    Eager,
}

/// How the chain gets from one working schedule to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The order of draining (of setting up, where preemption takes a setup).
    pub drain: Drain,
    /// The moment of admission.
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

/// Whether room that the schedule does not use is offered to other waiting jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Backfill {
    /// It stays empty.
    None,
    /// It is offered to waiting jobs in arrival order (the MSR paper, §8.2).
    FirstFit,
}

/// What becomes of a draining slot that holds no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySlots {
    /// It keeps its clock, so that the chain does not depend on the queue: what is analysed.
    Phantom,
    /// It is freed at once: what one would run.
    Release,
}

/// A Markovian Service Rate policy: all that its online rule needs beside the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MsrConfig {
    /// What may happen to a running job.
    pub preemption: Preemption,
    /// The working schedules (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// The fraction of working time of each schedule: positive, of sum 1.
    pub weights: Vec<f64>,
    /// The order in which the schedules follow each other, as indices into `schedules`.
    #[serde(rename = "loop")]
    pub order: Vec<usize>,
    /// α [1/time], switches per time without routes: schedule s is left at rate `α / (N · weight_s)`.
    pub switching_rate: f64,
    /// R (N × N), where the schedules are the states of a chain and in no loop: schedule s is left for t at rate
    /// `α R_st`. The weights are its law, and `Σ_s weight_s Σ_t R_st` is 1; `loop` is 0, 1, … and says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Vec<f64>>>,
    /// γ [1/time]: the rate of the exponential setup of one slot; with `setup` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// The way from one schedule to the next. Without effect where preemption is full.
    pub route: Route,
    /// What happens with room that the schedule leaves.
    pub backfill: Backfill,
    /// What happens with draining slots that hold no job.
    pub empty_slots: EmptySlots,
}

impl MsrConfig {
    /// Returns the n-th schedule of the loop (n < N).
    pub fn schedule(&self, n: usize) -> &[u32] {
        &self.schedules[self.order[n]]
    }

    /// Returns for which schedules the n-th one of the loop is left, by their places there, and at which rates
    /// [1/time]: for the next at `α / (N π)`, or as the chain has it. For none where there is a single schedule.
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

/// Returns the policy of section 7 of the MSR paper, of which the loop is unique: tests of all stages start here.
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
