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
#[cfg(test)]
mod tests;

#[cfg(feature = "synthesis")]
pub(in crate::volunteer) use engine::{REFRESHES, TICKS};
pub use judge::{Judgement, judge};
#[cfg(feature = "synthesis")]
pub(in crate::volunteer) use measures::estimate;
pub use measures::{Measures, OfBatch, Run};
pub use rule::Rule;

use std::sync::atomic::Ordering;
use std::time::Instant;

use rayon::prelude::*;

use crate::simulation::{Progress, Settings};
use crate::volunteer::workload::Campaign;
use engine::Engine;
use measures::measured;

/// Simulates a rule on as many independent campaigns as the settings have replications. The same seed
/// gives the same hosts, jobs and times at which hosts are on, whatever the rule. Ends earlier, but after two
/// campaigns at least, once the events or the time of the settings are spent.
pub fn simulate(
    campaign: &Campaign,
    rule: Rule,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Run {
    let interrupted = || settings.interrupt.load(Ordering::Relaxed);
    let one = |replication: u32| {
        let mut engine = Engine::new(campaign, rule, settings.seed, replication);
        engine.run(interrupted);
        (!interrupted()).then(|| measured(&engine))
    };
    let started = Instant::now();
    let late = || settings.time.is_some_and(|time| started.elapsed() >= time);
    let all: Vec<u32> = (0..settings.replications.max(1)).collect();
    let mut run = Run {
        campaigns: Vec::new(),
        interrupted: false,
    };
    // As many at a time as there are cores, so that it can be told how far it is. Which they are does not
    // depend on that.
    for some in all.chunks(rayon::current_num_threads().max(2)) {
        let found: Vec<Option<Measures>> = some.par_iter().map(|n| one(*n)).collect();
        run.interrupted |= found.iter().any(Option::is_none);
        run.campaigns.extend(found.into_iter().flatten());
        if run.interrupted {
            break;
        }
        progress(Progress {
            events: run.events(),
            precision: None,
        });
        if run.campaigns.len() >= 2 && (run.events() >= settings.events || late()) {
            break;
        }
    }
    run
}
