//! Campaigns, simulated: hosts that come and go, the server that sends them jobs, and what comes of it.
//!
//! A host runs its jobs while it is on, one on each processor; which of them, and in which order, its
//! client decides (`host`). A job of which something was wrong, lost or late gets another instance
//! (`store`). The server knows of a job the mean of its batch's sizes, of a host its speed and how
//! often it is on; what it takes in truth shows in its results.

mod batch;
mod engine;
mod host;
mod measures;
mod request;
mod standing;
mod store;
mod tail;
#[cfg(test)]
mod tests;

pub use engine::{Rule, TICKS};
pub use measures::estimate;
pub use measures::{BatchResult, Judgement, Measures, Run, judge};

use std::sync::atomic::Ordering;
use std::time::Instant;

use rayon::prelude::*;

use crate::workload::Campaign;
use engine::Engine;
use synth_simulation::{Progress, Settings};

/// A campaign that takes more than was allowed: what all of it would take, about.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "one campaign has about {events:.1e} events and takes about {seconds:.2} s, and what is told is from two at least"
)]
pub struct TooLong {
    /// Events.
    pub events: f64,
    /// Time on this machine \[s\].
    pub seconds: f64,
}

/// Simulates a rule on as many independent campaigns as the settings have replications. The same seed
/// gives the same hosts, jobs and times at which hosts are on, whatever the rule. Ends earlier, but after two
/// campaigns at least, once the events or the time of the settings are spent.
///
/// # Errors
/// When one campaign takes more than twice of them.
pub fn simulate(
    campaign: &Campaign,
    rule: Rule,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Result<Run, TooLong> {
    let started = Instant::now();
    let interrupted = || settings.interrupt.load(Ordering::Relaxed);
    let later = |times: u32| {
        let time = settings.time.map(|time| time.saturating_mul(times));
        time.is_some_and(|time| started.elapsed() >= time)
    };
    let one = |replication: u32| {
        let mut engine = Engine::new(campaign, rule, settings.seed, replication);
        let most = settings.events.saturating_mul(2);
        if engine.run(|events| interrupted() || events > most || later(2)) {
            return Ok(engine.measures());
        }
        let part = (engine.now / campaign.horizon()).max(1e-9);
        Err(TooLong {
            events: engine.measures.events as f64 / part,
            seconds: started.elapsed().as_secs_f64() / part,
        })
    };
    let all: Vec<u32> = (0..settings.replications.max(1)).collect();
    let mut run = Run {
        campaigns: Vec::new(),
        interrupted: false,
    };
    // As many at a time as there are cores, so that progress can be reported. What counts of them is what counts if
    // they are run one after the other, on however many cores.
    for some in all.chunks(rayon::current_num_threads().max(2)) {
        let found: Vec<Result<Measures, TooLong>> = some.par_iter().map(|n| one(*n)).collect();
        for one in found {
            match one {
                Ok(measures) => run.campaigns.push(measures),
                // Of the first two both count: one that is short would say too little.
                Err(too_long) if run.campaigns.len() < 2 && !interrupted() => return Err(too_long),
                Err(_) => {
                    run.interrupted = interrupted();
                    return Ok(run);
                }
            }
            if run.campaigns.len() >= 2 && run.events() >= settings.events {
                return Ok(run);
            }
        }
        let (events, precision) = (run.events(), None);
        progress(Progress { events, precision });
        if run.campaigns.len() >= 2 && later(1) {
            break;
        }
    }
    Ok(run)
}
