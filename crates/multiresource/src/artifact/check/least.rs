//! Lower bounds for policies that do not know the sizes, without preemption or with exponential
//! sizes. At the prices of the evidence a running job of type i is worth `v_i = y_i/b_i`, and all
//! running jobs at most `C = 1/bound`. The sum U of `v_i` times the remaining size over all jobs
//! decreases at most at rate C, so it is at least the work V in a single queue that is served at
//! rate C, in which the same jobs bring work `v_i S_i`. With Poisson arrivals
//! `E[V] = Σ λ_i v_i² E[S_i²] / (2 (C − 1))` (Pollaczek–Khinchine), since `Σ λ_i v_i E[S_i] = 1`. A
//! waiting job has all of its size remaining, with mean `E[S_i]`, and the running jobs of type i
//! have `λ_i E[S_i²]/2` in total, so
//!
//! ```text
//! Σ v_i E[S_i] (E[N_i] − b_i) ≥ Σ λ_i v_i² E[S_i²] / (2 (C − 1)) − Σ λ_i v_i E[S_i²] / 2
//! ```
//!
//! With preemption, the remaining size of a waiting job may be smaller, but its mean is `E[S_i]`
//! for every job if sizes are exponential and unknown, so `E[U] ≥ E[V]` is the same inequality.

use crate::artifact::{Evidence, Family};
use crate::workload::{JobType, Workload};

pub(super) struct NumberLowerBounds {
    offered: Vec<f64>,
    /// `v_i E[S_i]` (K).
    weights: Vec<f64>,
    /// Lower bound on `Σ weight_i (E[N_i] − b_i)`.
    waiting: f64,
}

impl NumberLowerBounds {
    /// Uses the prices of verified evidence. Otherwise, without Poisson arrivals, with known sizes
    /// or limits, or with preemption and sizes that are not exponential, only running jobs count.
    pub(super) fn new(evidence: Option<&Evidence>, workload: &Workload, rule: &Family) -> Self {
        let types = workload.types();
        let is_exponential = |kind: &JobType| kind.holding_time().is_exponential();
        let exponential = || types.iter().all(is_exponential);
        let holds = !workload.has_limits() && (!rule.preempts() || exponential());
        let offered: Vec<f64> = types.iter().map(JobType::offered_load).collect();
        let proof = evidence.filter(|proof| holds && workload.is_poisson() && proof.bound < 1.0);
        let prices = proof.map_or(vec![0.0; types.len()], |proof| proof.prices.clone());
        let values: Vec<f64> = prices.iter().zip(&offered).map(|(y, b)| y / b).collect();
        let spare = proof.map_or(f64::INFINITY, |proof| 1.0 / proof.bound - 1.0);
        let work = |(kind, v): (&JobType, &f64)| {
            let square = (1.0 + kind.holding_time().scv()) * kind.mean_size().powi(2);
            kind.arrival_rate() * v * square / 2.0 * (v / spare - 1.0)
        };
        let sizes = types.iter().map(JobType::mean_size);
        NumberLowerBounds {
            waiting: types.iter().zip(&values).map(work).sum::<f64>().max(0.0),
            weights: values.iter().zip(sizes).map(|(v, mean)| v * mean).collect(),
            offered,
        }
    }

    /// Returns the bound on `Σ a_i E[N_i]` for a ≥ 0 (K).
    pub(super) fn lower_bound(&self, factors: &[f64]) -> f64 {
        let pairs = factors.iter().zip(&self.weights);
        let weighted = pairs.filter(|(_, weight)| **weight > 0.0);
        let cheapest = weighted.map(|(a, w)| a / w).fold(f64::INFINITY, f64::min);
        // If the bound is zero, there may be no type with a weight.
        let waiting = match self.waiting > 0.0 {
            true => self.waiting * cheapest,
            false => 0.0,
        };
        let present = factors.iter().zip(&self.offered).map(|(a, b)| a * b);
        present.sum::<f64>() + waiting
    }

    /// Returns the relative violation by these mean numbers (K), if there is one.
    pub(super) fn missing(&self, numbers: &[f64]) -> Option<f64> {
        let pairs = numbers.iter().zip(&self.offered).zip(&self.weights);
        let found: f64 = pairs.map(|((n, b), weight)| weight * (n - b)).sum();
        (found < self.waiting).then(|| 1.0 - found / self.waiting)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::policy::{Backfilling, BackfillingConfig};

    fn evidence(bound: f64, prices: &[f64]) -> Evidence {
        Evidence {
            load: bound,
            prices: prices.to_vec(),
            servers: Vec::new(),
            bound,
            gap: 0.0,
            proven: true,
            exact: None,
            simulation: None,
        }
    }

    fn first_fit() -> Family {
        BackfillingConfig::new(Backfilling::FIRST_FIT, true).into()
    }

    fn workload(known: &str, size: &str) -> Workload {
        let text = format!(
            "kind: multiresource\n{known}time_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  \
             - {{name: a, demand: {{cpu: 1}}, arrival_rate: .8, {size}}}\n"
        );
        Workload::parse(&text, "one").unwrap().workload
    }

    #[test]
    fn the_bound_is_tight_on_a_single_server() {
        for (size, scv) in [
            ("mean_size: 1", 1.0),
            ("size: {law: deterministic, mean: 1}", 0.0),
            ("size: {law: hyperexponential, mean: 1, scv: 4}", 4.0),
        ] {
            let least = NumberLowerBounds::new(
                Some(&evidence(0.8, &[1.0])),
                &workload("", size),
                &first_fit(),
            );
            let exact = 0.8 + 0.64 * (1.0 + scv) / 0.4;
            assert!((least.lower_bound(&[1.0]) - exact).abs() < 1e-12, "{size}");
            assert_eq!(least.missing(&[exact * (1.0 + 1e-12)]), None);
            assert!(least.missing(&[exact * (1.0 - 1e-9)]).is_some());
        }
    }

    #[test]
    fn without_a_proof_only_running_jobs_count() {
        let proof = evidence(0.8, &[1.0]);
        for (proof, known) in [(None, ""), (Some(&proof), "known: size\n")] {
            let least =
                NumberLowerBounds::new(proof, &workload(known, "mean_size: 1"), &first_fit());
            assert_eq!(least.lower_bound(&[1.0]), 0.8);
            assert_eq!(least.missing(&[0.8]), None);
        }
    }
}
