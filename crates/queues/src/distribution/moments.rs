use statrs::function::factorial::binomial;
use statrs::function::gamma::ln_gamma;

use super::continuous::{pareto_moment, weibull};
use super::size::{SizeDistribution, average};

pub(super) fn of_sum(one: &[f64; 5], other: &[f64; 5], k: usize) -> f64 {
    let term = |j: usize| binomial(k as u64, j as u64) * one[j] * other[k - j];
    (0..=k).map(term).sum()
}

impl SizeDistribution {
    /// Returns the moment `E[S^n]` \[time^n\] for `n` from 1 to 4.
    pub fn moment(&self, n: i32) -> f64 {
        if let Some(stages) = self.phases() {
            return stages.moment(n as u32);
        }
        match self {
            Self::Deterministic { mean } => mean.value().powi(n),
            Self::Lognormal { mean, scv } => {
                mean.value().powi(n) * (1.0 + scv.value()).powi(n * (n - 1) / 2)
            }
            Self::Weibull { mean, scv } => {
                let (shape, scale) = weibull(mean.value(), scv.value());
                scale.powi(n) * ln_gamma(1.0 + f64::from(n) / shape).exp()
            }
            Self::Pareto { shape, low, high } => {
                pareto_moment(shape.value(), low.value(), high.value(), f64::from(n))
            }
            Self::Uniform { low, high } => {
                let (low, high) = (low.value(), high.value());
                let powers = (0..=n).map(|k| low.powi(k) * high.powi(n - k));
                powers.sum::<f64>() / f64::from(n + 1)
            }
            Self::Empirical { .. } => {
                average(self.weighted(), |p| p.value(), |x| x.value().powi(n))
            }
            _ => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use synth_core::number::Decimal;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn numbers(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().map(|text| number(text)).collect()
    }

    #[test]
    fn moments_agree_with_means_and_variations() {
        let laws = [
            SizeDistribution::Exponential { mean: number("2") },
            SizeDistribution::Erlang {
                stages: 3,
                mean: number("2"),
            },
            SizeDistribution::Hyperexponential {
                probabilities: numbers(&[".3", ".7"]),
                means: numbers(&["2", ".5"]),
            },
            SizeDistribution::BalancedHyperexponential {
                mean: number("3"),
                scv: number("4"),
            },
            SizeDistribution::Coxian {
                means: numbers(&[".5", "1", "3"]),
                onward: numbers(&[".5", ".2"]),
            },
            SizeDistribution::Deterministic { mean: number("3") },
            SizeDistribution::Lognormal {
                mean: number("2"),
                scv: number("16"),
            },
            SizeDistribution::Weibull {
                mean: number("2"),
                scv: number("5"),
            },
            SizeDistribution::Pareto {
                shape: number("1.5"),
                low: number("1"),
                high: number("100"),
            },
            SizeDistribution::Uniform {
                low: number("1"),
                high: number("4"),
            },
            SizeDistribution::Empirical {
                values: numbers(&["1", "5", "6"]),
                probabilities: None,
            },
        ];
        for law in &laws {
            let [first, second, third, fourth] = [1, 2, 3, 4].map(|n| law.moment(n));
            assert!((first / law.mean() - 1.0).abs() < 1e-12, "{law:?}");
            let scv = second / first.powi(2) - 1.0;
            assert!((scv - law.scv()).abs() < 1e-9 * (1.0 + scv), "{law:?}");
            assert!(third * first >= second * second * (1.0 - 1e-12) && fourth >= second * second);
        }
    }

    #[test]
    fn higher_moments_have_their_closed_forms() {
        // It is `n! p m^n` for a branch, `(n+2)!/2 (m/3)^n` for three stages, and binomial for two.
        let exponential = SizeDistribution::Exponential { mean: number("2") };
        let erlang = SizeDistribution::Erlang {
            stages: 3,
            mean: number("2"),
        };
        let branches = SizeDistribution::Hyperexponential {
            probabilities: numbers(&[".3", ".7"]),
            means: numbers(&["2", ".5"]),
        };
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        for n in [3, 4] {
            let power = |x: f64| factorial(n) * x.powi(n as i32);
            let cox = SizeDistribution::Coxian {
                means: numbers(&[".5", "3"]),
                onward: numbers(&[".2"]),
            };
            let powers = |m: f64| [0, 1, 2, 3, 4].map(|k| factorial(k) * m.powi(k as i32));
            let rest = powers(3.0).map(|x| 0.2 * x);
            let rest = [1.0, rest[1], rest[2], rest[3], rest[4]];
            for (found, exact) in [
                (exponential.moment(n as i32), power(2.0)),
                (
                    erlang.moment(n as i32),
                    factorial(n + 2) / 2.0 * (2.0_f64 / 3.0).powi(n as i32),
                ),
                (
                    branches.moment(n as i32),
                    0.3 * power(2.0) + 0.7 * power(0.5),
                ),
                (cox.moment(n as i32), of_sum(&powers(0.5), &rest, n)),
            ] {
                assert!((found / exact - 1.0).abs() < 1e-12, "{found} for {exact}");
            }
        }
        // For `k = 1/2` it is `Γ(1 + n/k)`, and for bounded Pareto it is
        // `α L^α (H^(n−α) − L^(n−α)) / ((n−α)(1 − (L/H)^α))`.
        let weibull = SizeDistribution::Weibull {
            mean: number("2"),
            scv: number("5"),
        };
        assert!(
            (weibull.moment(3) / 720.0 - 1.0).abs() < 1e-9
                && (weibull.moment(4) / 40_320.0 - 1.0).abs() < 1e-9
        );
        let pareto = SizeDistribution::Pareto {
            shape: number("1.5"),
            low: number("1"),
            high: number("100"),
        };
        let exact = 1.5 * (1e5 - 1.0) / 2.5 / (1.0 - 1e-3);
        assert!((pareto.moment(4) / exact - 1.0).abs() < 1e-12);
    }
}
