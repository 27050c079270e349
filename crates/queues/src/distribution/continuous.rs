use statrs::function::gamma::ln_gamma;

use crate::ctmc::bisected;

/// Returns the mean `μ = ln(mean) − σ²/2` and the deviation `σ = √ln(1 + scv)` of `ln S`.
pub fn lognormal(mean: f64, scv: f64) -> (f64, f64) {
    let variance = scv.ln_1p();
    (mean.ln() - 0.5 * variance, variance.sqrt())
}

/// Returns the shape `k` and the scale `s` of the distribution `P(S > x) = exp(−(x/s)^k)`.
///
/// For `x = 1/k`, `E[S] = s Γ(1+x)` and `1 + scv = Γ(1+2x)/Γ(1+x)²`. As `ln Γ` is convex, this
/// ratio increases with `x` from 1 and is not bounded.
pub fn weibull(mean: f64, scv: f64) -> (f64, f64) {
    let target = scv.ln_1p();
    let excess = |x: f64| ln_gamma(1.0 + 2.0 * x) - 2.0 * ln_gamma(1.0 + x) - target;
    let (mut low, mut high) = (0.0, 1.0);
    while excess(high) < 0.0 && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    let x = match scv {
        // The computed values of `ln Γ(1)` and `ln Γ(2)` may not be exactly 0.
        1.0 => 1.0,
        _ => bisected(0.0, [low, high], |x| excess(x) < 0.0)[1],
    };
    (1.0 / x, mean / ln_gamma(1.0 + x).exp())
}

/// Returns `E[S^r]` of the bounded Pareto distribution, where `P(S > x) ∝ x^−α − high^−α`.
///
/// Let `φ(z) = (e^z − 1)/z` with `φ(0) = 1`, and let `ρ = ln(high/low)`. Then `E[S^r]` is equal to
/// `low^r φ((r−α)ρ) / φ(−αρ)` for every shape `α > 0`, even if `α = r`.
pub(super) fn pareto_moment(shape: f64, low: f64, high: f64, r: f64) -> f64 {
    let range = (high / low).ln();
    low.powf(r) * (relative_growth((r - shape) * range) / relative_growth(-shape * range))
}

pub(super) fn pareto_scv(shape: f64, low: f64, high: f64) -> f64 {
    let range = (high / low).ln();
    let z = [0.0, 1.0, 2.0].map(|r| (r - shape) * range);
    if range * shape.max(1.0) < 1.0 {
        // `φ(z) = e^(z/2) sinh(z/2)/(z/2)`, and the first factors cancel: no digits are lost.
        let [a, b, c] = z.map(ln_sinhc);
        return (a - 2.0 * b + c).exp_m1();
    }
    let [a, b, c] = z.map(relative_growth);
    ((c / b) * (a / b) - 1.0).max(0.0)
}

fn relative_growth(z: f64) -> f64 {
    if z == 0.0 { 1.0 } else { z.exp_m1() / z }
}

/// Returns `ln(sinh(z/2)/(z/2))` for `|z| ≤ 2`, using its series.
fn ln_sinhc(z: f64) -> f64 {
    // `sinh(y)/y − 1 = y²/6 (1 + y²/20 (1 + y²/42 (1 + y²/72 (…))))`
    let square = 0.25 * z * z;
    let sum = [20.0, 42.0, 72.0, 110.0, 156.0, 210.0]
        .iter()
        .rev()
        .fold(1.0, |rest, step| 1.0 + square / step * rest);
    (square / 6.0 * sum).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integral(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
        let steps = 200_000;
        let h = (b - a) / f64::from(steps);
        let weight = |n: i32| match n {
            0 => 1.0,
            n if n == steps => 1.0,
            n if n % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = (0..=steps)
            .map(|n| weight(n) * f(a + h * f64::from(n)))
            .sum();
        sum * h / 3.0
    }

    fn by_integration(density: impl Fn(f64) -> f64, a: f64, b: f64) -> (f64, f64) {
        let moment = |r: f64| integral(|t| (r * t).exp() * density(t), a, b);
        let [zeroth, first, second] = [0.0, 1.0, 2.0].map(moment);
        assert!((zeroth - 1.0).abs() < 1e-9, "a density, not {zeroth}");
        (first, second / (first * first) - 1.0)
    }

    #[test]
    fn lognormal_parameters_reproduce_mean_and_variation() {
        for (mean, scv) in [(1.0, 1.0), (3.0, 0.01), (0.2, 4.0), (1.0, 30.0)] {
            let (mu, sigma) = lognormal(mean, scv);
            let density = |t: f64| {
                let z = (t - mu) / sigma;
                (-0.5 * z * z).exp() / (sigma * std::f64::consts::TAU.sqrt())
            };
            let found = by_integration(density, mu - 14.0 * sigma, mu + 14.0 * sigma);
            assert!((found.0 / mean - 1.0).abs() < 1e-9, "{scv}: {found:?}");
            assert!((found.1 / scv - 1.0).abs() < 1e-7, "{scv}: {found:?}");
        }
    }

    #[test]
    fn weibull_parameters_reproduce_mean_and_variation() {
        for (mean, scv) in [(1.0, 1.0), (3.0, 0.01), (0.2, 4.0), (1.0, 100.0)] {
            let (shape, scale) = weibull(mean, scv);
            let density = |t: f64| {
                let y = (shape * (t - scale.ln())).exp();
                shape * y * (-y).exp()
            };
            let (a, b) = (-40.0 / shape, 5.0 / shape);
            let found = by_integration(density, scale.ln() + a, scale.ln() + b);
            assert!((found.0 / mean - 1.0).abs() < 1e-9, "{scv}: {found:?}");
            assert!((found.1 / scv - 1.0).abs() < 1e-7, "{scv}: {found:?}");
        }
    }

    /// For the shapes ½, ⅓, ¼ and 2, the expected values are 5, 19, 69 and `4/π − 1`.
    #[test]
    fn weibull_shapes_have_their_closed_form() {
        let known = [
            (1.0, 1.0),
            (0.5, 5.0),
            (1.0 / 3.0, 19.0),
            (0.25, 69.0),
            (2.0, 4.0 / std::f64::consts::PI - 1.0),
        ];
        for (shape, scv) in known {
            let (found, scale) = weibull(3.0, scv);
            assert!((found / shape - 1.0).abs() < 1e-13, "{scv}: {found}");
            let mean = scale * ln_gamma(1.0 + 1.0 / shape).exp();
            assert!((mean / 3.0 - 1.0).abs() < 1e-13);
        }
        // For large `k`, `scv ≈ π²/(6 k²)`.
        let (shape, _) = weibull(1.0, 1e-6);
        let limit = std::f64::consts::PI / 6.0_f64.sqrt() * 1e3;
        assert!((shape / limit - 1.0).abs() < 2e-3, "{shape}");
        let (shape, scale) = weibull(1.0, 1e6);
        assert!(shape > 0.05 && scale > 0.0, "{shape} {scale}");
    }

    #[test]
    fn pareto_moments_agree_with_integration() {
        for shape in [1e-9, 0.5, 1.0, 1.0 + 1e-9, 1.5, 2.0, 2.0 - 1e-9, 3.0, 40.0] {
            for ratio in [1.001, 2.0, 1e3, 1e6] {
                let (low, high): (f64, f64) = (0.5, 0.5 * ratio);
                let range = f64::ln(ratio);
                // `ln S` is exponential with rate `α`, and it is truncated at both ends.
                let mass = -(-shape * range).exp_m1();
                let density = |t: f64| shape * (-shape * (t - low.ln())).exp() / mass;
                let (mean, scv) = by_integration(density, low.ln(), high.ln());
                let found = (
                    pareto_moment(shape, low, high, 1.0),
                    pareto_scv(shape, low, high),
                );
                let what = format!("{shape} {ratio}: {found:?} for {mean} {scv}");
                assert!((found.0 / mean - 1.0).abs() < 1e-8, "{what}");
                let slack = 1e-8 * scv + 1e-9;
                assert!((found.1 - scv).abs() < slack, "{what}");
            }
        }
    }

    /// The limit is `ρ²/12` for a narrow range, and `1/(α(α−2))` if there is no upper limit.
    #[test]
    fn pareto_variation_is_accurate_in_the_limits() {
        for shape in [1e-300, 1.0, 2.0] {
            let scv = pareto_scv(shape, 1.0, 1.0 + 1e-6);
            assert!((scv * 12e12 - 1.0).abs() < 2e-6, "{shape}: {scv}");
        }
        assert!((pareto_scv(4.0, 1.0, 1e12) - 0.125).abs() < 1e-9);
        assert!((pareto_moment(4.0, 1.0, 1e12, 1.0) - 4.0 / 3.0).abs() < 1e-12);
        let (below, above) = (1.0_f64 - 1e-12, 1.0_f64 + 1e-12);
        for shape in [0.01, 0.5, 1.0] {
            let [a, b] = [below, above].map(|range| pareto_scv(shape, 1.0, range.exp()));
            assert!((a / b - 1.0).abs() < 1e-11, "{shape}: {a} {b}");
        }
        assert!(pareto_scv(1e10, 1.0, 1e300) < 1e-15);
        let uniform = pareto_moment(1e-300, 1.0, std::f64::consts::E, 1.0);
        assert!((uniform - (std::f64::consts::E - 1.0)).abs() < 1e-15);
    }
}
