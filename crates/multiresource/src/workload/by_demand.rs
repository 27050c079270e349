use super::dominating::Candidate;
use super::{Fleet, JobType, TypeAssignment};
use synth_core::number::{Decimal, seconds_in};

/// Determines the type of a job from its demand, and from its limit if several types have it.
#[derive(Clone, Debug)]
pub struct DemandClassifier {
    /// The types of jobs on one server, and of gangs.
    by_nodes: [TypeAssignment; 2],
}

impl DemandClassifier {
    /// Takes the demands of a fleet's types (K × R) in integer units, and prices of the units or
    /// none. The error contains the names of two types with the same demand and limit.
    pub fn new(fleet: &Fleet, prices: &[f64], demands: &[Vec<u64>]) -> Result<Self, [String; 2]> {
        if let Some(names) = indistinguishable_types(fleet, demands) {
            return Err(names.map(str::to_owned));
        }
        let (types, worths, limits) = (fleet.types(), worths(fleet, prices), limits(fleet));
        let by_nodes = [false, true].map(|gangs| {
            let places = (0..types.len()).filter(|i| (types[*i].nodes() > 1) == gangs);
            let own = places.map(|place| Candidate {
                place,
                demand: demand(&demands[place], types[place].nodes()),
                limit: limits[place],
            });
            TypeAssignment::sorted(own, &worths)
        });
        Ok(DemandClassifier { by_nodes })
    }

    /// Returns the type of a job with these units (R) on each server and this limit \[s\]: the
    /// cheapest type that is sufficient, as for [`TypeAssignment`].
    pub fn find(&self, units: &[u64], nodes: u32, promised: f64) -> Option<usize> {
        let types = &self.by_nodes[usize::from(nodes > 1)];
        let alike = types.candidate_types(&demand(units, nodes));
        let own = alike.iter().find(|(limit, _)| promised <= *limit);
        own.or(alike.last()).map(|(_, place)| *place)
    }
}

fn demand(units: &[u64], nodes: u32) -> Vec<f64> {
    let units = units.iter().map(|units| *units as f64);
    units.chain([f64::from(nodes)]).collect()
}

/// Returns the limit of each type \[s\], or infinity.
fn limits(fleet: &Fleet) -> Vec<f64> {
    let second = seconds_in(fleet.time_unit());
    let limit = |job: &JobType| {
        let seconds = job.limit().map(Decimal::value).zip(second);
        seconds.map_or(f64::INFINITY, |(limit, second)| limit * second)
    };
    fleet.types().iter().map(limit).collect()
}

/// Returns the names of two types with the same demand (K × R) and limit.
pub fn indistinguishable_types<'a>(fleet: &'a Fleet, demands: &[Vec<u64>]) -> Option<[&'a str; 2]> {
    let (types, limits) = (fleet.types(), limits(fleet));
    let own = |i: usize| (&demands[i], types[i].nodes(), limits[i]);
    (0..types.len()).find_map(|first| {
        let second = (first + 1..types.len()).find(|second| own(*second) == own(first))?;
        Some([first, second].map(|i| types[i].name()))
    })
}

/// Returns the inverse of the price of a unit (R), as a fraction of the price of all capacity, or
/// the capacity if there are no prices. A millionth of the unit's fraction of the capacity is
/// added, which matters for resources without a price.
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
