use statrs::function::gamma::{gamma_ur, ln_gamma};

use synth_queues::ctmc::{ModulatedQueue, RelativeCompletions};

/// The bounds of theorem 8 in the MSR paper on `E[Q_i]`, corrected as in [`RelativeCompletions`].
#[derive(Clone, Copy, Debug)]
pub struct PaperBounds {
    /// `ρ_i`.
    pub load: f64,
    /// The minimum and the maximum of the relative completions `Δ(s)` \[jobs\].
    pub relative_range: (f64, f64),
    /// `(ρ + E[Δ(v)])/(1 − ρ) − max Δ` \[jobs\], where `v` is the state after a completion.
    pub lower: f64,
    /// `(ρ + E[Δ(v)])/(1 − ρ) − min Δ + β` \[jobs\], where `β` is the maximum number of servers.
    pub upper: f64,
    /// The approximation of section 6.4, limited to the bounds as in appendix C \[jobs\].
    pub approximation: f64,
}

impl PaperBounds {
    /// If the queue is unstable, the bounds and the approximation are infinite.
    pub fn new(queue: &ModulatedQueue<'_>) -> Self {
        let relative = RelativeCompletions::new(queue);
        let max_relative = relative.relative.iter().copied().fold(f64::MIN, f64::max);
        let min_relative = relative.relative.iter().copied().fold(f64::MAX, f64::min);
        let offered = queue.arrival_rate() / queue.service_rate();
        let (load, mean_relative) = (relative.load, relative.mean_relative);
        let [mut lower, mut upper, mut approximation] = [f64::INFINITY; 3];
        if load < 1.0 {
            let primary = relative.primary_term();
            lower = primary - max_relative;
            upper = primary - min_relative + f64::from(queue.max_servers());
            let mean_servers = offered / load;
            let p_wait = erlang_c(mean_servers, offered);
            approximation = p_wait * load * (1.0 + mean_relative) / (1.0 - load) + offered;
            approximation = approximation.min(upper).max(lower);
        }
        PaperBounds {
            load,
            relative_range: (min_relative, max_relative),
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
