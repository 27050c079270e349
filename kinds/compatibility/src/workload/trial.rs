use synth_core::number::Decimal;
use synth_queues::law::Size;

/// A size distribution to test the sensitivity of a policy (balanced-fairness paper, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Trial {
    /// The workload's own.
    Own,
    /// Exponential: for any number of interruptions the means are those of balanced fairness.
    Exponential,
    /// The sum of 25 exponential phases with probability 1/6, and a single one otherwise.
    Bimodal,
    /// Exponential: with probability 1/6 the mean is five times as large, otherwise a fifth of it.
    Hyperexponential,
    /// The sum of k exponential phases, where the probability of k ≤ 200 is proportional to 1/k².
    Zipf,
}

const RARE_AND_USUAL: [f64; 2] = [0.166_666_666_7, 0.833_333_333_3];

impl Trial {
    /// Returns this distribution with the mean of `own`.
    ///
    /// # Panics
    /// If a multiple of the mean overflows.
    pub fn law(self, own: &Size) -> Size {
        let mean = own.mean();
        match self {
            Trial::Own => own.clone(),
            Trial::Exponential => Size::Exponential {
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
                Size::Hyperexponential {
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
    Decimal::new(x).expect("a multiple of a mean in the range of numbers")
}

/// Returns a mixture of Erlang distributions, where the weights are given by number of phases.
fn phases(weights: &[f64], mean: f64) -> Size {
    let all: f64 = weights.iter().sum();
    let parts = (1..).zip(weights).map(|(k, w)| f64::from(k) * w / all);
    let count: f64 = parts.sum();
    let from = |k: usize| weights[k..].iter().sum::<f64>();
    let onward = (1..weights.len()).map(|k| decimal((from(k) / from(k - 1)).min(1.0)));
    Size::Coxian {
        means: vec![decimal(mean / count); weights.len()],
        onward: onward.collect(),
    }
}
