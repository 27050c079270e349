//! Moments of sizes that do not exceed a bound.

use std::f64::consts::FRAC_1_SQRT_2;

use statrs::function::erf::erfc;
use statrs::function::gamma::{checked_gamma_lr, ln_gamma};

use super::continuous::{lognormal, pareto_moment, weibull};
use super::size::{Size, average, balanced};
use synth_core::number::Decimal;

impl Size {
    /// Returns E\[S^n; S ≤ a\] \[time^n\] for n = 0, 1, 2 and a > 0; `None` of Coxian laws of several stages, which have no closed form.
    pub fn up_to(&self, a: f64) -> Option<[f64; 3]> {
        let powers = [0, 1, 2];
        Some(match self {
            Self::Exponential { mean } => erlang(1, mean.value(), a),
            Self::Erlang { stages, mean } => erlang(*stages, mean.value(), a),
            Self::Hyperexponential {
                probabilities,
                means,
            } => {
                let pairs = probabilities.iter().zip(means);
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
            Self::Deterministic { mean } => {
                let size = mean.value();
                powers.map(|n| if size <= a { size.powi(n) } else { 0.0 })
            }
            Self::Lognormal { mean, scv } => {
                // Under S^n dP the law of ln S is normal again, with its mean moved by n variances.
                let (mu, sigma) = lognormal(mean.value(), scv.value());
                let moved = |n: i32| (a.ln() - mu) / sigma - f64::from(n) * sigma;
                powers.map(|n| self.moment(n) * 0.5 * erfc(-moved(n) * FRAC_1_SQRT_2))
            }
            Self::Weibull { mean, scv } => {
                let (shape, scale) = weibull(mean.value(), scv.value());
                powers.map(|n| {
                    let order = 1.0 + f64::from(n) / shape;
                    let part = gamma_below(order, (a / scale).powf(shape));
                    scale.powi(n) * ln_gamma(order).exp() * part
                })
            }
            Self::Pareto { shape, low, high } => {
                let [shape, low, high] = [shape, low, high].map(|x| x.value());
                let top = a.clamp(low, high);
                // Below a the law is another of its kind.
                let chance =
                    (shape * (low / top).ln()).exp_m1() / (shape * (low / high).ln()).exp_m1();
                let moment = |n: i32| match chance > 0.0 {
                    true => chance * pareto_moment(shape, low, top, f64::from(n)),
                    false => 0.0,
                };
                powers.map(moment)
            }
            Self::Uniform { low, high } => {
                let [low, high] = [low, high].map(|x| x.value());
                let top = a.clamp(low, high);
                let power = |n: i32| (top.powi(n + 1) - low.powi(n + 1)) / f64::from(n + 1);
                powers.map(|n| power(n) / (high - low))
            }
            Self::Empirical {
                values,
                probabilities,
            } => powers.map(|n| {
                let power = |x: &Decimal| {
                    if x.value() <= a {
                        x.value().powi(n)
                    } else {
                        0.0
                    }
                };
                average(values, probabilities.as_deref(), |p| p.value(), power)
            }),
        })
    }
}

/// P(X ≤ x) of a gamma law of scale 1; 1 where the numbers leave the range of the function.
fn gamma_below(order: f64, x: f64) -> f64 {
    checked_gamma_lr(order, x).unwrap_or(1.0)
}

/// Of stages of the same mean.
fn erlang(stages: u32, mean: f64, a: f64) -> [f64; 3] {
    let k = f64::from(stages);
    let stage = mean / k;
    let moments = [1.0, mean, mean * mean * (1.0 + 1.0 / k)];
    [0, 1, 2].map(|n| moments[n] * gamma_below(k + n as f64, a / stage))
}

/// Of one of several exponential branches, each with its probability and mean.
fn mixture(branches: impl Iterator<Item = (f64, f64)>, a: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (probability, mean) in branches {
        let own = erlang(1, mean, a);
        sums.iter_mut()
            .zip(own)
            .for_each(|(s, x)| *s += probability * x);
    }
    sums
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Of every law: all of it is its moments, and E\[S^n; S ≤ a\] = a^n P(S ≤ a) − ∫_0^a n x^(n−1) P(S ≤ x) dx.
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
            let law: Size = serde_json::from_str(text).unwrap();
            let all = law.up_to(1e9).unwrap();
            for n in 1..=2 {
                let whole = law.moment(n);
                assert!(
                    (all[n as usize] / whole - 1.0).abs() < 1e-9,
                    "{text}: {all:?}"
                );
            }
            assert!((all[0] - 1.0).abs() < 1e-12, "{text}: {all:?}");
            for a in [0.3, 2.5, 4.0, 9.0] {
                let [chance, mean, square] = law.up_to(a).unwrap();
                let steps = 20_000;
                let width = a / f64::from(steps);
                let (mut first, mut second) = (0.0, 0.0);
                for step in 0..steps {
                    let x = (f64::from(step) + 0.5) * width;
                    let below = law.up_to(x).unwrap()[0];
                    first += below * width;
                    second += 2.0 * x * below * width;
                }
                // What jumps is found to a step; the rest to far less.
                let near = |found: f64, expected: f64| (found - expected).abs() < 1e-3 * a * a;
                assert!(near(mean, a * chance - first), "{text} {a}: {mean}");
                assert!(
                    near(square, a * a * chance - second),
                    "{text} {a}: {square}"
                );
            }
        }
    }

    /// Chances by their closed forms.
    #[test]
    fn chances_have_their_closed_forms() {
        let law = |text: &str| -> Size { serde_json::from_str(text).unwrap() };
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
            // A shape of 1/2, since 1 + scv = Γ(5)/Γ(3)², and so a scale of mean/Γ(3).
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
            let found = law(text).up_to(a).unwrap()[0];
            assert!((found - exact).abs() < 1e-9, "{text}: {found} for {exact}");
        }
        let several = r#"{"law": "coxian", "means": [3, 1], "onward": [0.5]}"#;
        assert_eq!(law(several).up_to(1.0), None);
    }
}
