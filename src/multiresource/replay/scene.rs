//! What a policy sees of a trace: its jobs as types of a workload.

use super::speed::Clock;
use super::{Job, Log};
use crate::document::DocumentError;
use crate::law::{ArrivalProcess, Size};
use crate::multiresource::workload::{Described, Known, Part, Parts};
use crate::number::Decimal;

/// Jobs, and the workload that their types are of.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The jobs, by submission.
    pub jobs: &'a [Job],
    /// By the kind of a job: its type in the workload.
    pub types: Vec<u32>,
    /// Servers and types.
    pub described: Described,
    /// How times are told.
    pub clock: Clock,
    /// Seed of the policy's clocks, if it has some.
    pub seed: u64,
}

/// The workload of jobs whose kinds have these names and demands, as it is counted: each kind that occurs is a type;
/// and by kind which one. With `sizes` sizes are known, and else limits.
///
/// # Errors
/// Where it is out of the range of what can be counted.
pub fn gathered(
    log: &Log,
    jobs: &[Job],
    demands: &[(String, Vec<Decimal>)],
    clock: Clock,
    sizes: bool,
) -> Result<(Described, Vec<u32>), DocumentError> {
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
        source: None,
        modulation: None,
        time_unit: "tick".into(),
        known: Some(match sizes {
            true => Known::Size,
            false => Known::Limit(Size::Deterministic { mean: Decimal::ONE }),
        }),
        resources: log.servers.resources.clone(),
        shapes: shapes
            .map(|shape| (shape.count, shape.capacity.clone()))
            .collect(),
        types: counted.collect(),
    };
    Ok((parts.check()?, types))
}
