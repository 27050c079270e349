use std::cmp::Ordering;

use super::JobType;
use synth_core::number::Decimal;

/// A list of the types, which determines the type of a job when it arrives.
///
/// A job is assigned to the cheapest type, by `n Σ_r d_r/P_r` for n servers, that covers its demand
/// and number of servers, so that every schedule of types is feasible for the jobs. Among types of
/// equal demand, it is the one with the smallest sufficient limit, or else with the largest limit.
#[derive(Clone, Debug)]
pub struct TypeAssignment {
    /// Sorted by cost, demand and limit.
    types: Vec<Candidate>,
}

#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) place: usize,
    /// Demand (R) on each server, followed by the number of servers if that matters.
    pub(super) demand: Vec<f64>,
    /// The limit \[time\], which is infinite if there is none.
    pub(super) limit: f64,
}

impl TypeAssignment {
    /// Creates the list from the job types, and the total amount of each resource (R).
    pub fn new(types: &[JobType], total: &[f64]) -> Self {
        let types = types.iter().enumerate().map(|(place, job)| {
            let demand = job.demand().iter().map(|d| d.value());
            Candidate {
                place,
                demand: demand.chain([f64::from(job.nodes())]).collect(),
                limit: job.limit().map_or(f64::INFINITY, Decimal::value),
            }
        });
        Self::sorted(types, total)
    }

    /// Creates the list without limits from the demands (K × R, or R + 1 with number of servers).
    pub fn of(demands: &[Vec<f64>], total: &[f64]) -> Self {
        let types = demands.iter().enumerate().map(|(place, demand)| Candidate {
            place,
            demand: demand.clone(),
            limit: f64::INFINITY,
        });
        Self::sorted(types, total)
    }

    pub(super) fn sorted(types: impl Iterator<Item = Candidate>, total: &[f64]) -> Self {
        let cost = |own: &Candidate| -> f64 {
            let pairs = own.demand.iter().zip(total);
            let there = pairs.filter(|(_, total)| **total > 0.0);
            let nodes = own.demand.get(total.len()).copied().unwrap_or(1.0);
            nodes * there.map(|(demand, total)| demand / total).sum::<f64>()
        };
        let mut types: Vec<Candidate> = types.collect();
        types.sort_by(|a, b| {
            let by_cost = cost(a).total_cmp(&cost(b));
            // All of them are nonnegative numbers.
            let by_demand = a.demand.partial_cmp(&b.demand).unwrap_or(Ordering::Equal);
            by_cost.then(by_demand).then(a.limit.total_cmp(&b.limit))
        });
        TypeAssignment { types }
    }

    /// Returns the limit and the index of each type that can be used for this demand. The last one
    /// is also used for larger limits. The list is empty if there is no such type. O(K R).
    pub fn candidate_types(&self, demand: &[f64]) -> Vec<(f64, usize)> {
        let holds = |own: &&Candidate| demand.iter().zip(&own.demand).all(|(d, held)| d <= held);
        let Some(cheapest) = self.types.iter().find(holds) else {
            return Vec::new();
        };
        let types = self.types.iter();
        let alike = types.filter(|own| own.demand == cheapest.demand);
        alike.map(|own| (own.limit, own.place)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::workload::Workload;

    #[test]
    fn assigns_the_cheapest_sufficient_type() {
        let demands = vec![vec![8.0, 64.0], vec![4.0, 4.0], vec![8.0, 8.0]];
        let types = TypeAssignment::of(&demands, &[10.0, 20.0]);
        let of = |demand: [f64; 2]| Some(types.candidate_types(&demand).first()?.1);
        assert_eq!(of([3.0, 4.0]), Some(1));
        assert_eq!(of([5.0, 4.0]), Some(2));
        assert_eq!(of([1.0, 9.0]), Some(0));
        assert_eq!(of([9.0, 1.0]), None);
    }

    #[test]
    fn limits_distinguish_types_of_equal_demand() {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: long, demand: {cpu: 2}, arrival_rate: 1, mean_size: 1, limit: 9}
  - {name: wide, demand: {cpu: 5}, arrival_rate: 1, mean_size: 1}
  - {name: short, demand: {cpu: 2}, arrival_rate: 1, mean_size: 1, limit: 3}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        let types = TypeAssignment::new(workload.types(), &[10.0]);
        assert_eq!(types.candidate_types(&[1.0]), [(3.0, 2), (9.0, 0)]);
        assert_eq!(types.candidate_types(&[3.0]), [(f64::INFINITY, 1)]);
    }
}
