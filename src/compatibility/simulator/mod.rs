//! Runs rules on clusters: the virtual queue, and jobs that are sent to one server each.

mod engine;
mod judge;
mod measures;
mod processor_sharing;
mod sharing;
#[cfg(test)]
mod tests;

pub use judge::{Judgement, judge};
pub use measures::{Measures, Run};

use crate::compatibility::workload::Cluster;
use crate::simulation::{Progress, Replication, Results, Settings, Stream, replicate};
use engine::Engine;
use processor_sharing::ProcessorSharing;
use sharing::Sharing;

/// How jobs are served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The virtual queue ([`crate::compatibility::policy::FairQueue`]); interrupted after so much work \[work\] in the mean,
    /// or never: first come, first served.
    Fair {
        /// θ \[work\], > 0.
        slice: Option<f64>,
    },
    /// Each job is sent to any of its servers, and these share themselves among their jobs.
    RandomPs,
    /// The same; each job is sent where it is served fastest when it comes.
    ShortestPs,
}

/// Simulates a rule on a cluster.
///
/// # Errors
/// What did not hold that must, in words: a fault of this program.
pub fn simulate(
    cluster: &Cluster,
    rule: &Rule,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, String> {
    let rates: Vec<f64> = cluster.servers().iter().map(|s| s.rate.value()).collect();
    if let Rule::Fair { slice } = rule {
        let slice = slice.unwrap_or(f64::INFINITY);
        let sharing = |service: Stream| Sharing::new(rates.clone(), slice, service);
        let engine = |r| Engine::new(cluster, sharing, settings, r);
        return run(cluster, engine, settings, progress);
    }
    let shortest = *rule == Rule::ShortestPs;
    let sent = |service: Stream| ProcessorSharing::new(&rates, shortest, service);
    let engine = |r| Engine::new(cluster, sent, settings, r);
    run(cluster, engine, settings, progress)
}

fn run<R: Replication<Violation = String>>(
    cluster: &Cluster,
    engine: impl Fn(u32) -> R,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, String> {
    let classes = cluster.statistics();
    let summarize = |results: &Results<'_>| measures::run(cluster, results);
    replicate(&classes, engine, settings, progress, summarize)
}
