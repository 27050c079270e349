use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;

/// A size distribution to test how much the policy depends on the sizes (section 5 of the
/// balanced-fairness paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Trial {
    /// The size distribution of the workload.
    Own,
    /// An exponential distribution. The means are then always the same as for balanced fairness.
    Exponential,
    /// The sum of 25 exponential phases with probability 1/6. Otherwise, this is a single phase.
    Bimodal,
    /// An exponential distribution whose mean is five times the mean of the workload with
    /// probability 1/6, and a fifth of it otherwise.
    Hyperexponential,
    /// The sum of `k ≤ 200` exponential phases with a probability proportional to `1/k²`.
    Zipf,
}

/// The probabilities 1/6 and 5/6, rounded so that the decimals have the exact sum 1.
const RARE_AND_USUAL: [f64; 2] = [0.166_666_666_7, 0.833_333_333_3];

impl Trial {
    /// Returns this distribution with the same mean as `own`.
    ///
    /// # Panics
    /// Panics if a multiple of the mean is out of the range of numbers.
    pub fn distribution(self, own: &SizeDistribution) -> SizeDistribution {
        let mean = own.mean();
        match self {
            Trial::Own => own.clone(),
            Trial::Exponential => SizeDistribution::Exponential {
                mean: decimal(mean),
            },
            Trial::Bimodal => {
                let mut weights = [0.0; 25];
                (weights[0], weights[24]) = (5.0, 1.0);
                phases(&weights, mean)
            }
            Trial::Hyperexponential => {
                let [rare, usual] = RARE_AND_USUAL;
                let means = [5.0 * mean, (1.0 - 5.0 * rare) / usual * mean];
                SizeDistribution::Hyperexponential {
                    probabilities: RARE_AND_USUAL.map(decimal).to_vec(),
                    means: means.map(decimal).to_vec(),
                }
            }
            Trial::Zipf => {
                let weights: Vec<f64> = (1..=200).map(|k| f64::from(k).powi(-2)).collect();
                phases(&weights, mean)
            }
        }
    }
}

fn decimal(x: f64) -> Decimal {
    Decimal::new(x).expect("a multiple of the mean should be a valid number")
}

/// Returns a mixture of Erlang distributions with this mean and equal phases, where the weight of
/// `k` phases is `weights[k − 1]`.
fn phases(weights: &[f64], mean: f64) -> SizeDistribution {
    let all: f64 = weights.iter().sum();
    let parts = (1..).zip(weights).map(|(k, w)| f64::from(k) * w / all);
    let count: f64 = parts.sum();
    let from = |k: usize| weights[k..].iter().sum::<f64>();
    let onward = (1..weights.len()).map(|k| decimal((from(k) / from(k - 1)).min(1.0)));
    SizeDistribution::Coxian {
        means: vec![decimal(mean / count); weights.len()],
        onward: onward.collect(),
    }
}
