//! What a policy will cost. So far a prediction to choose route and switching rate by; exact
//! means are simulated.
//!
//! The number of type-i jobs is, up to bounded terms, `(ρ_i + E[Δ_i]) / (1 − ρ_i)` (the MSR
//! paper, theorem 8), where the *relative completions* Δ measure how far a phase of the chain
//! runs ahead of the mean: `G Δ = E[μ_i u_i] − μ_i u_i`, `E[Δ] = 0` (lemma 9; its line (6) has
//! a μ_i too many), and `E[Δ_i]` weighs them by completions. Switching faster makes Δ smaller as
//! 1/α and, where routes cost, ρ_i larger; the best α balances the two.

use nalgebra::{DMatrix, DVector};

use crate::artifact::MsrPolicy;
use crate::modulation::Modulation;
use crate::workload::Workload;

/// Predicts how the queues grow with the switching rate: the primary term of theorem 8.
#[derive(Debug)]
pub struct Prediction<'a> {
    workload: &'a Workload,
    modulation: &'a Modulation,
    /// `E[Δ_i]` (K) of the preemptive loop at switching rate 1.
    ahead: Vec<f64>,
}

impl<'a> Prediction<'a> {
    /// Prepares the prediction for a policy and its chain. The relative completions are those
    /// of the loop without its routes: routes are short where switching is slow, and where it
    /// is fast Δ is small.
    pub fn new(workload: &'a Workload, policy: &MsrPolicy, modulation: &'a Modulation) -> Self {
        let ahead = relative_completions(workload, policy);
        Prediction {
            workload,
            modulation,
            ahead,
        }
    }

    /// `Σ_i (ρ_i + E[Δ_i]) / (1 − ρ_i)` at this switching rate; infinite where some type is
    /// unstable. A yardstick for choosing, and no mean number of jobs: the bounded terms, jobs
    /// in service among them, are left out.
    pub fn primary_term(&self, rate: f64) -> f64 {
        let served = self.modulation.mean_schedule_at(rate);
        let of_type = |((kind, u), ahead): ((&crate::workload::JobType, f64), &f64)| {
            let load = kind.offered_load() / u;
            if load < 1.0 {
                (load + ahead / rate) / (1.0 - load)
            } else {
                f64::INFINITY
            }
        };
        self.workload
            .types()
            .iter()
            .zip(served)
            .zip(&self.ahead)
            .map(of_type)
            .sum()
    }

    /// The switching rate below `limit` with the least primary term, by golden section on
    /// its logarithm over six decades; and that term.
    pub fn best_rate(&self, limit: f64) -> (f64, f64) {
        let golden = (5_f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = ((limit * 1e-6).ln(), limit.ln());
        for _ in 0..60 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if self.primary_term(a.exp()) <= self.primary_term(b.exp()) {
                high = b
            } else {
                low = a
            }
        }
        let rate = (0.5 * (low + high)).exp();
        (rate, self.primary_term(rate))
    }
}

/// `E[Δ_i]`, weighted by completions, for each type in the preemptive loop at switching rate 1:
/// schedule s is left at rate `1/(N π_s)`.
fn relative_completions(workload: &Workload, policy: &MsrPolicy) -> Vec<f64> {
    let n = policy.order.len();
    let weight = |p: usize| policy.weights[policy.order[p]];
    let mut generator = DMatrix::<f64>::zeros(n, n);
    for p in 0..n {
        let rate = 1.0 / (n as f64 * weight(p));
        generator[(p, (p + 1) % n)] += rate;
        generator[(p, p)] -= rate;
    }
    // One equation is redundant: E[Δ] = 0 takes its place.
    for p in 0..n {
        generator[(n - 1, p)] = weight(p);
    }
    let factors = generator.lu();
    let of_type = |(i, kind): (usize, &crate::workload::JobType)| {
        let speed = |p: usize| kind.service_rate() * f64::from(policy.schedule(p)[i]);
        let mean: f64 = (0..n).map(|p| weight(p) * speed(p)).sum();
        let mut right = DVector::from_fn(n, |p, _| mean - speed(p));
        right[n - 1] = 0.0;
        let ahead = factors.solve(&right)?;
        Some((0..n).map(|p| weight(p) * speed(p) * ahead[p]).sum::<f64>() / mean)
    };
    // The loop is irreducible, so the system is regular; a type that is never served in it
    // has no mean and no Δ.
    let all = workload.types().iter().enumerate().map(of_type);
    all.map(|ahead| ahead.filter(|a| a.is_finite()).unwrap_or(0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::artifact::{Backfill, EmptySlots, Preemption, Route};

    fn section7(route: Route, rate: f64) -> (Workload, MsrPolicy) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
        let policy = MsrPolicy {
            preemption: Preemption::None,
            schedules: vec![vec![0, 0, 2], vec![1, 4, 0]],
            weights: vec![0.5, 0.5],
            order: vec![0, 1],
            switching_rate: rate,
            setup_rate: None,
            route,
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
        };
        (Workload::read(path.as_ref()).unwrap().workload, policy)
    }

    /// Two states left at rate 1 each, service 0 and c: Δ = ∓c/4 by appendix D of the MSR paper
    /// (whose α stands in the numerator by mistake), so that E[Δ] by completions is c/4.
    #[test]
    fn relative_completions_of_two_states() {
        let (workload, policy) = section7(Route::ALL[0], 0.1);
        for (found, most) in relative_completions(&workload, &policy)
            .iter()
            .zip([1.0, 4.0, 2.0])
        {
            assert!((found - most / 4.0).abs() < 1e-14, "{found}");
        }
    }

    /// Section 7 at ρ = .9: the exact optima of the mean number over α for the four routes,
    /// from an independent computation. The prediction comes within 15 % of each α*, and puts
    /// the routes in their order.
    #[test]
    fn predicted_rates_are_near_the_exact_optima() {
        let mut before = 0.0;
        for (route, exact) in [
            ("sequential-eager", 0.17308),
            ("concurrent-eager", 0.11523),
            ("concurrent-late", 0.06471),
            ("sequential-late", 0.05270),
        ] {
            let (workload, policy) = section7(route.parse().unwrap(), 0.1);
            let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
            let prediction = Prediction::new(&workload, &policy, &modulation);
            let (rate, term) = prediction.best_rate(modulation.largest_stable_rate(&workload));
            assert!(
                (rate / exact - 1.0).abs() < 0.15,
                "{route}: {rate} for {exact}"
            );
            assert!(term > before, "{route}: {term}");
            before = term;
        }
    }
}
