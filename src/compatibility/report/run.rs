//! What runs found.

use super::about;
use crate::compatibility::simulator::{Judgement, Measures, Run};
use crate::compatibility::workload::Cluster;
use crate::report::{Besides, RunWords, Shares, estimate, number, percent, run_report};

/// What a simulation found, with the verdicts on the claims, if any were judged.
pub fn simulation(cluster: &Cluster, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let words = RunWords {
        unit: cluster.time_unit(),
        names: &cluster.names(),
        overall: &overall(cluster, run),
        conditions: "claims that assume exponential sizes are approximations for others; what is of balanced fairness is not examined by a run",
        is_percentile: |_| false,
    };
    run_report(&words, run, verdicts, width)
}

fn overall(cluster: &Cluster, run: &Run) -> String {
    const TOLD: usize = 12;
    let servers = cluster.servers().iter().zip(&run.own.utilization);
    let busy = servers
        .take(TOLD)
        .map(|(server, busy)| format!("{} {}", server.name, percent(*busy)));
    let busy: Vec<String> = busy.collect();
    let more = match cluster.servers().len() > TOLD {
        true => format!(" and {} more", cluster.servers().len() - TOLD),
        false => String::new(),
    };
    format!(
        "waiting {}; fairness (Jain) {}; interruptions {} per {}\nservers at work: {}{more}\nmeans with 95 % confidence intervals (batch means of independent replications)",
        estimate(run.mean_waiting),
        run.fairness.map_or("–".into(), |f| format!("{f:.3}")),
        run.own
            .interruption_frequency
            .map_or("–".into(), |f| number(f.mean)),
        cluster.time_unit(),
        busy.join(", "),
    )
}

/// What is told of a comparison besides response times: which servers work.
pub fn besides(cluster: &Cluster) -> Besides<'_, Measures, ()> {
    /// Pictures of more servers than this say nothing.
    const DRAWN: usize = 8;
    let names = cluster.servers().iter().map(|server| server.name.as_str());
    let drawn = cluster.servers().len() <= DRAWN;
    Besides {
        about: about(cluster),
        parts: if drawn { names.collect() } else { Vec::new() },
        section: (
            "Servers",
            "Every stable policy gets the same work done; they differ in where.",
        ),
        shares: &[Shares {
            quantity: "utilization",
            words: "at work",
            of: |run| &run.own.utilization,
        }],
        counts: &[],
        frequencies: &[("interruption_frequency", |run| {
            run.own.interruption_frequency
        })],
    }
}
