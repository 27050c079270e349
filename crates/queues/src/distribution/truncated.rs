use std::f64::consts::FRAC_1_SQRT_2;

use statrs::function::erf::erfc;
use statrs::function::gamma::{checked_gamma_lr, checked_gamma_ur};

use super::continuous::{lognormal, pareto_moment, weibull};
use super::size::{SizeDistribution, average, balanced};
use synth_core::number::Decimal;

impl SizeDistribution {
    /// Returns `P(S > a)`, `E[S; S ≤ a]` and `E[S²; S ≤ a]` \[1, time, time²\] for `a > 0`, with
    /// the relative precision of the special functions. Returns `None` for a Coxian distribution
    /// with more than one stage, because there is no closed form.
    pub fn truncated(&self, a: f64) -> Option<[f64; 3]> {
        Some(match self {
            Self::Exponential { mean } => erlang(1, mean.value(), a),
            Self::Erlang { stages, mean } => erlang(*stages, mean.value(), a),
            Self::Hyperexponential { .. } => {
                let (means, probabilities) = self.weighted();
                let pairs = probabilities.unwrap_or_default().iter().zip(means);
                mixture(pairs.map(|(p, m)| (p.value(), m.value())), a)
            }
            Self::BalancedHyperexponential { mean, scv } => {
                let (probabilities, means) = balanced(mean.value(), scv.value());
                mixture(probabilities.into_iter().zip(means), a)
            }
            Self::Coxian { means, .. } => match means.as_slice() {
                [mean] => erlang(1, mean.value(), a),
                _ => return None,
            },
            Self::Deterministic { mean } => match mean.value() {
                size if size <= a => [0.0, size, size * size],
                _ => [1.0, 0.0, 0.0],
            },
            Self::Lognormal { mean, scv } => {
                let (mu, sigma) = lognormal(mean.value(), scv.value());
                let z = (a.ln() - mu) / sigma;
                let normal = |z: f64| 0.5 * erfc(-z * FRAC_1_SQRT_2);
                // Under the weight `S^n`, `ln S` is normal and its mean increases by `n` variances.
                let part = |n: i32| self.moment(n) * normal(z - f64::from(n) * sigma);
                [normal(-z), part(1), part(2)]
            }
            Self::Weibull { mean, scv } => {
                let (shape, scale) = weibull(mean.value(), scv.value());
                let x = (a / scale).powf(shape);
                let part = |n: i32| self.moment(n) * gamma(1.0 + f64::from(n) / shape, x)[0];
                [(-x).exp(), part(1), part(2)]
            }
            Self::Pareto { shape, low, high } => pareto([shape, low, high].map(|x| x.value()), a),
            Self::Uniform { low, high } => {
                let [low, high] = [low, high].map(|x| x.value());
                let top = a.clamp(low, high);
                let [above, chance] = [high - top, top - low].map(|part| part / (high - low));
                let square = (top * top + top * low + low * low) / 3.0;
                [above, chance * f64::midpoint(low, top), chance * square]
            }
            Self::Empirical { .. } => {
                let parts: [fn(f64, f64) -> f64; 3] = [
                    |x, a| f64::from(x > a),
                    |x, a| if x <= a { x } else { 0.0 },
                    |x, a| if x <= a { x * x } else { 0.0 },
                ];
                let value = |x: &Decimal| x.value();
                parts.map(|part| average(self.weighted(), value, |x| part(x.value(), a)))
            }
        })
    }
}

/// Returns `P(X ≤ x)` and `P(X > x)` of a gamma distribution with scale 1, for `x ≥ 0`.
fn gamma(order: f64, x: f64) -> [f64; 2] {
    if x <= 0.0 {
        return [0.0, 1.0];
    }
    let [below, above] = [checked_gamma_lr, checked_gamma_ur].map(|part| part(order, x));
    [below.unwrap_or(1.0), above.unwrap_or(0.0)]
}

/// A bounded Pareto distribution that is truncated at `a` is still a bounded Pareto distribution.
fn pareto([shape, low, high]: [f64; 3], a: f64) -> [f64; 3] {
    let top = a.clamp(low, high);
    let within = |from: f64, to: f64| -(shape * (from / to).ln()).exp_m1();
    let all = within(low, high);
    let chance = within(low, top) / all;
    let part = |r: f64| match chance > 0.0 {
        true => chance * pareto_moment(shape, low, top, r),
        false => 0.0,
    };
    let above = (low / top).powf(shape) * within(top, high) / all;
    [above, part(1.0), part(2.0)]
}

fn erlang(stages: u32, mean: f64, a: f64) -> [f64; 3] {
    let k = f64::from(stages);
    let x = a * k / mean;
    let [first, second] = [1.0, 2.0].map(|n| gamma(k + n, x)[0]);
    let square = mean * mean * (1.0 + 1.0 / k);
    [gamma(k, x)[1], mean * first, square * second]
}

fn mixture(branches: impl Iterator<Item = (f64, f64)>, a: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (probability, mean) in branches {
        let own = erlang(1, mean, a);
        let pairs = sums.iter_mut().zip(own);
        pairs.for_each(|(sum, x)| *sum += probability * x);
    }
    sums
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// This is based on `E[S^n; S ≤ a] = a^n P(S ≤ a) − ∫_0^a n x^(n−1) P(S ≤ x) dx`.
    #[test]
    fn moments_follow_from_probabilities() {
        let laws = [
            r#"{"law": "exponential", "mean": 2}"#,
            r#"{"law": "erlang", "stages": 3, "mean": 2}"#,
            r#"{"law": "hyperexponential", "probabilities": [0.3, 0.7], "means": [2, 0.5]}"#,
            r#"{"law": "balanced-hyperexponential", "mean": 3, "scv": 4}"#,
            r#"{"law": "coxian", "means": [3], "onward": []}"#,
            r#"{"law": "deterministic", "mean": 3}"#,
            r#"{"law": "lognormal", "mean": 2, "scv": 1.6}"#,
            r#"{"law": "weibull", "mean": 2, "scv": 3}"#,
            r#"{"law": "weibull", "mean": 2, "scv": 0.3}"#,
            r#"{"law": "pareto", "shape": 1.5, "low": 1, "high": 100}"#,
            r#"{"law": "uniform", "low": 1, "high": 4}"#,
            r#"{"law": "empirical", "values": [1, 5, 6]}"#,
        ];
        for text in laws {
            let law: SizeDistribution = serde_json::from_str(text).unwrap();
            let all = law.truncated(1e9).unwrap();
            for n in 1..=2 {
                let whole = law.moment(n);
                assert!(
                    (all[n as usize] / whole - 1.0).abs() < 1e-9,
                    "{text}: {all:?}"
                );
            }
            assert!(all[0] < 1e-50, "{text}: {all:?}");
            assert_eq!(law.truncated(1e-300).unwrap()[0], 1.0, "{text}");
            for a in [0.3, 2.5, 4.0, 9.0] {
                let [above, mean, square] = law.truncated(a).unwrap();
                let chance = 1.0 - above;
                let steps = 20_000;
                let width = a / f64::from(steps);
                let (mut first, mut second) = (0.0, 0.0);
                for step in 0..steps {
                    let x = (f64::from(step) + 0.5) * width;
                    let below = 1.0 - law.truncated(x).unwrap()[0];
                    first += below * width;
                    second += 2.0 * x * below * width;
                }
                let near = |found: f64, expected: f64| (found - expected).abs() < 1e-3 * a * a;
                assert!(near(mean, a * chance - first), "{text} {a}: {mean}");
                assert!(
                    near(square, a * a * chance - second),
                    "{text} {a}: {square}"
                );
            }
        }
    }

    #[test]
    fn probabilities_have_their_closed_forms() {
        let law = |text: &str| -> SizeDistribution { serde_json::from_str(text).unwrap() };
        let median = 2.0 / 2.6_f64.sqrt();
        for (text, a, exact) in [
            (
                r#"{"law": "exponential", "mean": 2}"#,
                1.0,
                1.0 - (-0.5_f64).exp(),
            ),
            (
                r#"{"law": "erlang", "stages": 2, "mean": 2}"#,
                1.0,
                1.0 - 2.0 * (-1.0_f64).exp(),
            ),
            (
                r#"{"law": "lognormal", "mean": 2, "scv": 1.6}"#,
                median,
                0.5,
            ),
            // The shape is 1/2, because `1 + scv = Γ(5)/Γ(3)²`, and the scale is `mean/Γ(3)`.
            (
                r#"{"law": "weibull", "mean": 2, "scv": 5}"#,
                4.0,
                1.0 - (-2.0_f64).exp(),
            ),
            (
                r#"{"law": "pareto", "shape": 1, "low": 1, "high": 2}"#,
                1.5,
                2.0 / 3.0,
            ),
            (
                r#"{"law": "pareto", "shape": 1, "low": 1, "high": 2}"#,
                0.5,
                0.0,
            ),
        ] {
            let found = 1.0 - law(text).truncated(a).unwrap()[0];
            assert!((found - exact).abs() < 1e-9, "{text}: {found} for {exact}");
        }
        // The probability of the tail is accurate because it is not computed as `1 − P`.
        for (text, a, exact) in [
            (
                r#"{"law": "exponential", "mean": 2}"#,
                200.0,
                (-100.0_f64).exp(),
            ),
            (
                r#"{"law": "weibull", "mean": 2, "scv": 5}"#,
                1e4,
                (-100.0_f64).exp(),
            ),
            (
                r#"{"law": "pareto", "shape": 9, "low": 1, "high": 1e9}"#,
                1e3,
                1e-27,
            ),
            (r#"{"law": "empirical", "values": [1, 5, 6]}"#, 6.0, 0.0),
        ] {
            let found = law(text).truncated(a).unwrap()[0];
            assert!(
                (found - exact).abs() <= 1e-9 * exact,
                "{text}: {found} for {exact}"
            );
        }
        // Powers of the ratio are out of the range of `f64` for a narrow distribution.
        let narrow = law(r#"{"law": "weibull", "mean": 1, "scv": 2.4e-4}"#);
        assert_eq!(narrow.truncated(1e-4), Some([1.0, 0.0, 0.0]));
        let narrow = law(r#"{"law": "uniform", "low": 1000003, "high": 1000003.0000000005}"#);
        let [_, mean, square] = narrow.truncated(2e6).unwrap();
        assert!((mean / 1_000_003.0 - 1.0).abs() < 1e-12);
        assert!((square / 1_000_003.0_f64.powi(2) - 1.0).abs() < 1e-12);
        let several = r#"{"law": "coxian", "means": [3, 1], "onward": [0.5]}"#;
        assert_eq!(law(several).truncated(1.0), None);
    }
}
