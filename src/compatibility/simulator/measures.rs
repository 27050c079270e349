//! What a run of this kind measures besides response times and numbers of jobs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::compatibility::workload::Cluster;
use crate::simulation::{self, Estimate, Results, Sample};

/// Results of a run on a cluster.
pub type Run = simulation::Run<Measures, ()>;

/// What is measured besides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measures {
    /// Fraction of the time that each server works; of the first thousand.
    pub utilization: Vec<f64>,
    /// The same with intervals, to judge claims by.
    #[serde(skip)]
    pub busy: Vec<Estimate>,
    /// Jobs that went to the end of the queue, per time.
    pub interruption_frequency: Option<Estimate>,
}

/// The columns of the series that are this kind's own.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    servers: usize,
}

impl Columns {
    /// Interruptions.
    pub const INTERRUPTIONS: usize = 0;

    /// Servers of which it is measured how much they work: each has a column in every replication.
    const MEASURED: usize = 1000;

    pub fn of(cluster: &Cluster) -> Self {
        let servers = cluster.servers().len().min(Self::MEASURED);
        Columns { servers }
    }

    /// The servers that have a column.
    pub fn servers(self) -> Range<usize> {
        0..self.servers
    }

    /// ∫ 1 while server s works.
    pub fn busy(s: usize) -> usize {
        1 + s
    }

    pub fn width(self) -> usize {
        Self::busy(self.servers)
    }
}

/// The results of replications on a cluster.
pub(super) fn run(cluster: &Cluster, results: &Results<'_>) -> Run {
    let of_run = |sample: Option<&Sample>| {
        let average = |sample: &Sample, column: usize| {
            let column = sample.columns.extra(column);
            sample.time_average(|row| row[column])
        };
        let servers = Columns::of(cluster).servers();
        let busy = sample.map(|s| {
            servers
                .filter_map(|n| average(s, Columns::busy(n)))
                .collect()
        });
        let busy: Vec<Estimate> = busy.unwrap_or_default();
        Measures {
            utilization: busy.iter().map(|estimate| estimate.mean).collect(),
            busy,
            interruption_frequency: sample.and_then(|s| average(s, Columns::INTERRUPTIONS)),
        }
    };
    results.run(of_run, |_, _| ())
}
