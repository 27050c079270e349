//! This module defines the distributions of sizes and of the times between arrivals. If an exact
//! result depends on more than the mean, the distribution must be phase-type
//! ([`SizeDistribution::phases`]). All other distributions can only be simulated.

use num_rational::BigRational;
use num_traits::{FromPrimitive, Num};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::continuous::{lognormal, pareto_moment, pareto_scv, weibull};
use crate::ctmc::PhaseType;
use synth_core::document::in_one_line;
use synth_core::number::Decimal;

/// The distribution of the sizes of the jobs of a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizeDistribution {
    /// An exponential distribution, where P(S > x) = exp(−x/mean).
    Exponential {
        /// The mean size \[time\], which must be positive.
        mean: Decimal,
    },
    /// An Erlang distribution, which is the sum of exponential stages with the same mean.
    Erlang {
        /// The number of stages, from 1 to 100.
        stages: u32,
        /// The mean of the sum \[time\], which must be positive.
        mean: Decimal,
    },
    /// A hyperexponential distribution with 2 to 20 exponential branches.
    Hyperexponential {
        /// The probability of each branch. Each must be positive, and the sum must be exactly 1.
        probabilities: Vec<Decimal>,
        /// The mean size of each branch \[time\], which must be positive.
        means: Vec<Decimal>,
    },
    /// A hyperexponential distribution with two branches and balanced means, so that p₁m₁ = p₂m₂.
    /// It is written as `{law: hyperexponential, mean: 1, scv: 4}`.
    BalancedHyperexponential {
        /// The mean size \[time\], which must be positive.
        mean: Decimal,
        /// The squared coefficient of variation, which must be > 1.
        scv: Decimal,
    },
    /// A Coxian distribution with up to 100 exponential stages. The job can end after each of them.
    Coxian {
        /// The mean of each stage \[time\], which must be positive.
        means: Vec<Decimal>,
        /// The probability that each stage (but the last) is followed by the next, in (0, 1].
        onward: Vec<Decimal>,
    },
    /// A distribution where all sizes are equal.
    Deterministic {
        /// The size \[time\], which must be positive.
        mean: Decimal,
    },
    /// A lognormal distribution, where ln S is normal.
    Lognormal {
        /// The mean size \[time\], which must be positive.
        mean: Decimal,
        /// The squared coefficient of variation, which must be between 1e-6 and 1e6.
        scv: Decimal,
    },
    /// A Weibull distribution, where P(S > x) = exp(−(x/s)^k). The shape k is computed from `scv`.
    Weibull {
        /// The mean size \[time\], which must be positive.
        mean: Decimal,
        /// The squared coefficient of variation, from 1e-6 to 1e6. If it is 1, this is exponential.
        scv: Decimal,
    },
    /// Bounded Pareto, where P(S > x) = (x^−α − high^−α) / (low^−α − high^−α) between low and high.
    Pareto {
        /// The shape α, which must be positive. A smaller shape has a heavier tail.
        shape: Decimal,
        /// The minimum size \[time\], which must be positive.
        low: Decimal,
        /// The maximum size \[time\], which must be greater than low.
        high: Decimal,
    },
    /// A uniform distribution between low and high.
    Uniform {
        /// The minimum size \[time\], which must be ≥ 0.
        low: Decimal,
        /// The maximum size \[time\], which must be greater than low.
        high: Decimal,
    },
    /// A distribution that is given by up to 10 000 measured values.
    Empirical {
        /// The sizes \[time\], which must be positive.
        #[serde(serialize_with = "in_one_line")]
        values: Vec<Decimal>,
        /// The probability of each value. Each must be positive, and the sum must be exactly 1. By
        /// default, all values have the same probability.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "in_one_line")]
        probabilities: Option<Vec<Decimal>>,
    },
}

impl SizeDistribution {
    /// Returns the name of the distribution in documents and records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exponential { .. } => "exponential",
            Self::Erlang { .. } => "erlang",
            Self::Hyperexponential { .. } => "hyperexponential",
            Self::BalancedHyperexponential { .. } => "balanced-hyperexponential",
            Self::Coxian { .. } => "coxian",
            Self::Deterministic { .. } => "deterministic",
            Self::Lognormal { .. } => "lognormal",
            Self::Weibull { .. } => "weibull",
            Self::Pareto { .. } => "pareto",
            Self::Uniform { .. } => "uniform",
            Self::Empirical { .. } => "empirical",
        }
    }

    /// Returns the mean size `E[S]` \[time\], which is positive.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Pareto { shape, low, high } => {
                pareto_moment(shape.value(), low.value(), high.value(), 1.0)
            }
            _ => self.mean_in(|x| x.value()).unwrap_or(f64::NAN),
        }
    }

    /// Returns `E[S]` as a fraction, or `None` for a bounded Pareto distribution.
    pub fn exact_mean(&self) -> Option<BigRational> {
        self.mean_in(|x| x.exact())
    }

    /// Returns the values of a distribution and their probabilities, if they are given.
    pub(super) fn weighted(&self) -> (&[Decimal], Option<&[Decimal]>) {
        match self {
            Self::Hyperexponential {
                means,
                probabilities,
            } => (means, Some(probabilities)),
            Self::Empirical {
                values,
                probabilities,
            } => (values, probabilities.as_deref()),
            _ => (&[], None),
        }
    }

    /// Returns `E[S]` in a number type, or `None` if it needs more than the four basic operations.
    fn mean_in<N: Num + FromPrimitive>(&self, number: impl Fn(&Decimal) -> N) -> Option<N> {
        Some(match self {
            Self::Exponential { mean }
            | Self::Erlang { mean, .. }
            | Self::BalancedHyperexponential { mean, .. }
            | Self::Deterministic { mean }
            | Self::Lognormal { mean, .. }
            | Self::Weibull { mean, .. } => number(mean),
            Self::Hyperexponential { .. } | Self::Empirical { .. } => {
                average(self.weighted(), &number, &number)
            }
            Self::Coxian { means, onward } => {
                let onward = onward.iter().map(&number).chain([N::zero()]);
                let stages: Vec<(&Decimal, N)> = means.iter().zip(onward).collect();
                let ahead = |mean: N, (m, q): (&Decimal, N)| number(m) + q * mean;
                stages.into_iter().rev().fold(N::zero(), ahead)
            }
            Self::Pareto { .. } => return None,
            Self::Uniform { low, high } => (number(low) + number(high)) / N::from_u8(2)?,
        })
    }

    /// Returns the squared coefficient of variation, `Var(S)/E[S]²`.
    pub fn scv(&self) -> f64 {
        match self {
            Self::Exponential { .. } => 1.0,
            Self::Erlang { stages, .. } => 1.0 / f64::from(*stages),
            Self::BalancedHyperexponential { scv, .. }
            | Self::Lognormal { scv, .. }
            | Self::Weibull { scv, .. } => scv.value(),
            Self::Deterministic { .. } => 0.0,
            Self::Hyperexponential { .. } => {
                let mean = self.mean();
                let square = |m: &Decimal| (m.value() / mean).powi(2);
                2.0 * average(self.weighted(), |p| p.value(), square) - 1.0
            }
            Self::Coxian { means, onward } => coxian_square(means, onward, self.mean()) - 1.0,
            Self::Pareto { shape, low, high } => {
                pareto_scv(shape.value(), low.value(), high.value())
            }
            Self::Uniform { low, high } => {
                ((high.value() - low.value()) / self.mean()).powi(2) / 12.0
            }
            Self::Empirical { .. } => {
                let mean = self.mean();
                let square = |x: &Decimal| (x.value() / mean - 1.0).powi(2);
                average(self.weighted(), |p| p.value(), square)
            }
        }
    }

    /// Returns `true` if the distribution is equivalent to a single exponential stage.
    pub fn is_exponential(&self) -> bool {
        match self {
            Self::Exponential { .. } => true,
            Self::Erlang { stages, .. } => *stages == 1,
            Self::Hyperexponential { means, .. } | Self::Coxian { means, .. } => means.len() == 1,
            Self::Weibull { scv, .. } => scv.value() == 1.0,
            _ => false,
        }
    }

    /// Returns the phase-type representation, or `None` if there is none.
    pub fn phases(&self) -> Option<PhaseType> {
        Some(match self {
            Self::Exponential { mean } | Self::Weibull { mean, .. } if self.is_exponential() => {
                PhaseType::sequence(vec![1.0 / mean.value()], vec![])
            }
            Self::Erlang { stages, mean } => {
                let count = *stages as usize;
                let rate = f64::from(*stages) / mean.value();
                PhaseType::sequence(vec![rate; count], vec![1.0; count.saturating_sub(1)])
            }
            Self::Hyperexponential {
                probabilities,
                means,
            } => PhaseType::branches(values(probabilities), &values(means)),
            Self::BalancedHyperexponential { mean, scv } => {
                let (probabilities, means) = balanced(mean.value(), scv.value());
                PhaseType::branches(probabilities, &means)
            }
            Self::Coxian { means, onward } => PhaseType::sequence(
                means.iter().map(|m| 1.0 / m.value()).collect(),
                values(onward),
            ),
            _ => return None,
        })
    }

    /// Returns the greatest lower bound of all sizes.
    pub fn minimum(&self) -> Decimal {
        match self {
            Self::Deterministic { mean } => *mean,
            Self::Pareto { low, .. } | Self::Uniform { low, .. } => *low,
            Self::Empirical { values, .. } => {
                let least = values.iter().min_by(|a, b| a.value().total_cmp(&b.value()));
                least.copied().unwrap_or_default()
            }
            _ => Decimal::ZERO,
        }
    }

    /// Returns the distribution of `S/divisor`, or `None` if a value is out of the range of `f64`.
    pub fn scaled_down(&self, divisor: f64) -> Option<Self> {
        let divided = |x: &Decimal| Decimal::new(x.value() / divisor);
        let all = |list: &[Decimal]| list.iter().map(divided).collect::<Option<Vec<_>>>();
        let mut law = self.clone();
        match &mut law {
            Self::Exponential { mean }
            | Self::Erlang { mean, .. }
            | Self::BalancedHyperexponential { mean, .. }
            | Self::Deterministic { mean }
            | Self::Lognormal { mean, .. }
            | Self::Weibull { mean, .. } => *mean = divided(mean)?,
            Self::Hyperexponential { means: times, .. }
            | Self::Coxian { means: times, .. }
            | Self::Empirical { values: times, .. } => *times = all(times)?,
            Self::Pareto { low, high, .. } | Self::Uniform { low, high } => {
                (*low, *high) = (divided(low)?, divided(high)?);
            }
        }
        Some(law)
    }

    /// Returns `true` if all computed values of a law without faults are positive and finite.
    pub fn in_range(&self) -> bool {
        let sound = |x: &f64| *x > 0.0 && x.is_finite();
        let law = self.phases().unwrap_or_default();
        let stages = law.rates.iter().all(sound) && law.initial.iter().all(|p| p.is_finite());
        // The extreme samples are 12 standard deviations, 700 means, and `1e-20` of the mean.
        let ends = match self {
            Self::Lognormal { mean, scv } => {
                let (mu, sigma) = lognormal(mean.value(), scv.value());
                [-12.0, 12.0].map(|z| (mu + z * sigma).exp())
            }
            Self::Weibull { mean, scv } => {
                let (shape, scale) = weibull(mean.value(), scv.value());
                [1e-20, 700.0].map(|x: f64| scale * x.powf(1.0 / shape))
            }
            Self::Pareto { shape, low, high } => {
                let ratio = high.value() / low.value();
                [ratio, shape.value() * ratio.ln()]
            }
            _ => [1.0; 2],
        };
        let drawn = ends.iter().all(|x| x.is_normal());
        stages && drawn && sound(&self.mean()) && self.scv().is_finite()
    }
}

/// Returns `Σ p f(x)`, or the average of `f(x)`, which does not overflow if its sum does.
pub(super) fn average<N: Num + FromPrimitive>(
    (values, probabilities): (&[Decimal], Option<&[Decimal]>),
    number: impl Fn(&Decimal) -> N,
    f: impl Fn(&Decimal) -> N,
) -> N {
    let count = || N::from_usize(values.len()).unwrap_or(N::one());
    let values = values.iter().enumerate();
    let terms = values.map(|(n, x)| match probabilities {
        Some(probabilities) => number(&probabilities[n]) * f(x),
        None => f(x) / count(),
    });
    terms.fold(N::zero(), |sum, term| sum + term)
}

/// Returns the probabilities `p = (1 ± √x)/2` with `x = (scv−1)/(scv+1)` and the means of two
/// branches with `p₁m₁ = p₂m₂`. To avoid cancellation, `p₂ = 1/((scv+1)(1+√x))`.
pub(super) fn balanced(mean: f64, scv: f64) -> (Vec<f64>, Vec<f64>) {
    let root = ((scv - 1.0) / (scv + 1.0)).sqrt();
    let probabilities = vec![f64::midpoint(1.0, root), 1.0 / (scv + 1.0) / (1.0 + root)];
    let means = probabilities.iter().map(|p| mean / (2.0 * p)).collect();
    (probabilities, means)
}

/// Returns `E[S²] / unit²`, where `E_k = m_k + q_k E_{k+1}` and `E_k² = 2 m_k E_k + q_k E_{k+1}²`
/// from stage `k` on, and `q_k` is the probability that the job continues.
fn coxian_square(means: &[Decimal], onward: &[Decimal], unit: f64) -> f64 {
    let onward = onward.iter().map(|q| q.value()).chain([0.0]);
    let stages: Vec<(f64, f64)> = means.iter().map(|m| m.value() / unit).zip(onward).collect();
    let ahead = |(mean, square), (m, q)| {
        let mean = m + q * mean;
        (mean, 2.0 * m * mean + q * square)
    };
    stages.into_iter().rev().fold((0.0, 0.0), ahead).1
}

fn values(decimals: &[Decimal]) -> Vec<f64> {
    decimals.iter().map(|d| d.value()).collect()
}

#[cfg(test)]
mod tests;
