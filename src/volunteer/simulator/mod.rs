//! Campaigns, simulated: hosts that come and go, the server that sends them jobs, and what comes of it.
//!
//! A host runs its jobs while it is on, one on each processor; which of them, and in which order, its
//! client decides (`host`). A job of which something was wrong, lost or late gets another instance
//! (`store`). The server knows of a job the mean of its batch's sizes, of a host its speed and how
//! often it is on; what it takes in truth shows in its results.

mod batch;
mod engine;
mod host;
mod judge;
mod measures;
mod population;
mod request;
mod rule;
mod standing;
mod store;
mod tail;
// #[cfg(test)]
// mod tests;

pub use judge::{Judgement, judge};
pub(in crate::volunteer) use measures::estimate;
pub use measures::{Measures, OfBatch, Run};
pub use rule::Rule;

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::simulation::{Progress, Settings};
use crate::volunteer::workload::Campaign;
use engine::Engine;

/// Simulates a rule on as many independent campaigns as the settings have replications. The same seed
/// gives the same hosts, jobs and times at which hosts are on, whatever the rule.
#[must_use]
pub fn simulate(
    campaign: &Campaign,
    rule: Rule,
    settings: &Settings,
    progress: &(dyn Fn(Progress) + Sync),
) -> Run {
    let interrupted = || settings.interrupt.load(Ordering::Relaxed);
    let events = AtomicU64::new(0);
    let one = |replication: u32| {
        let mut engine = Engine::new(campaign, rule, settings.seed, replication);
        engine.run(interrupted);
        let measures = engine.measures();
        let events = events.fetch_add(measures.events, Ordering::Relaxed) + measures.events;
        progress(Progress {
            events,
            precision: None,
        });
        (!interrupted()).then_some(measures)
    };
    let replications = 0..settings.replications.max(1);
    let campaigns: Vec<Option<Measures>> = replications.into_par_iter().map(one).collect();
    Run {
        interrupted: campaigns.iter().any(Option::is_none),
        campaigns: campaigns.into_iter().flatten().collect(),
    }
}
