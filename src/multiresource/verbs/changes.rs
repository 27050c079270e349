//! What is different between two policies.

use itertools::Itertools;

use crate::law::Size;
use crate::multiresource::artifact::{Artifact, Quantity, Route, Server, Subject};
use crate::multiresource::schedule::Schedule;
use crate::multiresource::workload::{Record, RecordType};

/// One difference, from an earlier policy to a later one.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Nothing of the workload has changed.
    SameWorkload,
    /// The unit of time.
    TimeUnit(String, String),
    /// Names of types that are new.
    NewTypes(Vec<String>),
    /// Names of types that are gone.
    TypesGone(Vec<String>),
    /// The name of a resource that is new.
    NewResource(String),
    /// A resource's name, and its capacity before and now.
    Capacity(String, f64, f64),
    /// The mean start latency before and now; 0 where jobs start at once.
    StartLatency(f64, f64),
    /// Types' names with their arrival rates before and now.
    ArrivalRates(Vec<(String, f64, f64)>),
    /// Types' names with their mean sizes before and now.
    MeanSizes(Vec<(String, f64, f64)>),
    /// Names of types that need something else.
    Demands(Vec<String>),
    /// The load ρ.
    Load(f64, f64),
    /// The mix of schedules.
    Mix {
        /// Schedules that both have.
        kept: usize,
        /// Those that the later one has alone.
        new: usize,
        /// Those that the earlier one has alone.
        gone: usize,
        /// The fraction of time that is spent otherwise.
        otherwise: f64,
    },
    /// Switching rate and route.
    Switching((f64, Route), (f64, Route)),
    /// The mean response time that is claimed, each with its unit.
    MeanResponse((f64, String), (f64, String)),
}

/// What is different between two policies: what they were made for, and what came of it.
pub fn changes(old: &Artifact, new: &Artifact) -> Vec<Change> {
    let mut changes = workloads(&old.workload, &new.workload);
    if changes.is_empty() {
        changes.push(Change::SameWorkload);
    }
    let (was, is) = (old.the_server(), new.the_server());
    changes.push(Change::Load(was.certificate.load, is.certificate.load));
    changes.extend(mixes(named(old, &was), named(new, &is)));
    if let (Some(old), Some(new)) = (was.policy.rule.msr(), is.policy.rule.msr()) {
        changes.push(Change::Switching(
            (old.switching_rate, old.route),
            (new.switching_rate, new.route),
        ));
    }
    let mean = |of: &Artifact| {
        let mean = of.find(Quantity::MeanResponse, Subject::ALL);
        mean.map(|c| (c.value, c.unit.clone()))
    };
    if let (Some(old), Some(new)) = (mean(old), mean(new)) {
        changes.push(Change::MeanResponse(old, new));
    }
    changes
}

fn workloads(old: &Record, new: &Record) -> Vec<Change> {
    let mut changes = Vec::new();
    if old.time_unit != new.time_unit {
        let units = (old.time_unit.clone(), new.time_unit.clone());
        changes.push(Change::TimeUnit(units.0, units.1));
    }
    let latency = |of: &Record| of.start_latency.as_ref().map_or(0.0, Size::mean);
    if old.start_latency != new.start_latency {
        changes.push(Change::StartLatency(latency(old), latency(new)));
    }
    let missing = |from: &Record, of: &Record| -> Vec<String> {
        let there = |name: &str| from.types.iter().any(|t| t.name == name);
        let names = of.types.iter().map(|t| t.name.clone());
        names.filter(|name| !there(name)).collect()
    };
    changes.push(Change::NewTypes(missing(old, new)));
    changes.push(Change::TypesGone(missing(new, old)));
    let capacities = |of: &Record| {
        let capacity = of.servers[0].capacity.iter().map(|c| c.value());
        of.resources.iter().cloned().zip(capacity).collect_vec()
    };
    let before = capacities(old);
    for (name, now) in capacities(new) {
        match before.iter().find(|(resource, _)| *resource == name) {
            None => changes.push(Change::NewResource(name)),
            Some((_, before)) if *before == now => {}
            Some((_, before)) => changes.push(Change::Capacity(name, *before, now)),
        }
    }
    let pairs = new.types.iter().filter_map(|now| {
        let before = old.types.iter().find(|t| t.name == now.name)?;
        Some((before, now))
    });
    let pairs: Vec<(&RecordType, &RecordType)> = pairs.collect();
    let differing = |of: fn(&RecordType) -> f64| -> Vec<(String, f64, f64)> {
        let figures = pairs.iter().map(|(b, n)| (n.name.clone(), of(b), of(n)));
        figures.filter(|(_, before, now)| before != now).collect()
    };
    changes.push(Change::ArrivalRates(differing(|t| t.arrival_rate.value())));
    changes.push(Change::MeanSizes(differing(|t| t.size.mean())));
    let needs = |of: &Record, kind: &RecordType| {
        let amounts = of.resources.iter().zip(&kind.demand);
        let named = amounts.map(|(resource, demand)| (resource.clone(), *demand));
        let needed = named.filter(|(_, demand)| demand.value() > 0.0);
        needed.sorted_by(|a, b| a.0.cmp(&b.0)).collect_vec()
    };
    let others = pairs.iter().filter(|(b, n)| needs(old, b) != needs(new, n));
    changes.push(Change::Demands(
        others.map(|(_, now)| now.name.clone()).collect(),
    ));
    changes.retain(|change| match change {
        Change::NewTypes(names) | Change::TypesGone(names) | Change::Demands(names) => {
            !names.is_empty()
        }
        Change::ArrivalRates(figures) | Change::MeanSizes(figures) => !figures.is_empty(),
        _ => true,
    });
    changes
}

/// The schedules that both have, by names of types, and how much of the time is spent otherwise.
fn mixes(before: Option<Mix>, now: Option<Mix>) -> Option<Change> {
    let (before, now) = (before?, now?);
    let weight = |of: &[(Named, f64)], schedule: &Named| -> f64 {
        let same = of.iter().filter(|(u, _)| u == schedule);
        same.map(|(_, weight)| weight).sum()
    };
    let there = |u: &Named| before.iter().any(|(v, _)| v == u);
    let kept = now.iter().filter(|(u, _)| there(u)).count();
    let alike: f64 = now.iter().map(|(u, p)| p.min(weight(&before, u))).sum();
    Some(Change::Mix {
        kept,
        new: now.len() - kept,
        gone: before.len().saturating_sub(kept),
        otherwise: (1.0 - alike).max(0.0),
    })
}

/// A schedule by names of types, those that run only.
type Named = Vec<(String, u32)>;

/// Schedules with their weights.
type Mix = Vec<(Named, f64)>;

/// The mix with its schedules by names of types.
fn named(artifact: &Artifact, server: &Server<'_>) -> Option<Mix> {
    let (schedules, weights) = server.mix()?;
    let types = &artifact.workload.types;
    let of = |u: &Schedule| {
        let counts = types.iter().zip(u).filter(|(_, count)| **count > 0);
        let counts = counts.map(|(kind, count)| (kind.name.clone(), *count));
        counts.sorted().collect_vec()
    };
    let schedules = schedules.iter().map(of);
    Some(schedules.zip(weights.iter().copied()).collect())
}
