//! What a policy sees of a trace: its jobs as types of a workload.

use super::speed::Clock;
use super::{Job, Log, StartLatency};
use crate::document::DocumentError;
use crate::law::{ArrivalProcess, Size};
use crate::multiresource::workload::{Fleet, Header, Known, Part, Parts};
use crate::number::Decimal;

/// Jobs, and the workload that their types are of.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The jobs, by submission.
    pub jobs: &'a [Job],
    /// By the kind of a job: its type in the workload.
    pub types: Vec<u32>,
    /// Servers and types.
    pub fleet: Fleet,
    /// How times are told.
    pub clock: Clock,
    /// How long jobs hold their room before they run.
    pub latency: StartLatency,
    /// Seed of the policy's clocks, if it has some.
    pub seed: u64,
}

impl Scene<'_> {
    /// Whether all times are whole.
    pub(super) fn is_whole(&self) -> bool {
        self.clock.is_whole() && self.latency.drawn.is_empty() && self.latency.mean.fract() == 0.0
    }

    /// How long the n-th job holds its room, as the policy is told.
    pub(super) fn held(&self, n: usize) -> f64 {
        self.clock.size(self.jobs[n].size) + self.latency.of(n)
    }

    /// How long the n-th job is thought to hold its room at most, by its limit.
    pub(super) fn limit(&self, n: usize) -> f64 {
        self.clock.size(self.jobs[n].limit) + self.latency.mean
    }
}

/// The workload of jobs whose kinds have these names and demands, as it is counted: each kind that occurs is a type;
/// and by kind which one. Each job holds its room for `latency` before it runs, in the policy's time. With `sizes` sizes
/// are known, and else limits.
///
/// # Errors
/// Where it is out of the range of what can be counted.
pub fn gathered(
    log: &Log,
    jobs: &[Job],
    demands: &[(String, Vec<Decimal>)],
    clock: Clock,
    latency: f64,
    sizes: bool,
) -> Result<(Fleet, Vec<u32>), DocumentError> {
    let mut counts = vec![(0_u64, 0.0); demands.len()];
    for job in jobs {
        let (count, size) = &mut counts[job.kind as usize];
        *count += 1;
        *size += job.size;
    }
    let span = clock.submit(jobs.last().map_or(1.0, |job| job.submit.max(1.0)));
    let mut number = 0;
    let place = |&(count, _): &(u64, f64)| {
        let own = number;
        number += u32::from(count > 0);
        own
    };
    let types = counts.iter().map(place).collect();
    let there = demands.iter().zip(&counts).filter(|(_, (n, _))| *n > 0);
    let decimal = |value: f64| Decimal::new(value).unwrap_or(Decimal::ONE);
    let counted = there.map(|((name, demand), (count, size))| Part {
        name: name.clone(),
        demand: demand.clone(),
        arrivals: ArrivalProcess::Poisson {
            rate: decimal(*count as f64 / span),
        },
        size: Size::Exponential {
            mean: decimal(clock.size(*size) / *count as f64),
        },
        limit: None,
    });
    let shapes = log.servers.shapes.iter();
    let parts = Parts {
        header: Header {
            start_latency: (latency > 0.0).then(|| Size::Deterministic {
                mean: decimal(latency),
            }),
            time_unit: "tick".into(),
            known: Some(if sizes {
                Known::Size
            } else {
                Known::Limit(Size::Deterministic { mean: Decimal::ONE })
            }),
            ..Header::default()
        },
        resources: log.servers.resources.clone(),
        shapes: shapes
            .map(|shape| (shape.count, shape.capacity.clone()))
            .collect(),
        types: counted.collect(),
    };
    Ok((parts.check()?, types))
}
