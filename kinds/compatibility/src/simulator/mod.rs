//! Simulates the virtual queue, and processor sharing where each job uses a single server.

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

/// A service rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The virtual queue with this mean number of interruptions per job. This is FCFS if it is 0.
    Fair(f64),
    /// Each job is sent to one of its servers at random, and the servers use processor sharing.
    RandomPs,
    /// The same, but each job is sent to its server with the fewest jobs for its rate, including
    /// the new one. Ties are broken by the order of the servers.
    ShortestPs,
}

/// The results of a simulation run.
pub type Run = simulation::Run<Measures, ()>;

/// The measured values, in addition to the response times and the numbers of jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measures {
    /// The utilization of each server. This is only available for the first 1000 servers.
    pub utilization: Vec<f64>,
    /// The same values with confidence intervals.
    #[serde(skip)]
    pub(crate) busy: Vec<Estimate>,
    /// The number of interruptions per unit of time.
    pub interruption_frequency: Option<Estimate>,
}

/// Simulates a policy for a workload.
///
/// # Errors
/// Returns an error if an invariant does not hold, which is a bug in this program.
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

struct Candidates {
    of_class: Vec<Vec<u32>>,
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
        // R. W. Floyd's algorithm: each set of `degree` servers has the same probability.
        for n in 0..degree {
            let last = self.all - (degree - n) as u32;
            let server = (self.routing.uniform() * f64::from(last + 1)) as u32;
            let taken = self.drawn[..n].contains(&server);
            self.drawn[n] = if taken { last } else { server };
        }
        &self.drawn
    }
}

/// The result of checking a claim against the measured value.
pub type Judgement = simulation::Judgement<Quantity>;

/// Checks all claims against a run of the policy for its own workload.
pub fn judge(artifact: &Artifact, cluster: &Cluster, run: &Run) -> Vec<Judgement> {
    let utilization = |claim: &Claim| {
        let mut servers = cluster.servers().iter();
        let place = servers.position(|s| Some(&s.name) == claim.server.as_ref())?;
        run.own.busy.get(place).copied()
    };
    let measured = QueueRun {
        classes: &cluster.statistics(),
        run,
        unmet: &|claim| unmet(claim, cluster),
        utilization: &utilization,
    };
    measured.judge(&artifact.claims)
}
