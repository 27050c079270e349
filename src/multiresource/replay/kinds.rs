//! What the jobs of a trace demand, as it is told to a policy.

use super::{Job, Log};
use crate::multiresource::workload::{Dominating, Workload};
use crate::number::Decimal;

/// The demands that jobs name, exact or rounded to those of types.
#[derive(Clone, Debug)]
pub struct Kinds {
    /// Name and demand (R) of each.
    pub demands: Vec<(String, Vec<Decimal>)>,
    /// By kind, the same over what all servers have together (R).
    pub held: Vec<Vec<f64>>,
}

impl Kinds {
    fn new(log: &Log, demands: Vec<(String, Vec<Decimal>)>) -> Self {
        let capacity = log.servers.total();
        let share = |(demand, capacity): (&Decimal, &f64)| {
            if *capacity > 0.0 {
                demand.value() / capacity
            } else {
                0.0
            }
        };
        let held = demands.iter();
        let held = held.map(|(_, demand)| demand.iter().zip(&capacity).map(share).collect());
        Kinds {
            held: held.collect(),
            demands,
        }
    }

    /// The vectors of a trace as they are, named such as `cpu=4 memory=16`.
    #[must_use]
    pub fn exact(log: &Log) -> Self {
        let named = log.vectors.iter().map(|demand| {
            let decimals = demand
                .iter()
                .map(|d| Decimal::new(*d).unwrap_or(Decimal::ZERO));
            let decimals: Vec<Decimal> = decimals.collect();
            let pairs = log.servers.resources.iter().zip(&decimals);
            let there = pairs.filter(|(_, demand)| **demand > Decimal::ZERO);
            let words: Vec<String> = there.map(|(name, d)| format!("{name}={d}")).collect();
            (words.join(" "), decimals)
        });
        Kinds::new(log, named.collect())
    }

    /// The types of a workload whose resource r is the trace's `places[r]`.
    #[must_use]
    pub fn of_types(log: &Log, workload: &Workload, places: &[usize]) -> Self {
        let named = workload.types().iter().map(|job| {
            let mut demand = vec![Decimal::ZERO; places.len()];
            for (place, own) in places.iter().zip(job.demand()) {
                demand[*place] = *own;
            }
            (job.name().to_owned(), demand)
        });
        Kinds::new(log, named.collect())
    }

    /// By job, what it holds of each resource over what all servers have together (R).
    #[must_use]
    pub fn held(&self, job: &Job) -> &[f64] {
        &self.held[job.kind as usize]
    }
}

/// What becomes of a trace's vectors when they are rounded up to types.
#[derive(Clone, Debug)]
pub struct Rounding {
    /// By vector, the types of its jobs: until which limit each, the last of all others.
    types: Vec<Vec<(f64, usize)>>,
    /// Jobs of a vector that no type holds.
    pub untyped: u64,
    /// Their share of the work.
    pub untyped_work: f64,
}

impl Rounding {
    /// To the types of a workload whose resource r is the trace's `places[r]`, each to the cheapest that holds it.
    /// Its unit of time is so many ticks long.
    #[must_use]
    pub fn to(log: &Log, workload: &Workload, places: &[usize], ticks: f64) -> Self {
        let total = log.servers.total();
        let own = |amounts: &[f64]| {
            places
                .iter()
                .map(|place| amounts[*place])
                .collect::<Vec<_>>()
        };
        let dominating = Dominating::new(workload.types(), &own(&total));
        let types_of = |vector: &[f64]| {
            let own = dominating.types_of(&own(vector)).into_iter();
            own.map(|(limit, i)| (limit * ticks, i)).collect()
        };
        let vectors = log.vectors.iter();
        let rounding = Rounding {
            types: vectors.map(|vector| types_of(vector)).collect(),
            untyped: 0,
            untyped_work: 0.0,
        };
        let shares = log.shares();
        let (mut untyped, mut lost, mut all) = (0, 0.0, 0.0);
        for job in &log.jobs {
            let work = job.size * shares[job.kind as usize];
            all += work;
            if !rounding.holds(job) {
                untyped += 1;
                lost += work;
            }
        }
        Rounding {
            untyped,
            untyped_work: lost / all,
            ..rounding
        }
    }

    /// Whether some type holds this job of the trace.
    #[must_use]
    pub fn holds(&self, job: &Job) -> bool {
        !self.types[job.kind as usize].is_empty()
    }

    /// The jobs that some type holds, as jobs of their types.
    #[must_use]
    pub fn rounded(&self, jobs: &[Job]) -> Vec<Job> {
        let of_type = |job: &Job| {
            let types = &self.types[job.kind as usize];
            let own = types.iter().find(|(limit, _)| job.promised <= *limit);
            let (_, kind) = own.or(types.last())?;
            Some(Job {
                kind: *kind as u32,
                ..*job
            })
        };
        jobs.iter().filter_map(of_type).collect()
    }
}
