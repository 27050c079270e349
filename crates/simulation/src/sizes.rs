use super::random::{Alias, RandomStream};
use synth_core::number::Decimal;
use synth_queues::ctmc::PhaseType;
use synth_queues::distribution::{SizeDistribution, lognormal, weibull};

/// Draws the size of a job \[time\], > 0, without random numbers for deterministic sizes.
pub enum Sampler {
    /// Exponential with this mean \[time\], the most common case.
    Exponential(f64),
    /// Constant size \[time\].
    Deterministic(f64),
    /// Any other distribution.
    Other(Box<dyn Fn(&mut RandomStream) -> f64 + Send + Sync>),
}

impl Sampler {
    /// Creates a sampler for a distribution.
    pub fn of(size: &SizeDistribution) -> Self {
        if size.is_exponential() {
            return Sampler::Exponential(size.mean());
        }
        Sampler::Other(match size {
            SizeDistribution::Exponential { .. }
            | SizeDistribution::Erlang { .. }
            | SizeDistribution::Hyperexponential { .. }
            | SizeDistribution::BalancedHyperexponential { .. }
            | SizeDistribution::Coxian { .. } => {
                let phases = size.phases().expect("the distribution has stages");
                Box::new(move |stream| through_stages(&phases, stream))
            }
            SizeDistribution::Deterministic { mean } => {
                return Sampler::Deterministic(mean.value());
            }
            SizeDistribution::Lognormal { mean, scv } => {
                let (mu, sigma) = lognormal(mean.value(), scv.value());
                Box::new(move |stream| (mu + sigma * stream.normal()).exp())
            }
            SizeDistribution::Weibull { mean, scv } => {
                let (shape, scale) = weibull(mean.value(), scv.value());
                let inverse_shape = 1.0 / shape;
                Box::new(move |stream| scale * stream.exponential().powf(inverse_shape))
            }
            SizeDistribution::Pareto { shape, low, high } => {
                let [shape, low, high] = [shape, low, high].map(|x| x.value());
                // The distribution is inverted: `low (1 − U (1 − (low/high)^α))^(−1/α)`.
                let reach = (-shape * (high / low).ln()).exp_m1();
                Box::new(move |stream| {
                    let fallen = stream.uniform() * reach;
                    // `powf` is twice as fast, and loses precision only for α near 0.
                    let growth = if shape > 1e-3 {
                        (1.0 + fallen).powf(-1.0 / shape)
                    } else {
                        (-fallen.ln_1p() / shape).exp()
                    };
                    // Rounding must not exceed the upper end.
                    (low * growth).min(high)
                })
            }
            SizeDistribution::Uniform { low, high } => {
                let (high, width) = (high.value(), high.value() - low.value());
                // The result is never 0, because the random number is less than 1.
                Box::new(move |stream| high - width * stream.uniform())
            }
            SizeDistribution::Empirical {
                values,
                probabilities,
            } => {
                let which = Alias::new(&weights(probabilities.as_deref(), values.len()));
                let values = numbers(values);
                Box::new(move |stream| values[which.draw(stream)])
            }
        })
    }

    /// Returns the size of a job \[time\].
    pub fn draw(&self, stream: &mut RandomStream) -> f64 {
        match self {
            Sampler::Exponential(mean) => stream.exponential() * mean,
            Sampler::Deterministic(size) => *size,
            Sampler::Other(draw) => draw(stream),
        }
    }
}

fn through_stages(phases: &PhaseType, stream: &mut RandomStream) -> f64 {
    let (initial, rates, onward) = (&phases.initial, &phases.rates, &phases.onward);
    let mut stage = 0;
    if initial[0] != 1.0 {
        let mut point = stream.uniform();
        // Because of rounding, the sum may be less than 1; then the last stage is used.
        let last = initial.len() - 1;
        let chosen = initial[..last].iter().position(|p| {
            point -= p;
            point < 0.0
        });
        stage = chosen.unwrap_or(last);
    }
    let mut size = stream.exponential() / rates[stage];
    while onward[stage] == 1.0 || onward[stage] > 0.0 && stream.uniform() < onward[stage] {
        stage += 1;
        size += stream.exponential() / rates[stage];
    }
    size
}

/// Returns the values of these numbers.
pub fn numbers(decimals: &[Decimal]) -> Vec<f64> {
    decimals.iter().map(|x| x.value()).collect()
}

/// Returns the given probabilities, or equal weights if there are none.
pub fn weights(probabilities: Option<&[Decimal]>, count: usize) -> Vec<f64> {
    probabilities.map_or_else(|| vec![1.0; count], numbers)
}
