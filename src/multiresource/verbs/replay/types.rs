use std::cmp::Ordering;

use super::results::TypeRounding;
use crate::multiresource::replay::{DemandKinds, Log, ReplayJob};
use crate::multiresource::workload::{Fleet, TypeAssignment};
use crate::number::{Decimal, seconds_in};
use crate::trace::Servers;

pub(super) struct Types {
    pub fleet: Fleet,
    pub kinds: DemandKinds,
    /// The jobs that fit into a type, where the kind of a job is its type.
    pub jobs: Vec<ReplayJob>,
    /// The number of ticks in the time unit of the workload.
    pub ticks: f64,
    pub typed: TypeRounding,
    /// The cheapest types that can hold each demand vector, and the largest limit of each type. The
    /// last type is used for all jobs with a longer limit.
    by_vector: Vec<Vec<(f64, usize)>>,
}

/// The maximum work that does not fit into any type and is ignored without `--demands known`.
const MOST_UNTYPED: f64 = 0.01;

impl Types {
    /// Determines the type of each job in a log, where `exact` contains the demands of the jobs.
    pub(super) fn of(
        log: &Log,
        exact: &DemandKinds,
        fleet: Fleet,
        known_only: bool,
    ) -> Result<Self, String> {
        let workload = fleet.envelope();
        let (servers, known) = (Servers::from(&fleet), &log.servers.resources);
        let places = places(&servers.resources, known).ok_or_else(|| format!(
            "the resources of the workload are {}, but those of the log are {}; omit --capacity and --servers, or use the same resources",
            servers.resources.join(", "),
            known.join(", ")
        ))?;
        let own: Vec<usize> = (0..places.len()).collect();
        let differ = |j: &usize| servers.has_devices(*j) != log.servers.has_devices(places[*j]);
        if shapes(&servers, &own) != shapes(&log.servers, &places) || own.iter().any(differ) {
            return Err("the servers of the workload and of the log are not the same, or one of them has an amount where the other one has devices; omit --capacity and --servers, or change the servers of the workload".into());
        }
        let unit = workload.time_unit();
        let unit = seconds_in(unit).ok_or_else(|| format!(
            "the time unit `{unit}` of the workload cannot be converted to seconds, which are used in the log; use one of the units us, ms, s, min, h or d"
        ))?;
        let own = |amounts: &[f64]| places.iter().map(|j| amounts[*j]).collect::<Vec<f64>>();
        let dominating = TypeAssignment::new(workload.types(), &own(&log.servers.total()));
        let ticks = unit * log.tick.per_second() as f64;
        let types_of = |v: usize| {
            let vector = [own(&log.vectors[v]), vec![f64::from(log.nodes[v])]].concat();
            let types = dominating.candidate_types(&vector).into_iter();
            types.map(|(limit, i)| (limit * ticks, i)).collect()
        };
        let mut types = Types {
            kinds: DemandKinds::of_types(log, workload, &places),
            by_vector: (0..log.vectors.len()).map(types_of).collect(),
            fleet,
            jobs: Vec::new(),
            ticks,
            typed: TypeRounding::default(),
        };
        types.jobs = types.rounded(&log.jobs);
        if types.jobs.is_empty() {
            return Err(
                "there are no jobs in the log that fit into a type of the workload; use `synth fit` to create a workload from this log"
                    .into(),
            );
        }
        let held = log.jobs.iter().filter(|job| types.holds(job));
        let (all, held) = (work(log.jobs.iter(), exact), work(held, exact));
        let untyped_work = (all - held) / all;
        let (untyped, jobs) = (log.jobs.len() - types.jobs.len(), log.jobs.len());
        if untyped_work > MOST_UNTYPED && !known_only {
            return Err(format!(
                "the demand of {untyped} of {jobs} jobs ({:.1} % of the work) is larger than that of every type of the workload; use `synth fit` to create a workload from this log, or use `--demands known` to ignore these jobs for all policies",
                100.0 * untyped_work
            ));
        }
        types.typed = TypeRounding {
            types: types.kinds.demands.len() as u64,
            rounding: work(types.jobs.iter(), &types.kinds) / held,
            untyped: untyped as u64,
            untyped_work,
        };
        Ok(types)
    }

    pub(super) fn holds(&self, job: &ReplayJob) -> bool {
        !self.by_vector[job.kind as usize].is_empty()
    }

    fn rounded(&self, jobs: &[ReplayJob]) -> Vec<ReplayJob> {
        let of_type = |job: &ReplayJob| {
            let types = &self.by_vector[job.kind as usize];
            let own = types.iter().find(|(limit, _)| job.promised <= *limit);
            let (_, kind) = own.or(types.last())?;
            Some(ReplayJob {
                kind: *kind as u32,
                ..*job
            })
        };
        jobs.iter().filter_map(of_type).collect()
    }
}

fn work<'a>(jobs: impl Iterator<Item = &'a ReplayJob>, kinds: &DemandKinds) -> f64 {
    jobs.map(|job| job.size * kinds.most_held(job.kind)).sum()
}

/// Sorts the shapes, where the amount of resource `r` is at the index `places[r]`.
fn shapes(servers: &Servers, places: &[usize]) -> Vec<(Vec<Decimal>, u32)> {
    let shapes = servers.shapes.iter().map(|shape| {
        let capacity = places.iter().map(|place| shape.capacity[*place]);
        (capacity.collect(), shape.count)
    });
    let mut shapes: Vec<(Vec<Decimal>, u32)> = shapes.collect();
    shapes.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    shapes
}

/// Returns the index of each resource in `others`, or `None` if the sets are not the same.
pub(crate) fn places(resources: &[String], others: &[String]) -> Option<Vec<usize>> {
    let place = |name: &String| others.iter().position(|other| other == name);
    let places: Option<Vec<usize>> = resources.iter().map(place).collect();
    places.filter(|places| places.len() == others.len())
}
