use statrs::function::gamma::{gamma_ur, ln_gamma};

use synth_queues::ctmc::{ModulatedQueue, RelativeCompletions};

/// The corrected bounds of the MSR paper on the mean number of jobs of one type.
#[derive(Clone, Copy, Debug)]
pub struct PaperBounds {
    /// `ρ_i`.
    pub load: f64,
    /// The minimum and the maximum of `Δ(s)` \[jobs\].
    pub range_ahead: (f64, f64),
    /// `(ρ + E[Δ(v)])/(1 − ρ) − max Δ` (theorem 8), with the phase `v` after a completion \[jobs\].
    pub lower: f64,
    /// `(ρ + E[Δ(v)])/(1 − ρ) − min Δ + β` (theorem 8) \[jobs\].
    pub upper: f64,
    /// The approximation of section 6.4, which is clamped to the bounds (appendix C) \[jobs\].
    pub approximation: f64,
}

impl PaperBounds {
    /// Returns the bounds and the approximation; infinite if the queue is unstable.
    pub fn new(queue: &ModulatedQueue<'_>) -> Self {
        let relative = RelativeCompletions::new(queue);
        let most = relative.relative.iter().copied().fold(f64::MIN, f64::max);
        let least = relative.relative.iter().copied().fold(f64::MAX, f64::min);
        let offered = queue.arrival_rate() / queue.service_rate();
        let (load, ahead) = (relative.load, relative.mean_relative);
        let (mut lower, mut upper) = (f64::INFINITY, f64::INFINITY);
        let mut approximation = f64::INFINITY;
        if load < 1.0 {
            let primary = relative.primary_term();
            lower = primary - most;
            upper = primary - least + f64::from(queue.max_servers());
            let waits = erlang_c(offered / load, offered);
            approximation = waits * load * (1.0 + ahead) / (1.0 - load) + offered;
            approximation = approximation.min(upper).max(lower);
        }
        PaperBounds {
            load,
            range_ahead: (least, most),
            lower,
            upper,
            approximation,
        }
    }
}

/// Returns Erlang's C, the probability of waiting in an M/M/k queue, for real numbers `k > a > 0`.
///
/// The blocking probability `B` satisfies `1/B = a ∫₀^∞ e^{−at}(1+t)^k dt = e^a a^{−k} Γ(k+1, a)`
/// (Jagerman, Bell System Technical Journal 53, 1974). Then `C = B/(1 − ρ(1 − B))` for `ρ = a/k`.
pub(crate) fn erlang_c(servers: f64, offered: f64) -> f64 {
    let ln_blocking = servers * offered.ln()
        - offered
        - ln_gamma(servers + 1.0)
        - gamma_ur(servers + 1.0, offered).max(f64::MIN_POSITIVE).ln();
    let blocking = ln_blocking.exp().min(1.0);
    blocking / (1.0 - offered / servers * (1.0 - blocking))
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erlang_c_of_integer_and_real_servers() {
        for load in [0.1, 0.5, 0.99] {
            assert!((erlang_c(1.0, load) - load).abs() < 1e-13);
            let two = 2.0 * load * load / (1.0 + load);
            assert!((erlang_c(2.0, 2.0 * load) / two - 1.0).abs() < 1e-12);
        }
        for (k, a) in [(0.5, 0.3), (2.7, 2.0), (11.3, 10.9), (0.05, 0.01)] {
            let steps = 400_000;
            let end = 60.0 / a;
            let h = end / f64::from(steps);
            let f = |t: f64| a * (-a * t).exp() * (1.0 + t).powf(k);
            let inner: f64 = (1..steps)
                .map(|n| f(f64::from(n) * h) * if n % 2 == 1 { 4.0 } else { 2.0 })
                .sum();
            let blocking = 3.0 / h / (f(0.0) + inner + f(end));
            let waits = blocking / (1.0 - a / k * (1.0 - blocking));
            assert!((erlang_c(k, a) / waits - 1.0).abs() < 1e-8, "{k} {a}");
        }
    }

    #[test]
    fn erlang_c_of_many_servers() {
        let blocking = |k: f64, a: f64| {
            let c = erlang_c(k, a);
            let rho = a / k;
            c * (1.0 - rho) / (1.0 - c * rho)
        };
        for (k, a) in [(1000.5, 950.0), (300.25, 10.0), (2500.0, 2499.0)] {
            let (b, next) = (blocking(k, a), blocking(k + 1.0, a));
            let expected = a * b / (k + 1.0 + a * b);
            assert!(next.is_finite() && (next - expected).abs() <= 1e-9 * expected + 1e-300);
        }
    }
}
