//! Runs rules on clusters: the virtual queue, and jobs that are sent to one server each.

mod engine;
mod judge;
mod measures;
mod processor_sharing;
mod rule;
mod sharing;
#[cfg(test)]
mod tests;

pub use judge::{Judgement, judge};
pub use measures::{Measures, Run};
pub use rule::Rule;

use crate::compatibility::workload::Cluster;
use crate::simulation::{Alias, Progress, Replication, Settings, Stream, replicate};
use engine::Engine;
use processor_sharing::{Chosen, ProcessorSharing};
use sharing::Sharing;

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
    let sharing = |slice: f64| {
        let rates = rates.clone();
        move |service: Stream| Sharing::new(rates, slice, service)
    };
    let sent = |chosen: Chosen| {
        let rates = &rates;
        move |service: Stream| ProcessorSharing::new(rates, chosen, service)
    };
    match rule {
        Rule::Fair { slice } => {
            let slice = slice.unwrap_or(f64::INFINITY);
            let engine = |r| Engine::new(cluster, sharing(slice), settings, r);
            run(cluster, engine, settings, progress)
        }
        Rule::RandomPs => {
            let engine = |r| Engine::new(cluster, sent(Chosen::Random), settings, r);
            run(cluster, engine, settings, progress)
        }
        Rule::ShortestPs => {
            let engine = |r| Engine::new(cluster, sent(Chosen::Shortest), settings, r);
            run(cluster, engine, settings, progress)
        }
        Rule::RoutedPs(routing) => {
            let tables = || {
                let parts = routing.iter().map(|parts| {
                    let servers = parts.iter().map(|(s, _)| *s as u32).collect();
                    let weights: Vec<f64> = parts.iter().map(|(_, part)| *part).collect();
                    (servers, Alias::new(&weights))
                });
                Chosen::Routed(parts.collect())
            };
            let engine = |r| Engine::new(cluster, sent(tables()), settings, r);
            run(cluster, engine, settings, progress)
        }
    }
}

fn run<R: Replication<Violation = String>>(
    cluster: &Cluster,
    engine: impl Fn(u32) -> R,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, String> {
    let classes = cluster.statistics();
    let replicated = replicate(&classes, engine, settings, progress)?;
    Ok(measures::run(cluster, &replicated.results()))
}
