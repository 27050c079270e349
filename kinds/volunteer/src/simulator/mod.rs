//! Simulates a campaign: the hosts, the server that sends them jobs, and the results.
//!
//! A host runs one job on each processor while it is on, in an order that the client selects
//! (`host`). If a result is wrong, lost or late, the server sends another instance of the job
//! (`store`). It only knows the mean size of the jobs of a batch, and the speed and availability of
//! the hosts.

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

pub use engine::Rule;
pub(crate) use engine::TICKS;
pub(crate) use measures::estimate;
pub use measures::{Judgement, Measures, Run, judge};

use std::time::Instant;

use rayon::prelude::*;

use crate::workload::Campaign;
use engine::Engine;
use synth_simulation::{Progress, Settings};

/// The campaign is larger than the budget. The fields are an estimate of what it would need.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "one campaign has about {events:.1e} events and takes about {seconds:.2} s, and at least two are needed"
)]
pub struct TooLong {
    /// The number of events.
    pub events: f64,
    /// The time on this machine \[s\].
    pub seconds: f64,
}

/// Simulates a rule on as many independent campaigns as the settings have replications.
///
/// For the same seed, the hosts, the jobs and the availability are the same for all rules. After
/// two campaigns, the simulation stops once it has used the events or the time of the settings.
///
/// # Errors
/// Returns an error if a campaign needs more than twice the budget.
pub fn simulate(
    campaign: &Campaign,
    rule: Rule,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Result<Run, TooLong> {
    let started = Instant::now();
    let later = |times: u32| {
        let time = settings.time.map(|time| time.saturating_mul(times));
        time.is_some_and(|time| started.elapsed() >= time)
    };
    let one = |replication: u32| {
        let mut engine = Engine::new(campaign, rule, settings.seed, replication);
        let most = settings.events.saturating_mul(2);
        if engine.run(|events| settings.is_interrupted() || events > most || later(2)) {
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
    // One campaign runs on each core. The campaigns that count are the same as if they were run one
    // after the other, so the number of cores does not change the results.
    for some in all.chunks(rayon::current_num_threads().max(2)) {
        let found: Vec<Result<Measures, TooLong>> = some.par_iter().map(|n| one(*n)).collect();
        for one in found {
            match one {
                Ok(measures) => run.campaigns.push(measures),
                // Both of the first two campaigns are needed, and they must be complete.
                Err(too_long) if run.campaigns.len() < 2 && !settings.is_interrupted() => {
                    return Err(too_long);
                }
                Err(_) => {
                    run.interrupted = settings.is_interrupted();
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
