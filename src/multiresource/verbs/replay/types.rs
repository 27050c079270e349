//! The types that the jobs of a trace are.

use std::cmp::Ordering;

use crate::multiresource::replay::{Job, Kinds, Log, Rounding};
use crate::multiresource::workload::{Described, Workload};
use crate::number::{Decimal, seconds_in};
use crate::trace::{Servers, Shape};

/// The jobs of a trace as those of types.
pub struct Types {
    /// The workload that the types are of.
    pub described: Described,
    /// What jobs of each type hold.
    pub kinds: Kinds,
    /// Which vector goes to which type.
    pub rounding: Rounding,
    /// The jobs, each of its type.
    pub jobs: Vec<Job>,
    /// Ticks in the workload's unit of time.
    pub ticks: f64,
    /// The work of jobs at what their types hold, over their own.
    pub worth: f64,
}

/// More of the work without a type than this is not left out unasked.
const MOST_UNTYPED: f64 = 0.01;

impl Types {
    /// The types of a workload for the jobs of a log, which demand what `exact` says.
    ///
    /// # Errors
    /// When the workload is of other servers or resources, or no type holds too much of the work.
    pub fn of(
        log: &Log,
        exact: &Kinds,
        described: Described,
        unknown_out: bool,
    ) -> Result<Self, String> {
        let workload = described.envelope();
        let places = places(workload, log)?;
        let own: Vec<usize> = (0..places.len()).collect();
        if shapes(&servers_of(&described), &own) != shapes(&log.servers, &places) {
            return Err("the workload is of other servers than those that are told: leave --capacity and --servers out, or write the workload for these servers".into());
        }
        let unit = workload.time_unit();
        let unit = seconds_in(unit).ok_or_else(|| format!(
            "the workload's unit of time is `{unit}`, and how long that is beside the trace's seconds is not known: write the workload in us, ms, s, min, h or d"
        ))?;
        let ticks = unit * log.tick.per_second() as f64;
        let kinds = Kinds::of_types(log, workload, &places);
        let rounding = Rounding::to(log, workload, &places, ticks);
        if rounding.untyped_work > MOST_UNTYPED && !unknown_out {
            return Err(format!(
                "{} of {} jobs, {:.1} % of the work, demand more than every type of the workload holds: fit a workload to this trace, or leave them out for every policy with --unknown-out",
                rounding.untyped,
                log.jobs.len(),
                100.0 * rounding.untyped_work
            ));
        }
        let jobs = rounding.rounded(&log.jobs);
        if jobs.is_empty() {
            return Err("no job of the trace fits into a type of the workload: fit a workload to this trace".into());
        }
        let own = log.jobs.iter().filter(|job| rounding.holds(job));
        Ok(Types {
            worth: work(jobs.iter(), &kinds) / work(own, exact),
            described,
            kinds,
            rounding,
            jobs,
            ticks,
        })
    }
}

/// Σ size times the largest fraction of a resource that is held.
fn work<'a>(jobs: impl Iterator<Item = &'a Job>, kinds: &Kinds) -> f64 {
    let largest = |job: &Job| kinds.held(job).iter().copied().fold(0.0, f64::max);
    jobs.map(|job| job.size * largest(job)).sum()
}

/// Shapes with the resources of a workload, of which r is the servers' `places[r]`, in an order of their own.
fn shapes(servers: &Servers, places: &[usize]) -> Vec<(Vec<Decimal>, u32)> {
    let shapes = servers.shapes.iter().map(|shape| {
        let capacity = places.iter().map(|place| shape.capacity[*place]);
        (capacity.collect(), shape.count)
    });
    let mut shapes: Vec<(Vec<Decimal>, u32)> = shapes.collect();
    shapes.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    shapes
}

/// What the jobs of a workload run on.
pub fn servers_of(described: &Described) -> Servers {
    let resources = described.envelope().resources();
    let shapes = match described {
        Described::Server(_) => vec![Shape {
            count: 1,
            capacity: resources.iter().map(|r| r.capacity()).collect(),
        }],
        Described::Fleet(fleet) => {
            let shapes = fleet.shapes().iter().map(|shape| Shape {
                count: shape.count(),
                capacity: shape.capacity().to_vec(),
            });
            shapes.collect()
        }
    };
    Servers {
        resources: resources.iter().map(|r| r.name().to_owned()).collect(),
        shapes,
    }
}

/// For each resource of a workload, which one of the trace it is.
fn places(workload: &Workload, log: &Log) -> Result<Vec<usize>, String> {
    let known = &log.servers.resources;
    let own = workload.resources().iter().map(|resource| {
        let found = known.iter().position(|name| name == resource.name());
        found.ok_or_else(|| {
            format!(
                "the workload has `{}`, and the trace is read with {}: leave --capacity and --servers out, or name the same resources",
                resource.name(),
                known.join(", ")
            )
        })
    });
    let places: Vec<usize> = own.collect::<Result<_, _>>()?;
    if places.len() == known.len() {
        Ok(places)
    } else {
        Err(format!(
            "the trace is read with {}, and the workload has fewer resources: leave --capacity and --servers out, or name the same ones",
            known.join(", ")
        ))
    }
}
