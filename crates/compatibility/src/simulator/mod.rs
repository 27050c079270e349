//! Runs rules on clusters: the virtual queue, and jobs that are sent to one server each.

mod processor_sharing;
#[cfg(test)]
mod tests;
mod virtual_queue;

use serde::{Deserialize, Serialize};

use super::artifact::{Artifact, Claim, Quantity, unmet};
use super::workload::Cluster;
use processor_sharing::ProcessorSharing;
use synth_simulation::{
    self as simulation, Discipline, Estimate, INTERRUPTIONS, MEASURED, Progress, QueueEngine,
    QueueRun, Results, Sample, Settings, Stream, busy_column, replicate,
};
use virtual_queue::VirtualQueue;

/// How jobs are served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The virtual queue ([`crate::policy::FairQueue`]), with so many interruptions a job in the mean; 0 is
    /// first come, first served.
    Fair(f64),
    /// Each job is sent to any of its servers, and these share themselves among their jobs.
    RandomPs,
    /// The same; each job is sent where it is served fastest when it comes.
    ShortestPs,
}

/// Results of a run on a cluster.
pub type Run = simulation::Run<Measures, ()>;

/// What is measured besides response times and numbers of jobs.
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
    match rule {
        Rule::Fair(interruptions) => {
            let slice = cluster.slice(*interruptions).unwrap_or(f64::INFINITY);
            let queue = |[service, routing]: [Stream; 2]| {
                VirtualQueue::new(Candidates::of(cluster, routing), &rates, slice, service)
            };
            run(cluster, queue, settings, progress)
        }
        _ => {
            let shortest = *rule == Rule::ShortestPs;
            let queues = |[service, routing]: [Stream; 2]| {
                ProcessorSharing::new(Candidates::of(cluster, routing), &rates, shortest, service)
            };
            run(cluster, queues, settings, progress)
        }
    }
}

fn run<D: Discipline>(
    cluster: &Cluster,
    discipline: impl Fn([Stream; 2]) -> D,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, String> {
    let (classes, rates) = (cluster.statistics(), cluster.arrival_rates());
    let (size, servers) = (cluster.size(), cluster.servers().len());
    let engine = |r| QueueEngine::new(&classes, &rates, size, servers, &discipline, settings, r);
    let measures = |sample: Option<&Sample>| {
        let average = |column: usize| {
            let column = sample?.columns.extra(column);
            sample?.time_average(|row| row[column])
        };
        let servers = 0..servers.min(MEASURED);
        let busy: Vec<Estimate> = servers.filter_map(|s| average(busy_column(s))).collect();
        Measures {
            utilization: busy.iter().map(|estimate| estimate.mean).collect(),
            busy,
            interruption_frequency: average(INTERRUPTIONS),
        }
    };
    let summarize = |results: &Results<'_>| results.run(measures, |_, _| ());
    replicate(&classes, engine, settings, progress, summarize)
}

/// The servers that a job which arrives may use.
struct Candidates {
    /// Those of each class; none where they are drawn.
    of_class: Vec<Vec<u32>>,
    /// How many there are.
    all: u32,
    drawn: Vec<u32>,
    routing: Stream,
}

impl Candidates {
    fn of(cluster: &Cluster, routing: Stream) -> Self {
        let of_class = cluster.classes().iter().map(|class| class.servers.iter());
        let drawn = cluster.assignment().map_or(0, |own| own.random.degree);
        Candidates {
            of_class: of_class
                .map(|own| own.map(|s| *s as u32).collect())
                .collect(),
            all: cluster.servers().len() as u32,
            drawn: vec![0; drawn as usize],
            routing,
        }
    }

    fn next(&mut self, class: u32) -> &[u32] {
        let degree = self.drawn.len();
        if degree == 0 {
            return &self.of_class[class as usize];
        }
        // R. W. Floyd's sample: each set of so many is as probable as any other.
        for n in 0..degree {
            let last = self.all - (degree - n) as u32;
            let server = (self.routing.uniform() * f64::from(last + 1)) as u32;
            let taken = self.drawn[..n].contains(&server);
            self.drawn[n] = if taken { last } else { server };
        }
        &self.drawn
    }
}

/// A claim beside what was measured.
pub type Judgement = simulation::Judgement<Quantity>;

/// Judges all claims by a run of the policy on the workload that it was made for.
pub fn judge(artifact: &Artifact, cluster: &Cluster, run: &Run) -> Vec<Judgement> {
    let utilization = |claim: &Claim| {
        let mut servers = cluster.servers().iter();
        let place = servers.position(|s| Some(&s.name) == claim.server.as_ref())?;
        run.own.busy.get(place).copied()
    };
    let measured = QueueRun {
        classes: &cluster.statistics(),
        run,
        unmet: &|claim| unmet(&claim.holds_for, cluster),
        utilization: &utilization,
    };
    measured.judge(&artifact.claims)
}
