//! Online rules, which decide when a job is started and, with preemption, when it is stopped.
//!
//! Each rule has its own file with its decisions ([`Policy`]), its settings for policy files,
//! tuning and reports ([`PolicyConfig`]), and its entry in comparisons ([`NamedRule`]). The
//! settings (`TdcConfig`) build the online rule (`Tdc`). To add a rule, copy `server_filling.rs`.
//! [`Policy::react`] reads a [`System`] by the functions in `view.rs` and changes it by those in
//! `system.rs`, also in a scheduler (see `examples/embedded_scheduler.rs`), for which
//! [`System::actions`] returns the jobs to start and stop.
//!
//! A rule must not use random numbers. Instead, it sets the rate of an exponential *clock*, and its
//! caller reports when the clock rings. A recorded sequence of events determines all decisions.

mod adaptive_msr;
mod backfill;
mod backfilling;
mod capacity;
pub(crate) mod check;
mod cluster;
mod drain;
mod drive;
mod family;
mod guarded;
mod hosts;
mod jobs;
mod least_left;
mod max_weight;
mod msr;
mod one_or_all;
mod own;
mod partition;
mod pooled;
mod pools;
mod queued;
mod quickswap;
mod randomized_timers;
mod reserving;
mod rule;
mod server_filling;
mod system;
mod tdc;
mod type_set;
mod view;

pub use adaptive_msr::{AdaptiveMsr, AdaptiveMsrConfig, Switching};
pub use backfilling::{
    Backfilling, BackfillingConfig, EstimateQuality, EstimateSource, EstimatedCompletion,
    Estimates, Estimator, FCFS, FIRST_FIT, Greedy, JobFacts, LearnedRuntimes, Priority, QueueOrder,
    Reservations, RuntimeEstimate, TypeOrder, UserGroup, estimate_quality,
};
pub(crate) use family::NAMED_RULES;
pub use family::{Family, Guard, GuardedConfig};
pub use guarded::Guarded;
pub use hosts::{Placement, Zone};
pub use jobs::{Action, Completed, Counters, Job, Violation};
pub use least_left::LeastLeftFirst;
pub use max_weight::{MaxWeight, MaxWeightConfig, MaxWeightSetupConfig, MaxWeightSetups};
#[doc(hidden)]
pub use msr::section_seven;
pub use msr::{Admission, Backfill, Drain, EmptySlots, Msr, MsrConfig, Preemption, Route};
pub use one_or_all::OneOrAll;
pub use own::parse_custom_policy;
pub use partition::{Partition, PartitionConfig};
pub use pooled::Pooled;
pub use quickswap::{
    AdaptiveQuickswap, AdaptiveQuickswapConfig, StaticQuickswap, StaticQuickswapConfig,
    time_of_turns,
};
pub use randomized_timers::{RandomizedTimers, RandomizedTimersConfig};
pub use reserving::{Reserving, ReservingConfig};
pub(crate) use rule::require_known;
pub use rule::{NamedRule, Parameter, PolicyConfig, TuningContext, mean_sizes_differ};
pub use server_filling::{ServerFilling, ServerFillingConfig};
pub use synth_simulation::sweep::Information;
pub use system::System;
pub use tdc::{TdcConfig, TdcOrder, TdcParameters};

/// An event that a policy reacts to. Types are indices in the workload's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A job of this type arrived and waits as the youngest of its type.
    Arrival(usize),
    /// A job of this type completed and left.
    Completion(usize),
    /// One of the policy's own clocks rang.
    Clock(usize),
}

/// An online rule.
pub trait Policy: CloneRule {
    /// Returns the number of exponential clocks, which [`System::set_clock`] starts.
    fn clocks(&self) -> usize {
        0
    }

    /// Returns whether the rule may stop running jobs.
    fn preempts(&self) -> bool {
        false
    }

    /// Returns the used information: [sizes](System::work_left) or [limits](System::limit_left).
    fn information(&self) -> Information {
        Information::Means
    }

    /// Called once, before the first event, on an empty system.
    fn begin(&mut self, _system: &mut System) {}

    /// Decides at an event, in `O(K)` time and without allocating.
    fn react(&mut self, event: Event, system: &mut System);

    /// Returns whether decisions depend only on the waiting and running jobs. Simultaneous events
    /// may then be passed to [`Policy::note`], followed by one [`Policy::decide`].
    fn decides_on_state(&self) -> bool {
        false
    }

    /// Adds a simultaneous event without starting jobs (see [`Policy::decides_on_state`]).
    fn note(&mut self, _event: Event, _system: &mut System) {}

    /// Makes a single decision for all events that have been added.
    fn decide(&mut self, system: &mut System) {
        self.react(Event::Clock(usize::MAX), system);
    }

    /// Continues with the current state of the system after another rule has been used.
    fn take_over(&mut self, system: &mut System) {
        self.decide(system);
    }

    /// Continues after a change other than an event, such as a canceled job (see `cluster.rs`).
    fn changed(&mut self, system: &mut System) {
        self.take_over(system);
    }

    /// Starts on a system in which jobs of another scheduler may run, and sets the clocks again.
    fn resume(&mut self, system: &mut System) {
        self.begin(system);
        self.take_over(system);
    }

    /// Prepares a forecast that begins at time `now`, with other jobs: job `n` had the number
    /// `before[n]`, if the rule has facts about each job. It may decide less often later on.
    fn foresee(&mut self, _before: &[usize], _now: f64) {}

    /// Describes what the rule is doing, including drains. `None` if it starts all jobs that fit.
    fn describe_state(&self, _names: &[&str], _system: &System) -> Option<String> {
        None
    }

    /// Returns the number of waiting jobs before this job, if all types have one order.
    fn ahead(&self, _i: usize, _job: Job) -> Option<usize> {
        None
    }

    /// Returns the state that the rule has learned. `None` if it does not learn.
    fn learned(&self) -> Option<LearnedRuntimes> {
        None
    }

    /// Stops all clocks and unlocks all servers, so that another rule can be used.
    fn let_go(&mut self, system: &mut System) {
        system.stop_clocks();
    }
}

/// The reason why a rule cannot be used for a workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsuitable(pub String);

/// Cloning behind the [`Policy`] interface, for every rule that is [`Clone`] and [`Send`].
pub trait CloneRule: Send {
    /// Clones the rule.
    fn clone_rule(&self) -> Box<dyn Policy>;
}

impl<P: Policy + Clone + 'static> CloneRule for P {
    fn clone_rule(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Policy> {
    fn clone(&self) -> Self {
        (**self).clone_rule()
    }
}

fn in_words(schedule: impl Iterator<Item = (usize, u32)>, names: &[&str]) -> String {
    let slots = schedule.filter(|(_, count)| *count > 0);
    let slots = slots.map(|(i, count)| format!("{count} {}", names[i]));
    match slots.collect::<Vec<_>>().join(", ") {
        empty if empty.is_empty() => "nothing".into(),
        slots => slots,
    }
}

#[cfg(test)]
pub(crate) mod tests;
