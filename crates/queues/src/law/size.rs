//! Distributions of job sizes and interarrival times.
//!
//! Exact results that depend on more than the mean need a phase-type distribution
//! ([`Size::phases`]); the others can only be simulated. Parameters are stored as written, and
//! derived quantities are computed on demand.

use num_rational::BigRational;
use num_traits::{FromPrimitive, Num};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::continuous::{lognormal, pareto_moment, pareto_scv, weibull};
use crate::ctmc::PhaseType;
use synth_core::document::in_one_line;
use synth_core::number::Decimal;

/// The distribution of the job sizes of a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Size {
    /// Exponential, P(S > x) = exp(−x/mean).
    Exponential {
        /// Mean size \[time\], > 0.
        mean: Decimal,
    },
    /// Erlang: a sum of exponential stages with equal means.
    Erlang {
        /// Number of stages, 1 to 100.
        stages: u32,
        /// Mean total size \[time\], > 0.
        mean: Decimal,
    },
    /// Hyperexponential: one of 2 to 20 exponential branches.
    Hyperexponential {
        /// Probability of each branch, > 0, with sum exactly 1.
        probabilities: Vec<Decimal>,
        /// Mean size of each branch \[time\], > 0.
        means: Vec<Decimal>,
    },
    /// Hyperexponential with two branches of balanced means, p₁m₁ = p₂m₂. A document writes `{law:
    /// hyperexponential, mean: 1, scv: 4}`.
    BalancedHyperexponential {
        /// Mean size \[time\], > 0.
        mean: Decimal,
        /// Squared coefficient of variation, > 1.
        scv: Decimal,
    },
    /// Coxian: up to 100 exponential stages; the size may end after any of them.
    Coxian {
        /// Mean of each stage \[time\], > 0.
        means: Vec<Decimal>,
        /// Probability that each stage but the last is followed by the next, in (0, 1].
        onward: Vec<Decimal>,
    },
    /// Deterministic.
    Deterministic {
        /// The size \[time\], > 0.
        mean: Decimal,
    },
    /// Lognormal: ln S is normal.
    Lognormal {
        /// Mean size \[time\], > 0.
        mean: Decimal,
        /// Squared coefficient of variation, from 1e-6 to 1e6.
        scv: Decimal,
    },
    /// Weibull, P(S > x) = exp(−(x/s)^k); the shape k is derived from `scv`.
    Weibull {
        /// Mean size \[time\], > 0.
        mean: Decimal,
        /// Squared coefficient of variation, from 1e-6 to 1e6; 1 is the exponential distribution.
        scv: Decimal,
    },
    /// Bounded Pareto, P(S > x) = (x^−α − high^−α) / (low^−α − high^−α) between low and high.
    Pareto {
        /// Shape α, > 0: the smaller, the heavier the tail.
        shape: Decimal,
        /// The minimum size \[time\], > 0.
        low: Decimal,
        /// The maximum size \[time\], > low.
        high: Decimal,
    },
    /// Uniform between low and high.
    Uniform {
        /// The minimum size \[time\], ≥ 0.
        low: Decimal,
        /// The maximum size \[time\], > low.
        high: Decimal,
    },
    /// One of up to 10 000 measured values.
    Empirical {
        /// The sizes \[time\], > 0.
        #[serde(serialize_with = "in_one_line")]
        values: Vec<Decimal>,
        /// Probability of each value, > 0, with sum exactly 1; default equal probabilities.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "in_one_line")]
        probabilities: Option<Vec<Decimal>>,
    },
}

impl Size {
    /// Returns the name of the distribution in documents and records.
    pub fn law(&self) -> &'static str {
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

    /// Returns the mean size E\[S\] \[time\], > 0.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Pareto { shape, low, high } => {
                pareto_moment(shape.value(), low.value(), high.value(), 1.0)
            }
            _ => self.mean_in(|x| x.value()).unwrap_or(f64::NAN),
        }
    }

    /// Returns E\[S\] as a fraction; `None` if it is irrational (bounded Pareto).
    pub fn exact_mean(&self) -> Option<BigRational> {
        self.mean_in(|x| x.exact())
    }

    /// Returns E\[S\] in a number type; `None` if it needs more than the four basic operations.
    fn mean_in<N: Num + FromPrimitive>(&self, number: impl Fn(&Decimal) -> N) -> Option<N> {
        Some(match self {
            Self::Exponential { mean }
            | Self::Erlang { mean, .. }
            | Self::BalancedHyperexponential { mean, .. }
            | Self::Deterministic { mean }
            | Self::Lognormal { mean, .. }
            | Self::Weibull { mean, .. } => number(mean),
            Self::Hyperexponential {
                probabilities,
                means,
            } => average(means, Some(probabilities), &number, &number),
            // E_k = m_k + q_k E_{k+1} from stage k on, with q_k the probability to continue.
            Self::Coxian { means, onward } => {
                let onward = onward.iter().map(&number).chain([N::zero()]);
                let stages: Vec<(&Decimal, N)> = means.iter().zip(onward).collect();
                let ahead = |mean: N, (m, q): (&Decimal, N)| number(m) + q * mean;
                stages.into_iter().rev().fold(N::zero(), ahead)
            }
            Self::Pareto { .. } => return None,
            Self::Uniform { low, high } => (number(low) + number(high)) / N::from_u8(2)?,
            Self::Empirical {
                values,
                probabilities,
            } => average(values, probabilities.as_deref(), &number, &number),
        })
    }

    /// Returns the squared coefficient of variation, Var(S)/E\[S\]².
    pub fn scv(&self) -> f64 {
        match self {
            Self::Exponential { .. } => 1.0,
            Self::Erlang { stages, .. } => 1.0 / f64::from(*stages),
            Self::BalancedHyperexponential { scv, .. }
            | Self::Lognormal { scv, .. }
            | Self::Weibull { scv, .. } => scv.value(),
            Self::Deterministic { .. } => 0.0,
            Self::Hyperexponential {
                probabilities,
                means,
            } => {
                let mean = self.mean();
                let square = |m: &Decimal| (m.value() / mean).powi(2);
                2.0 * average(means, Some(probabilities), |p| p.value(), square) - 1.0
            }
            Self::Coxian { means, onward } => coxian_square(means, onward, self.mean()) - 1.0,
            Self::Pareto { shape, low, high } => {
                pareto_scv(shape.value(), low.value(), high.value())
            }
            Self::Uniform { low, high } => {
                ((high.value() - low.value()) / self.mean()).powi(2) / 12.0
            }
            Self::Empirical {
                values,
                probabilities,
            } => {
                let mean = self.mean();
                let square = |x: &Decimal| (x.value() / mean - 1.0).powi(2);
                average(values, probabilities.as_deref(), |p| p.value(), square)
            }
        }
    }

    /// Returns whether the distribution has a single exponential stage, under any name.
    pub fn is_exponential(&self) -> bool {
        match self {
            Self::Exponential { .. } => true,
            Self::Erlang { stages, .. } => *stages == 1,
            Self::Hyperexponential { means, .. } | Self::Coxian { means, .. } => means.len() == 1,
            Self::Weibull { scv, .. } => scv.value() == 1.0,
            _ => false,
        }
    }

    /// Returns the phase-type representation, if there is one.
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
    pub fn least(&self) -> Decimal {
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

    /// Returns the distribution of S/divisor; `None` if a number leaves the range of doubles.
    pub fn divided(&self, divisor: f64) -> Option<Self> {
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

    /// Returns whether all derived quantities are positive and finite.
    pub fn in_range(&self) -> bool {
        let sound = |x: &f64| *x > 0.0 && x.is_finite();
        let stages = self.phases().is_none_or(|law| {
            law.rates.iter().all(sound) && law.initial.iter().all(|p| p.is_finite())
        });
        // Extreme samples: 12 standard deviations, 700 means and 1e-20 of a mean.
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

/// Returns Σ p f(x), or the plain average if `probabilities` is `None`.
pub(super) fn average<N: Num + FromPrimitive>(
    values: &[Decimal],
    probabilities: Option<&[Decimal]>,
    number: impl Fn(&Decimal) -> N,
    f: impl Fn(&Decimal) -> N,
) -> N {
    let count = || N::from_usize(values.len()).unwrap_or(N::one());
    let values = values.iter().enumerate();
    let terms = values.map(|(n, x)| match probabilities {
        Some(probabilities) => number(&probabilities[n]) * f(x),
        // The sum may overflow although the average does not.
        None => f(x) / count(),
    });
    terms.fold(N::zero(), |sum, term| sum + term)
}

/// Returns probabilities and means of two branches with p₁m₁ = p₂m₂.
///
/// With x = (scv−1)/(scv+1), p = (1 ± √x)/2, and p₂ = 1/((scv+1)(1+√x)) avoids cancellation.
pub(super) fn balanced(mean: f64, scv: f64) -> (Vec<f64>, Vec<f64>) {
    let root = ((scv - 1.0) / (scv + 1.0)).sqrt();
    let probabilities = vec![f64::midpoint(1.0, root), 1.0 / (scv + 1.0) / (1.0 + root)];
    let means = probabilities.iter().map(|p| mean / (2.0 * p)).collect();
    (probabilities, means)
}

/// Returns E\[S²\] / unit²: from stage k on, with q_k the probability to continue, E_k = m_k + q_k
/// E_{k+1} and E_k² = 2 m_k E_k + q_k E_{k+1}².
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
