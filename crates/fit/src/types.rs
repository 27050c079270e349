use std::collections::btree_map::{BTreeMap, Entry};

use super::jobs::Jobs;
use super::merge::{Merging, Vector, apart};
use super::report::{CandidateTypes, FitError, short};
use synth_core::number::Decimal;
use synth_make::program::{self, SolveLimits};
use synth_multiresource::workload::{FleetDocument, JobDocument, TypeAssignment};

#[derive(Clone, Debug)]
pub(crate) struct Types {
    /// The demand of each type on each server, followed by its number of servers (K × (R + 1)).
    pub demands: Vec<Vec<f64>>,
    /// The type of each vector; `None` if it has no jobs or no type dominates it.
    pub of_vector: Vec<Option<usize>>,
    /// The load of jobs that have these demands, and whether it is proven.
    pub load: (f64, bool),
}

pub(crate) struct Search<'a> {
    jobs: &'a Jobs<'a>,
    merging: Merging,
}

/// With more types, the optimization may take long.
const MAX_DOUBLED: usize = 64;
const FIRST: usize = 4;

impl<'a> Search<'a> {
    /// Merges vectors with the prices of the fluid bound, `y_r = ρ̄_r/(ρ̄ P_r)`.
    pub(crate) fn new(jobs: &'a Jobs<'a>, most: usize) -> Self {
        let (servers, fluid) = (&jobs.trace.servers, jobs.fluid());
        let pairs = jobs.used.iter().zip(servers.total());
        let prices: Vec<f64> = pairs.map(|(used, total)| used / (fluid * total)).collect();
        Search {
            jobs,
            merging: Merging::new(jobs.vectors.clone(), &prices, 2 * most, |demand| {
                let (demand, nodes) = apart(demand, servers.resources.len());
                servers.hold(demand, nodes)
            }),
        }
    }

    /// Finds the smallest number of types, at most `most`, whose load is within `loss` of the fluid
    /// bound, or else of the load with `most` types. Returns all numbers that were tried, such as
    /// half and twice the result, with their loads.
    pub(crate) fn types(
        &self,
        most: usize,
        loss: f64,
        mut listener: impl FnMut(usize) -> bool,
    ) -> Result<(Types, Vec<CandidateTypes>), FitError> {
        let occurring = self.jobs.vectors.iter().filter(|vector| vector.busy > 0.0);
        let occurring = occurring.count();
        let most = most.min(occurring).max(1);
        let mut tried: BTreeMap<usize, Types> = BTreeMap::new();
        let mut load_of = |count: usize, tried: &mut BTreeMap<usize, Types>| {
            if let Entry::Vacant(entry) = tried.entry(count) {
                if !listener(count) {
                    return Err(FitError::Interrupted);
                }
                entry.insert(self.of(count)?);
            }
            Ok::<f64, FitError>(tried[&count].load.0)
        };
        let mut few = FIRST.min(most);
        let mut enough = few;
        let mut goal = (1.0 + loss) * self.jobs.fluid();
        while load_of(enough, &mut tried)? > goal && enough < most {
            (few, enough) = (enough, (enough + enough.div_ceil(2)).min(most));
        }
        let attained = load_of(enough, &mut tried)?;
        if attained > goal {
            goal = (1.0 + loss) * attained;
            few = FIRST.min(most);
        }
        while few < enough {
            let between = usize::midpoint(few, enough);
            match load_of(between, &mut tried)? <= goal {
                true => enough = between,
                false => few = between + 1,
            }
        }
        let others = [enough / 2, (2 * enough).min(occurring).min(MAX_DOUBLED)];
        for count in others.into_iter().filter(|count| *count > 0) {
            load_of(count, &mut tried)?;
        }
        let load = |types: &Types| (types.demands.len(), types.load.0);
        let mut loads: Vec<CandidateTypes> = tried.values().map(load).collect();
        loads.dedup_by_key(|(count, _)| *count);
        let types = tried.remove(&enough);
        Ok((types.expect("the sufficient number was tried"), loads))
    }

    fn of(&self, count: usize) -> Result<Types, FitError> {
        let mut demands = self.merging.representatives(count);
        demands.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        demands.dedup();
        let types = self.serving(&demands)?;
        Ok(types.expect("merged types serve their vectors"))
    }

    /// Keeps the types (K × (R + 1)) that serve at least one vector; `None` if there are none.
    pub(crate) fn serving(&self, demands: &[Vec<f64>]) -> Result<Option<Types>, FitError> {
        let dominating = TypeAssignment::of(demands, &self.jobs.trace.servers.total());
        let serves = |vector: &Vector| {
            let types = dominating.candidate_types(&vector.demand);
            types.first().map(|(_, i)| *i).filter(|_| vector.busy > 0.0)
        };
        let of_vector: Vec<Option<usize>> = self.jobs.vectors.iter().map(serves).collect();
        let is_used = |i: &usize| of_vector.contains(&Some(*i));
        let used: Vec<usize> = (0..demands.len()).filter(is_used).collect();
        let place = |i: usize| used.iter().position(|own| *own == i);
        let of_vector: Vec<Option<usize>> = of_vector.iter().map(|i| i.and_then(place)).collect();
        let demands: Vec<Vec<f64>> = used.iter().map(|i| demands[*i].clone()).collect();
        if demands.is_empty() {
            return Ok(None);
        }
        let load = self.load(&demands, &of_vector)?;
        Ok(Some(Types {
            demands,
            of_vector,
            load,
        }))
    }

    fn load(
        &self,
        demands: &[Vec<f64>],
        of_vector: &[Option<usize>],
    ) -> Result<(f64, bool), FitError> {
        let servers = &self.jobs.trace.servers;
        let mut sums = vec![(0.0, 0.0); demands.len()];
        for (v, i) in of_vector.iter().enumerate() {
            if let Some(i) = i {
                sums[*i].0 += self.jobs.rates[v];
                sums[*i].1 += self.jobs.vectors[v].busy;
            }
        }
        let part = |(i, (demand, (rate, busy))): (usize, (&Vec<f64>, (f64, f64)))| {
            let (demand, nodes) = self.jobs.apart(demand);
            let demand: Vec<Decimal> = demand.iter().map(|d| short(*d)).collect();
            JobDocument {
                name: i.to_string(),
                nodes: Some(nodes),
                demand: servers.demand(&demand),
                arrival_rate: Some(short(rate)),
                mean_size: Some(short(busy / rate)),
                ..JobDocument::default()
            }
        };
        let parts = demands.iter().zip(sums).enumerate().map(part);
        let fleet = servers.workload(in_seconds(), parts.collect()).measured()?;
        let limits = SolveLimits {
            face: 0,
            ..SolveLimits::default()
        };
        let certificate = program::solve(&fleet, &limits)?.certificate;
        Ok((certificate.load, certificate.proven()))
    }
}

pub(crate) fn in_seconds() -> FleetDocument {
    FleetDocument {
        time_unit: "s".into(),
        ..FleetDocument::default()
    }
}
