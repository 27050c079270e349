//! Laws of job sizes, and of the times between arrivals.
//!
//! Those of phase type are exponential stages one after another, or one of several:
//! [`Size::phases`] gives the stages, and only of them is anything proved where sizes matter by
//! more than their mean. The others can be simulated. Numbers stay as written; what follows from
//! them (a shape from a coefficient of variation, the mean of a law that is given by lists) is
//! computed on demand.

use num_rational::BigRational;
use num_traits::{FromPrimitive, Num};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::continuous::{lognormal, pareto_moment, pareto_scv, weibull};
use crate::ctmc::PhaseType;
use synth_core::document::in_one_line;
use synth_core::number::Decimal;

/// The law of a type's job sizes.
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
        /// Mean size \[time\], > 0: of all stages together.
        mean: Decimal,
    },
    /// Hyperexponential: one of 2 to 20 exponential branches.
    Hyperexponential {
        /// Probability of each branch, > 0, of sum 1 exactly.
        probabilities: Vec<Decimal>,
        /// Mean size of each branch \[time\], > 0; as many.
        means: Vec<Decimal>,
    },
    /// Hyperexponential with two branches of balanced means, p₁m₁ = p₂m₂. A document writes it
    /// `{law: hyperexponential, mean: 1, scv: 4}`.
    BalancedHyperexponential {
        /// Mean size \[time\], > 0.
        mean: Decimal,
        /// Squared coefficient of variation, > 1.
        scv: Decimal,
    },
    /// Coxian: up to 100 exponential stages, the size ending after any of them.
    Coxian {
        /// Mean of each stage \[time\], > 0.
        means: Vec<Decimal>,
        /// Probability that a stage is followed by the next, in (0, 1]; one fewer.
        onward: Vec<Decimal>,
    },
    /// Always the same.
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
    /// Weibull, P(S > x) = exp(−(x/s)^k): the shape k follows from the variation.
    Weibull {
        /// Mean size \[time\], > 0.
        mean: Decimal,
        /// Squared coefficient of variation, from 1e-6 to 1e6; 1 is the exponential law.
        scv: Decimal,
    },
    /// Bounded Pareto, P(S > x) = (x^−α − high^−α) / (low^−α − high^−α) between low and high.
    Pareto {
        /// Shape α, > 0: the smaller, the heavier the tail.
        shape: Decimal,
        /// The least size \[time\], > 0.
        low: Decimal,
        /// The greatest size \[time\], > low.
        high: Decimal,
    },
    /// Uniform between low and high.
    Uniform {
        /// The least size \[time\], ≥ 0.
        low: Decimal,
        /// The greatest size \[time\], > low.
        high: Decimal,
    },
    /// One of up to 10 000 values, as they were measured.
    Empirical {
        /// The sizes \[time\], > 0.
        #[serde(serialize_with = "in_one_line")]
        values: Vec<Decimal>,
        /// Probability of each value, > 0, of sum 1 exactly; as many. Absent where all are
        /// equally probable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "in_one_line")]
        probabilities: Option<Vec<Decimal>>,
    },
}

impl Size {
    /// Returns the name of the law, as a document and a record spell it.
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

    /// Mean size E\[S\] \[time\], > 0.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Pareto { shape, low, high } => {
                pareto_moment(shape.value(), low.value(), high.value(), 1.0)
            }
            _ => self.mean_in(|x| x.value()).unwrap_or(f64::NAN),
        }
    }

    /// Returns E\[S\] as a fraction; `None` where it is none (a bounded Pareto law).
    pub fn exact_mean(&self) -> Option<BigRational> {
        self.mean_in(|x| x.exact())
    }

    /// Returns E\[S\] in numbers of a kind; `None` where the four operations do not suffice.
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
            // From stage k on E_k = m_k + q_k E_{k+1}, with q_k the probability to go on.
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

    /// Squared coefficient of variation, Var(S)/E\[S\]²: 1 for the exponential law.
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

    /// Returns whether sizes have no memory: a law of one exponential stage, under whatever name.
    pub fn is_exponential(&self) -> bool {
        match self {
            Self::Exponential { .. } => true,
            Self::Erlang { stages, .. } => *stages == 1,
            Self::Hyperexponential { means, .. } | Self::Coxian { means, .. } => means.len() == 1,
            Self::Weibull { scv, .. } => scv.value() == 1.0,
            _ => false,
        }
    }

    /// Returns the stages that sizes go through; `None` where the law is not of phase type.
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

    /// Returns the greatest number that no size is less than.
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

    /// Returns the law of S/divisor; `None` where a number leaves the range of doubles.
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

    /// Returns whether what is computed from a law without faults is positive and finite in doubles.
    pub fn in_range(&self) -> bool {
        let sound = |x: &f64| *x > 0.0 && x.is_finite();
        let stages = self.phases().is_none_or(|law| {
            law.rates.iter().all(sound) && law.initial.iter().all(|p| p.is_finite())
        });
        // The ends of what is ever drawn: 12 standard deviations, 700 means and 1e-20 of one.
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

/// Σ p f(x), or the plain average where no probabilities are given.
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
        // Divided one by one: a sum of sizes may leave the range where their average does not.
        None => f(x) / count(),
    });
    terms.fold(N::zero(), |sum, term| sum + term)
}

/// Probabilities and means of two branches with p₁m₁ = p₂m₂: with x = (scv−1)/(scv+1),
/// p = (1 ± √x)/2, and p₂ = 1/((scv+1)(1+√x)) without cancellation.
pub(super) fn balanced(mean: f64, scv: f64) -> (Vec<f64>, Vec<f64>) {
    let root = ((scv - 1.0) / (scv + 1.0)).sqrt();
    let probabilities = vec![f64::midpoint(1.0, root), 1.0 / (scv + 1.0) / (1.0 + root)];
    let means = probabilities.iter().map(|p| mean / (2.0 * p)).collect();
    (probabilities, means)
}

/// E\[S²\] in a unit of time: from stage k on, with q_k the probability to go on,
/// E_k = m_k + q_k E_{k+1} and E_k² = 2 m_k E_k + q_k E_{k+1}².
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
