use synth_core::number::Decimal;
use synth_queues::law::Size;

/// Laws of sizes that a policy is tried with, to see how far it depends on them: those of the balanced-fairness paper
/// (section 5), each with the workload's mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Trial {
    /// The workload's.
    Own,
    /// Exponential: with it any number of interruptions has the means of balanced fairness.
    Exponential,
    /// 25 phases with probability 1/6, else one.
    Bimodal,
    /// Five times the mean with probability 1/6, else a fifth of it, both exponential.
    Hyperexponential,
    /// k phases with a probability that goes as 1/k², k to 200.
    Zipf,
}

/// A sixth, and five, to so many digits; of sum 1 exactly as decimals.
const RARE_AND_USUAL: [f64; 2] = [0.166_666_666_7, 0.833_333_333_3];

impl Trial {
    /// Returns the law with the mean of another one.
    ///
    /// # Panics
    /// When the mean is so large or small that a multiple of it is out of the range of numbers.
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

/// Returns a law of exponential phases of equal means, in which the numbers of phases from 1 on have these weights.
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
