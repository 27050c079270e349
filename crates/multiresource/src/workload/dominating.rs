//! Which type stands for a job: one that holds at least what the job does.

use super::JobType;
use synth_core::number::Decimal;

/// The types of a workload, and which of them a job goes to.
///
/// It goes to the type that takes least of the servers, `n Σ_r d_r/P_r` with n servers at once, of those that hold at least as much of each
/// resource r, on as many servers, of equals to the first: every schedule of types then is one of jobs. Of several types with that demand it
/// goes to the one of the least limit that is not below what it promises, and to the one of the largest where all are.
/// So where a job goes depends on what is known when it comes, and the workload says it: no further table does, and
/// no rate that may change.
#[derive(Clone, Debug)]
pub struct Dominating {
    /// The cheapest first, and of one demand that of the least limit.
    types: Vec<Candidate>,
}

#[derive(Clone, Debug)]
struct Candidate {
    place: usize,
    /// Demand (R) on each server; and, where servers are distinguished, on how many at once.
    demand: Vec<f64>,
    /// Limit \[time\]; infinite where it has none.
    limit: f64,
}

impl Dominating {
    /// Returns these K types, on servers that together have so much of each of R resources.
    pub fn new(types: &[JobType], total: &[f64]) -> Self {
        let types = types.iter().map(|job| {
            let demand = job.demand().iter().map(|d| d.value());
            let demand = demand.chain([f64::from(job.nodes())]).collect();
            (demand, job.limit().map_or(f64::INFINITY, Decimal::value))
        });
        Self::sorted(types, total)
    }

    /// Types of these demands (K × R, or K × (R + 1) with the number of servers that each takes at once) without limits.
    pub fn of(demands: &[Vec<f64>], total: &[f64]) -> Self {
        let types = demands.iter().map(|demand| (demand.clone(), f64::INFINITY));
        Self::sorted(types, total)
    }

    /// Returns types with these demands and limits \[time\].
    pub(super) fn sorted(types: impl Iterator<Item = (Vec<f64>, f64)>, total: &[f64]) -> Self {
        let mut types: Vec<Candidate> = types
            .enumerate()
            .map(|(place, (demand, limit))| Candidate {
                place,
                demand,
                limit,
            })
            .collect();
        let cost = |own: &Candidate| -> f64 {
            let pairs = own.demand.iter().zip(total);
            let there = pairs.filter(|(_, total)| **total > 0.0);
            let nodes = own.demand.get(total.len()).copied().unwrap_or(1.0);
            nodes * there.map(|(demand, total)| demand / total).sum::<f64>()
        };
        let demand = |own: &Candidate| own.demand.iter().map(|d| d.to_bits()).collect::<Vec<_>>();
        types.sort_by(|a, b| {
            let by_cost = cost(a).total_cmp(&cost(b));
            by_cost
                .then_with(|| demand(a).cmp(&demand(b)))
                .then(a.limit.total_cmp(&b.limit))
        });
        Dominating { types }
    }

    /// The types of jobs with this demand (R, or R + 1), each with the limit up to which jobs go to it; those that promise more, or
    /// nothing, go to the last. None where it demands more than each type. O(K R).
    pub fn types_of(&self, demand: &[f64]) -> Vec<(f64, usize)> {
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
    fn a_job_goes_to_the_cheapest_type_that_holds_it() {
        let demands = vec![vec![8.0, 64.0], vec![4.0, 4.0], vec![8.0, 8.0]];
        let types = Dominating::of(&demands, &[10.0, 20.0]);
        let of = |demand: [f64; 2]| types.types_of(&demand).first().map(|(_, place)| *place);
        assert_eq!(of([3.0, 4.0]), Some(1));
        assert_eq!(of([5.0, 4.0]), Some(2));
        assert_eq!(of([1.0, 9.0]), Some(0));
        assert_eq!(of([9.0, 1.0]), None);
    }

    #[test]
    fn limits_tell_types_of_one_demand_apart() {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: long, demand: {cpu: 2}, arrival_rate: 1, mean_size: 1, limit: 9}
  - {name: wide, demand: {cpu: 5}, arrival_rate: 1, mean_size: 1}
  - {name: short, demand: {cpu: 2}, arrival_rate: 1, mean_size: 1, limit: 3}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        let types = Dominating::new(workload.types(), &[10.0]);
        assert_eq!(types.types_of(&[1.0]), [(3.0, 2), (9.0, 0)]);
        assert_eq!(types.types_of(&[3.0]), [(f64::INFINITY, 1)]);
    }
}
