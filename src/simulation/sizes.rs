//! Sizes drawn from their laws.

use super::random::{Alias, Stream};
use crate::ctmc::PhaseType;
use crate::law::{Size, lognormal, weibull};
use crate::number::Decimal;

/// Draws sizes of one law \[time\], > 0, without allocating. Nothing is drawn where there is no
/// choice.
pub(crate) enum Sampler {
    /// By its mean: most laws are this one.
    Exponential(f64),
    Deterministic(f64),
    /// The sum of the stages that a size goes through.
    Stages(PhaseType),
    /// exp(μ + σ Z), Z normal.
    Lognormal {
        mu: f64,
        sigma: f64,
    },
    /// s X^(1/k), X exponential of mean 1.
    Weibull {
        inverse_shape: f64,
        scale: f64,
    },
    /// By inversion: low (1 − U (1 − (low/high)^α))^(−1/α).
    Pareto {
        shape: f64,
        low: f64,
        high: f64,
        /// (low/high)^α − 1.
        reach: f64,
    },
    Uniform {
        high: f64,
        width: f64,
    },
    Empirical {
        values: Vec<f64>,
        which: Alias,
    },
}

impl Sampler {
    /// Draws sizes of this law.
    pub fn of(size: &Size) -> Self {
        if size.is_exponential() {
            return Sampler::Exponential(size.mean());
        }
        match size {
            Size::Exponential { .. }
            | Size::Erlang { .. }
            | Size::Hyperexponential { .. }
            | Size::BalancedHyperexponential { .. }
            | Size::Coxian { .. } => Sampler::Stages(size.phases().expect("it is a law of stages")),
            Size::Deterministic { mean } => Sampler::Deterministic(mean.value()),
            Size::Lognormal { mean, scv } => {
                let (mu, sigma) = lognormal(mean.value(), scv.value());
                Sampler::Lognormal { mu, sigma }
            }
            Size::Weibull { mean, scv } => {
                let (shape, scale) = weibull(mean.value(), scv.value());
                Sampler::Weibull {
                    inverse_shape: 1.0 / shape,
                    scale,
                }
            }
            Size::Pareto { shape, low, high } => {
                let [shape, low, high] = [shape, low, high].map(|x| x.value());
                Sampler::Pareto {
                    shape,
                    low,
                    high,
                    reach: (-shape * (high / low).ln()).exp_m1(),
                }
            }
            Size::Uniform { low, high } => Sampler::Uniform {
                high: high.value(),
                width: high.value() - low.value(),
            },
            Size::Empirical {
                values,
                probabilities,
            } => {
                let weights = weights(probabilities.as_deref(), values.len());
                Sampler::Empirical {
                    values: numbers(values),
                    which: Alias::new(&weights),
                }
            }
        }
    }

    /// One size \[time\].
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Sampler::Exponential(mean) => stream.exponential() * mean,
            Sampler::Deterministic(size) => *size,
            Sampler::Stages(law) => through_stages(law, stream),
            Sampler::Lognormal { mu, sigma } => (mu + sigma * stream.normal()).exp(),
            Sampler::Weibull {
                inverse_shape,
                scale,
            } => scale * stream.exponential().powf(*inverse_shape),
            Sampler::Pareto {
                shape,
                low,
                high,
                reach,
            } => {
                let fallen = stream.uniform() * reach;
                // The power is twice as fast, and loses digits only where α is next to 0.
                let growth = if *shape > 1e-3 {
                    (1.0 + fallen).powf(-1.0 / shape)
                } else {
                    (-fallen.ln_1p() / shape).exp()
                };
                // Rounding must not take it past the end.
                (low * growth).min(*high)
            }
            // Never 0.
            Sampler::Uniform { high, width } => high - width * stream.uniform(),
            Sampler::Empirical { values, which } => values[which.draw(stream)],
        }
    }
}

fn through_stages(law: &PhaseType, stream: &mut Stream) -> f64 {
    let mut stage = first_stage(&law.initial, stream);
    let mut size = stream.exponential() / law.rates[stage];
    while law.onward[stage] == 1.0
        || law.onward[stage] > 0.0 && stream.uniform() < law.onward[stage]
    {
        stage += 1;
        size += stream.exponential() / law.rates[stage];
    }
    size
}

fn first_stage(initial: &[f64], stream: &mut Stream) -> usize {
    if initial[0] == 1.0 {
        return 0;
    }
    let mut point = stream.uniform();
    // The sum may fall short of 1 by rounding: the rest is the last stage's.
    let last = initial.len() - 1;
    let chosen = initial[..last].iter().position(|p| {
        point -= p;
        point < 0.0
    });
    chosen.unwrap_or(last)
}

/// Returns the values of these numbers.
pub(crate) fn numbers(decimals: &[Decimal]) -> Vec<f64> {
    decimals.iter().map(|x| x.value()).collect()
}

/// Returns probabilities, or equal weights where none are given.
pub(crate) fn weights(probabilities: Option<&[Decimal]>, count: usize) -> Vec<f64> {
    probabilities.map_or_else(|| vec![1.0; count], numbers)
}
