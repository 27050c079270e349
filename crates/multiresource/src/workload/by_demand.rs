//! Which type a job has by what it demands.

use super::{Dominating, Fleet, JobType};
use synth_core::number::{Decimal, seconds_in};

/// Types that demand decides among, and of types with one demand their limits.
#[derive(Clone, Debug)]
pub struct ByDemand {
    /// Types of one server, and of several.
    by_nodes: [Group; 2],
}

#[derive(Clone, Debug)]
struct Group {
    dominating: Dominating,
    /// The types, as they are counted there.
    places: Vec<usize>,
}

impl ByDemand {
    /// Returns those of a fleet, with these demands (K × R) in whole units, and prices of units, or none.
    ///
    /// # Errors
    /// Two types that neither demand nor limits tell apart, by name.
    pub fn new(fleet: &Fleet, prices: &[f64], demands: &[Vec<u64>]) -> Result<Self, [String; 2]> {
        if let Some(names) = alike(fleet, demands) {
            return Err(names.map(str::to_owned));
        }
        let (worths, limits) = (worths(fleet, prices), limits(fleet));
        let group = |is_of: fn(u32) -> bool| {
            let types = 0..fleet.types().len();
            let places: Vec<usize> = types.filter(|i| is_of(fleet.types()[*i].nodes())).collect();
            let own = places.iter().map(|i| {
                let demand = demand(&demands[*i], fleet.types()[*i].nodes());
                (demand, limits[*i])
            });
            Group {
                dominating: Dominating::sorted(own, &worths),
                places,
            }
        };
        Ok(ByDemand {
            by_nodes: [group(|nodes| nodes == 1), group(|nodes| nodes > 1)],
        })
    }

    /// Returns the type of a job with so many units of each resource (R) on each of so many servers, that runs at most
    /// so long \[s\]: the cheapest that holds it; of those with one demand that of the least limit which is not below
    /// its own, or of the largest.
    pub fn find(&self, units: &[u64], nodes: u32, promised: f64) -> Option<usize> {
        let group = &self.by_nodes[usize::from(nodes > 1)];
        let alike = group.dominating.types_of(&demand(units, nodes));
        let own = alike.iter().find(|(limit, _)| promised <= *limit);
        own.or(alike.last()).map(|(_, place)| group.places[*place])
    }
}

/// Returns a demand for so many units of each resource (R) on each of so many servers, with their number (R + 1).
fn demand(units: &[u64], nodes: u32) -> Vec<f64> {
    let units = units.iter().map(|units| *units as f64);
    units.chain([f64::from(nodes)]).collect()
}

/// By type, the limit of its jobs \[s\]; infinite where it has none, or its unit of time is not known.
fn limits(fleet: &Fleet) -> Vec<f64> {
    let second = seconds_in(fleet.time_unit());
    let limit = |job: &JobType| {
        let seconds = job.limit().map(Decimal::value).zip(second);
        seconds.map_or(f64::INFINITY, |(limit, second)| limit * second)
    };
    fleet.types().iter().map(limit).collect()
}

/// Two types that neither these demands (K × R) nor limits tell apart, by name.
pub fn alike<'a>(fleet: &'a Fleet, demands: &[Vec<u64>]) -> Option<[&'a str; 2]> {
    let (types, limits) = (fleet.types(), limits(fleet));
    let own = |i: usize| (&demands[i], types[i].nodes(), limits[i]);
    (0..types.len()).find_map(|first| {
        let second = (first + 1..types.len()).find(|second| own(*second) == own(first))?;
        Some([first, second].map(|i| types[i].name()))
    })
}

/// How many whole units of each resource are worth as much as one of the others: the inverse of its price. A millionth of
/// what a unit is of all capacity decides where the certificate gives nothing for a resource that is never scarce.
fn worths(fleet: &Fleet, prices: &[f64]) -> Vec<f64> {
    let resources = fleet.envelope().resources();
    let units = |j: usize| -> f64 {
        let shapes = fleet.shapes().iter().enumerate();
        let units = shapes.map(|(h, shape)| f64::from(shape.count()) * fleet.units(h)[j] as f64);
        units.sum()
    };
    let capacity: Vec<f64> = (0..resources.len()).map(units).collect();
    let pairs = capacity.iter().zip(prices);
    let all: f64 = pairs.map(|(c, price)| c * price).sum();
    let of = |(j, capacity): (usize, &f64)| match prices.get(j) {
        Some(price) if all > 0.0 => 1.0 / (price / all + 1e-6 / capacity.max(1.0)),
        _ => *capacity,
    };
    capacity.iter().enumerate().map(of).collect()
}
