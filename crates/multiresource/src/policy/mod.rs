//! Rules: what to start now, and what to stop where preemption allows.
//!
//! A rule has a file of its own with all that is known of it: its decisions ([`Policy`]), its settings and what a policy file,
//! tuning and reports need ([`PolicyConfig`]), its name for comparisons ([`NamedRule`]). `family` lists them. The file to copy is
//! `server_filling.rs`. The settings of a rule, as policy files have them, are a `…Config` and implement [`PolicyConfig`]; the
//! rule that they build decides online and implements [`Policy`] (`TdcConfig: PolicyConfig`, `Tdc: Policy`).
//!
//! What a rule sees at an event is in `view.rs`, what it may do in `system.rs`: both are methods of [`System`].
//! `cargo check --release -p synth-multiresource` tells in seconds whether a new one compiles.
//!
//! Its decisions are a function of what it sees: [`Policy::react`] gets one [`Event`] and the
//! [`System`] with its queues, and acts on that system. The same code runs in the simulator
//! and in a scheduler that embeds it (see `examples/embedded_scheduler.rs`): the system then
//! lists in [`System::actions`] which jobs to start and stop.
//!
//! A rule draws no random numbers. It asks for exponential *clocks* by their rates, and
//! its caller reports when one rings; so a recorded sequence of events determines all
//! decisions.

mod adaptive_msr;
mod backfill;
mod backfilling;
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
mod room;
mod rule;
mod served;
mod server_filling;
mod system;
mod tdc;
mod type_set;
mod view;

pub use adaptive_msr::{AdaptiveMsr, AdaptiveMsrConfig, Switching};
pub use backfilling::{
    Backfilling, BackfillingConfig, Estimates, Estimator, FCFS, FIRST_FIT, Greedy, Guess, JobFacts,
    JudgedJob, LearnedRuntimes, Priority, QueueOrder, Reservations, RuntimeEstimate, TypeOrder,
    Users, Worth, worth,
};
pub(crate) use family::NAMED_RULES;
pub use family::{Family, Guard, GuardedConfig};
pub use guarded::Guarded;
pub use hosts::{Hosts, Placement, Zone};
pub use jobs::{Action, Completed, Counters, Job, Violation};
pub use least_left::LeastLeftFirst;
pub use max_weight::{MaxWeight, MaxWeightConfig, MaxWeightSetupConfig, MaxWeightSetups};
#[doc(hidden)]
pub use msr::section_seven;
pub use msr::{Admission, Backfill, Drain, EmptySlots, Msr, MsrConfig, Preemption, Route};
pub use one_or_all::OneOrAll;
pub use own::own_policy;
pub use partition::{Partition, PartitionConfig};
pub use pooled::Pooled;
pub use quickswap::{
    AdaptiveQuickswap, AdaptiveQuickswapConfig, StaticQuickswap, StaticQuickswapConfig,
    time_of_turns,
};
pub use randomized_timers::{RandomizedTimers, RandomizedTimersConfig};
pub use reserving::{Reserving, ReservingConfig};
pub(crate) use rule::require_known;
pub use rule::{NamedRule, Parameter, PolicyConfig, TuningContext, has_lengths};
pub use server_filling::{ServerFilling, ServerFillingConfig};
pub use synth_simulation::sweep::Knows;
pub use system::System;
pub use tdc::{TdcConfig, TdcKnobs, TdcOrder};

/// What a policy reacts to. Types are indices in the workload's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A job of this type has arrived; it waits, as the youngest of its type.
    Arrival(usize),
    /// A job of this type has ended and left.
    Completion(usize),
    /// One of the policy's own clocks rang.
    Clock(usize),
}

/// An online rule.
pub trait Policy: CloneRule {
    /// How many exponential clocks the rule uses, numbered from 0; their rates are set by
    /// [`System::set_clock`], zero at first.
    fn clocks(&self) -> usize {
        0
    }

    /// Whether the rule may stop jobs.
    fn preempts(&self) -> bool {
        false
    }

    /// Returns what the rule looks at of a job beside its type: sizes ([`System::work_left`]), or estimates, which are
    /// limits that come with jobs ([`System::limit_left`]).
    fn knows(&self) -> Knows {
        Knows::Means
    }

    /// Called once, before the first event, on an empty system.
    fn begin(&mut self, _system: &mut System) {}

    /// Decides at an event, in no more than O(K) and without allocation.
    fn react(&mut self, event: Event, system: &mut System);

    /// Whether the rule decides on what waits and runs alone, whatever came to it last: then it may be notified of all
    /// that happens at one instant ([`Policy::note`]), and decide once ([`Policy::decide`]).
    fn decides_on_state(&self) -> bool {
        false
    }

    /// What happens at an instant at which more does: the rule keeps what it has to know, and starts nothing yet.
    /// Only of rules that [decide on the state](Policy::decides_on_state).
    fn note(&mut self, _event: Event, _system: &mut System) {}

    /// Decides once on all that was noted.
    fn decide(&mut self, system: &mut System) {
        self.react(Event::Clock(usize::MAX), system);
    }

    /// Goes on from wherever the system stands, after another rule decided.
    fn take_over(&mut self, system: &mut System) {
        self.react(Event::Clock(usize::MAX), system);
    }

    /// Goes on after something that is no event: jobs were withdrawn, restored, adopted or put back, or others use
    /// more or less room.
    fn changed(&mut self, system: &mut System) {
        self.take_over(system);
    }

    /// Begins on a system that may not be empty: jobs run that a scheduler before it has started. A clock is set anew:
    /// it has no memory.
    fn resume(&mut self, system: &mut System) {
        self.begin(system);
        self.take_over(system);
    }

    /// What it does at present, in words with these names of the types, and for whom room is made; nothing of a rule
    /// that starts whatever fits.
    fn doing(&self, _names: &[&str], _system: &System) -> Option<String> {
        None
    }

    /// Returns how many waiting jobs of all types are before this one of type i, where they have one order.
    fn ahead(&self, _i: usize, _job: Job) -> Option<usize> {
        None
    }

    /// Returns what it has learned of jobs that have ended, if it learns.
    fn learned(&self) -> Option<LearnedRuntimes> {
        None
    }

    /// Another rule decides from here on: no clock of this one rings, and no server is kept.
    fn let_go(&mut self, system: &mut System) {
        system.stop_clocks();
    }
}

/// Why a rule cannot serve a workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsuitable(pub String);

/// What every rule that is [`Clone`] and [`Send`] has: a copy of it behind its interface.
pub trait CloneRule: Send {
    /// Returns the copy.
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

/// A schedule in words.
fn in_words(schedule: impl Iterator<Item = (usize, u32)>, names: &[&str]) -> String {
    let slots = schedule.filter(|(_, count)| *count > 0);
    let slots: Vec<String> = slots
        .map(|(i, count)| format!("{count} {}", names[i]))
        .collect();
    if slots.is_empty() {
        "nothing".into()
    } else {
        slots.join(", ")
    }
}

#[cfg(test)]
pub(crate) mod tests;
