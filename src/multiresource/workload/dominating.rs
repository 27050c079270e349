//! Which type stands for a job: one that holds at least what the job does.

use super::{JobType, Workload};

/// The types of a workload, to be asked which of them a demand goes to.
///
/// A job goes to the type of least priced demand Σ_r `y_r` `d_r` of those that hold at least as much of each resource;
/// of equals to the first. Every schedule of types then is one of jobs, and where a job goes depends on its demand
/// alone: the workload says it, and no further table does.
#[derive(Clone, Debug)]
pub struct Dominating {
    /// Demand of each type (R), the cheapest first.
    demands: Vec<(usize, Vec<f64>)>,
}

impl Dominating {
    /// The K types with demands for each of R resources, at these prices (R), each ≥ 0.
    #[must_use]
    pub fn new(types: &[JobType], prices: &[f64]) -> Self {
        let demand = |job: &JobType| job.demand().iter().map(|d| d.value()).collect();
        Self::of(types.iter().map(demand).collect(), prices)
    }

    /// The same of demands (K × R).
    #[must_use]
    pub fn of(demands: Vec<Vec<f64>>, prices: &[f64]) -> Self {
        let cost = |demand: &[f64]| -> f64 { demand.iter().zip(prices).map(|(d, y)| d * y).sum() };
        let mut demands: Vec<(usize, Vec<f64>)> = demands.into_iter().enumerate().collect();
        // Stable: of equals the first type.
        demands.sort_by(|a, b| cost(&a.1).total_cmp(&cost(&b.1)));
        Dominating { demands }
    }

    /// The type that a job with this demand (R) goes to; `None` where it demands more than each of them. O(K R).
    #[must_use]
    pub fn type_of(&self, demand: &[f64]) -> Option<usize> {
        let holds = |held: &[f64]| demand.iter().zip(held).all(|(d, held)| d <= held);
        let found = self.demands.iter().find(|(_, held)| holds(held));
        found.map(|(i, _)| *i)
    }
}

/// Prices y (R) of the resources of a server by what is asked of them: `y_r = ρ_r / (ρ P_r)`, with
/// `ρ_r = Σ_i λ_i E[S_i] D_ir / P_r` and ρ the largest of them. They are those of the fluid program, where one
/// resource binds, and near those of the program where several do.
#[must_use]
pub fn fluid_prices(workload: &Workload) -> Vec<f64> {
    let resources = workload.resources().iter();
    let capacity: Vec<f64> = resources.map(|r| r.capacity().value()).collect();
    let load = |j: usize| {
        let types = workload.types().iter();
        let work = types.map(|job| job.offered_load() * job.demand()[j].value());
        work.sum::<f64>() / capacity[j]
    };
    let loads: Vec<f64> = (0..capacity.len()).map(load).collect();
    let largest = loads.iter().copied().fold(0.0, f64::max);
    let prices = loads.iter().zip(&capacity);
    prices
        .map(|(load, capacity)| load / (largest * capacity))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_job_goes_to_the_cheapest_type_that_holds_it() {
        let demands = vec![vec![8.0, 64.0], vec![4.0, 4.0], vec![8.0, 8.0]];
        let types = Dominating::of(demands, &[1.0, 0.5]);
        assert_eq!(types.type_of(&[3.0, 4.0]), Some(1));
        assert_eq!(types.type_of(&[5.0, 4.0]), Some(2));
        assert_eq!(types.type_of(&[1.0, 9.0]), Some(0));
        assert_eq!(types.type_of(&[9.0, 1.0]), None);
    }

    #[test]
    fn the_resource_that_binds_has_one_over_its_capacity_for_a_price() {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10, memory: 100}}\njobs:\n  \
            - {name: a, demand: {cpu: 1, memory: 5}, arrival_rate: 2, mean_size: 1}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        assert_eq!(fluid_prices(&workload), [0.1, 0.005]);
    }
}
