//! Runs rules on clusters: the virtual queue, and jobs that are sent to one server each.

mod processor_sharing;
#[cfg(test)]
mod tests;
mod virtual_queue;

use serde::{Deserialize, Serialize};

use super::artifact::{Artifact, Claim, Quantity, unmet};
use super::workload::{Class, Cluster};
use processor_sharing::ProcessorSharing;
use synth_simulation::{
    self as simulation, Estimate, INTERRUPTIONS, MEASURED, Progress, Queue, QueueRun, RandomStream,
    Sample, Settings, busy_column,
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
    let candidates = |routing: RandomStream| Candidates::of(cluster, routing);
    let queue = Queue {
        classes: &cluster.statistics(),
        rates: &cluster.arrival_rates(),
        size: cluster.size(),
        servers: rates.len(),
    };
    let measures = |sample: Option<&Sample>| {
        let average = |column: usize| {
            let column = sample?.columns.extra(column);
            sample?.time_average(|row| row[column])
        };
        let servers = 0..rates.len().min(MEASURED);
        let busy: Vec<Estimate> = servers.filter_map(|s| average(busy_column(s))).collect();
        Measures {
            utilization: busy.iter().map(|estimate| estimate.mean).collect(),
            busy,
            interruption_frequency: average(INTERRUPTIONS),
        }
    };
    if let Rule::Fair(interruptions) = rule {
        let slice = cluster.slice(*interruptions).unwrap_or(f64::INFINITY);
        let virtual_queue = |[service, routing]: [RandomStream; 2]| {
            VirtualQueue::new(candidates(routing), &rates, slice, service)
        };
        return queue.simulate(virtual_queue, settings, progress, measures);
    }
    let shortest = *rule == Rule::ShortestPs;
    let sharing = |[service, routing]: [RandomStream; 2]| {
        ProcessorSharing::new(candidates(routing), &rates, shortest, service)
    };
    queue.simulate(sharing, settings, progress, measures)
}

/// The servers that a job which arrives may use.
struct Candidates {
    /// Those of each class; none where they are drawn.
    of_class: Vec<Vec<u32>>,
    /// How many there are.
    all: u32,
    drawn: Vec<u32>,
    routing: RandomStream,
}

impl Candidates {
    fn of(cluster: &Cluster, routing: RandomStream) -> Self {
        let own = |class: &Class| class.servers.iter().map(|s| *s as u32).collect();
        Candidates {
            of_class: cluster.classes().iter().map(own).collect(),
            all: cluster.servers().len() as u32,
            drawn: vec![0; cluster.degree() as usize],
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

/// Judges all claims by a run of the policy on the workload that it is for.
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
