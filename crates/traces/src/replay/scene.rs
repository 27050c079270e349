use itertools::Itertools as _;

use super::log::{Log, ReplayJob};
use super::speed::Clock;
use crate::trace::Observed;
use synth_core::document::DocumentError;
use synth_core::number::Decimal;
use synth_multiresource::policy::{Job, System};
use synth_multiresource::workload::{Fleet, FleetDocument, JobDocument, SizeInformation, Workload};
use synth_queues::distribution::SizeDistribution;

/// The demands of jobs, which are exact, or are the demands of their types.
#[derive(Clone, Debug)]
pub struct DemandKinds {
    /// The name and demand (R) of each kind.
    pub demands: Vec<(String, Vec<Decimal>)>,
    /// For each kind, the number of servers that are used at the same time.
    pub nodes: Vec<u32>,
    /// For each kind, the fraction of each resource of all servers that is held by a job (R).
    pub held: Vec<Vec<f64>>,
}

impl DemandKinds {
    fn new(log: &Log, demands: Vec<(String, Vec<Decimal>)>, nodes: Vec<u32>) -> Self {
        let capacity = log.servers.total();
        let share = |(demand, capacity): (&Decimal, &f64)| match *capacity {
            0.0 => 0.0,
            capacity => demand.value() / capacity,
        };
        let held = |((_, demand), nodes): (&(String, Vec<Decimal>), &u32)| {
            let shares = demand.iter().zip(&capacity).map(share);
            shares.map(|share| f64::from(*nodes) * share).collect()
        };
        DemandKinds {
            held: demands.iter().zip(&nodes).map(held).collect(),
            demands,
            nodes,
        }
    }

    /// Returns the exact demand vectors of a trace, with names such as `cpu=4 memory=16`.
    pub fn exact(log: &Log) -> Self {
        let named = log.vectors.iter().zip(&log.nodes).map(|(demand, nodes)| {
            let decimal = |d: &f64| Decimal::new(*d).unwrap_or(Decimal::ZERO);
            let demand: Vec<Decimal> = demand.iter().map(decimal).collect();
            let pairs = log.servers.resources.iter().zip(&demand);
            let demanded = pairs.filter(|(_, demand)| **demand > Decimal::ZERO);
            let nodes = Some(format!("nodes={nodes}")).filter(|_| *nodes > 1);
            let words = demanded.map(|(name, d)| format!("{name}={d}"));
            (nodes.into_iter().chain(words).join(" "), demand)
        });
        DemandKinds::new(log, named.collect(), log.nodes.clone())
    }

    /// Returns the types of a workload; its resource r is resource `places[r]` of the trace.
    pub fn of_types(log: &Log, workload: &Workload, places: &[usize]) -> Self {
        let named = workload.types().iter().map(|job| {
            let mut demand = vec![Decimal::ZERO; places.len()];
            for (place, own) in places.iter().zip(job.demand()) {
                demand[*place] = *own;
            }
            (job.name().to_owned(), demand)
        });
        let nodes = workload.types().iter().map(|job| job.nodes());
        DemandKinds::new(log, named.collect(), nodes.collect())
    }

    /// Returns the largest fraction of a resource that a job of this kind holds.
    pub fn most_held(&self, kind: u32) -> f64 {
        let held = self.held[kind as usize].iter();
        held.copied().fold(0.0, f64::max)
    }

    pub(super) fn resources(&self) -> usize {
        self.held.first().map_or(0, Vec::len)
    }
}

/// A number of jobs and the workload that contains their types.
#[derive(Clone, Debug)]
pub struct DecisionState<'a> {
    /// The jobs in the order of their submission.
    pub jobs: &'a [ReplayJob],
    /// The type of each kind.
    pub types: Vec<u32>,
    /// Servers and types.
    pub fleet: Fleet,
    /// The conversion from ticks to the time of the policy.
    pub clock: Clock,
    /// The time for which a job holds its resources before it runs, or the mean of `drawn`, in the
    /// time of the policy. Rules that plan by limits add it to the limits.
    pub latency: f64,
    /// The start latency of each job; empty if it is the same for all jobs.
    pub drawn: Vec<f64>,
    /// Whether jobs without a limit in the log have none. Otherwise, their size is used.
    pub promised: bool,
    /// The seed for the clocks of the policy.
    pub seed: u64,
}

impl<'a> DecisionState<'a> {
    /// Creates a state without latency and with seed 1. If a limit is missing, the size is used.
    pub fn new(jobs: &'a [ReplayJob], types: Vec<u32>, fleet: Fleet, clock: Clock) -> Self {
        DecisionState {
            jobs,
            types,
            fleet,
            clock,
            latency: 0.0,
            drawn: Vec::new(),
            promised: false,
            seed: 1,
        }
    }

    /// Creates a state for jobs of a log, which have no limit if there is none in the log. Policies
    /// know the limits, but not the sizes.
    ///
    /// # Errors
    /// Returns an error if the workload is not valid (see [`replay_workload`]).
    pub fn of_log(
        log: &Log,
        jobs: &'a [ReplayJob],
        kinds: &DemandKinds,
        clock: Clock,
    ) -> Result<Self, DocumentError> {
        let (fleet, types) = replay_workload(log, jobs, kinds, clock, 0.0, false)?;
        Ok(DecisionState {
            promised: true,
            ..DecisionState::new(jobs, types, fleet, clock)
        })
    }

    pub(super) fn is_whole(&self) -> bool {
        self.clock.is_whole() && self.drawn.is_empty() && self.latency.fract() == 0.0
    }

    pub(super) fn latency(&self, n: usize) -> f64 {
        self.drawn.get(n).copied().unwrap_or(self.latency)
    }

    pub(super) fn held(&self, n: usize) -> f64 {
        self.clock.size(self.jobs[n].size) + self.latency(n)
    }

    #[inline(always)]
    pub(super) fn type_of(&self, n: usize) -> usize {
        self.types[self.jobs[n].kind as usize] as usize
    }

    #[inline(always)]
    pub(super) fn arrive(&self, n: usize, now: f64, system: &mut System) -> Job {
        let job = &self.jobs[n];
        let arrived = system.arrive_sized(self.type_of(n), now, self.held(n));
        let own = job.own_limit();
        let limit = if self.promised { own } else { job.limit };
        system.set_limit(arrived, self.clock.size(limit) + self.latency);
        system.set_user(arrived, job.user);
        arrived
    }

    /// Starts the jobs that were running when the log began, and returns their number. Large jobs
    /// are first, so that small jobs do not use their servers. If a job does not fit, it waits.
    pub(super) fn begun(&self, mut system: System) -> (System, usize) {
        let run = |job: &&ReplayJob| job.seen == Observed::Initial;
        let count = self.jobs.iter().take_while(run).count();
        let jobs = (0..count).map(|n| (self.type_of(n), self.arrive(n, 0.0, &mut system)));
        let mut jobs: Vec<(usize, Job)> = jobs.collect();
        let shares = self.fleet.envelope().dominant_shares();
        jobs.sort_by(|(a, _), (b, _)| shares[*b].total_cmp(&shares[*a]));
        for (i, job) in jobs {
            if system.fits(i) {
                system.start_job(i, job);
            }
        }
        (system, count)
    }
}

/// Returns a workload for these jobs, with a type for each kind that is used by a job, and the type
/// of each kind. `latency` is the start latency in the time of the policy. The policy knows the
/// size of each job if `sizes` is `true`, otherwise only its limit.
pub fn replay_workload(
    log: &Log,
    jobs: &[ReplayJob],
    kinds: &DemandKinds,
    clock: Clock,
    latency: f64,
    sizes: bool,
) -> Result<(Fleet, Vec<u32>), DocumentError> {
    let mut counts = vec![(0_u64, 0.0); kinds.demands.len()];
    for job in jobs {
        let (count, size) = &mut counts[job.kind as usize];
        *count += 1;
        *size += job.size;
    }
    let span = clock.submit(jobs.last().map_or(1.0, |job| job.submit.max(1.0)));
    let decimal = |value: f64| Decimal::new(value).unwrap_or(Decimal::ONE);
    let (mut places, mut types) = (Vec::new(), Vec::new());
    let demands = kinds.demands.iter().zip(&kinds.nodes);
    for (((name, demand), nodes), (count, size)) in demands.zip(counts) {
        places.push(types.len() as u32);
        if count > 0 {
            types.push(JobDocument {
                name: name.clone(),
                nodes: Some(*nodes),
                demand: log.servers.demand(demand),
                arrival_rate: Some(decimal(count as f64 / span)),
                mean_size: Some(decimal(clock.size(size) / count as f64)),
                ..JobDocument::default()
            });
        }
    }
    let constant = |mean| SizeDistribution::Deterministic { mean };
    let known = match sizes {
        true => SizeInformation::Size,
        false => SizeInformation::Limit(constant(Decimal::ONE)),
    };
    let head = FleetDocument {
        start_latency: (latency > 0.0).then(|| constant(decimal(latency))),
        time_unit: log.tick.unit().into(),
        known: Some(known),
        ..FleetDocument::default()
    };
    Ok((log.servers.workload(head, types).measured()?, places))
}
