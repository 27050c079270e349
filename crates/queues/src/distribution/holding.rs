use num_rational::BigRational;

use super::SizeDistribution;
use super::moments::of_sum;
use crate::ctmc::PhaseType;

/// The distribution of the sum of a start latency `L`, if there is one, and an independent run `S`.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldingTime {
    latency: Option<SizeDistribution>,
    run: SizeDistribution,
}

const MOST_STAGES: usize = 200;

impl HoldingTime {
    /// Creates the distribution from the start latency, if there is one, and the run.
    pub fn new(latency: Option<SizeDistribution>, run: SizeDistribution) -> Self {
        HoldingTime { latency, run }
    }

    /// Returns the distribution of the run `S`.
    pub fn run(&self) -> &SizeDistribution {
        &self.run
    }

    /// Returns the mean `E[L] + E[S]` \[time\], which is positive.
    pub fn mean(&self) -> f64 {
        let latency = self.latency.as_ref().map_or(0.0, SizeDistribution::mean);
        latency + self.run.mean()
    }

    /// Returns the squared coefficient of variation, `(Var(L) + Var(S)) / (E[L] + E[S])²`.
    pub fn scv(&self) -> f64 {
        let Some(latency) = &self.latency else {
            return self.run.scv();
        };
        let mean = self.mean();
        let part = |law: &SizeDistribution| law.scv() * (law.mean() / mean).powi(2);
        part(latency) + part(&self.run)
    }

    /// Returns the moment `E[(L + S)^n]` \[time^n\] for `n` from 1 to 4.
    pub fn moment(&self, n: usize) -> f64 {
        let powers = |law: &SizeDistribution| {
            let [a, b, c, d] = [1, 2, 3, 4].map(|n| law.moment(n));
            [1.0, a, b, c, d]
        };
        match &self.latency {
            None => self.run.moment(n as i32),
            Some(latency) => of_sum(&powers(latency), &powers(&self.run), n),
        }
    }

    /// Returns the variance of the run divided by the variance of the sum, or 1 if both are 0.
    pub fn run_variance_share(&self) -> f64 {
        match self.scv() {
            0.0 => 1.0,
            scv => self.run.scv() * (self.run.mean() / self.mean()).powi(2) / scv,
        }
    }

    /// Returns `true` if the distribution is exponential. If there is a latency, it never is.
    pub fn is_exponential(&self) -> bool {
        self.latency.is_none() && self.run.is_exponential()
    }

    /// Returns the phase-type representation, or `None` if there is none with at most 200 stages.
    pub fn phases(&self) -> Option<PhaseType> {
        let run = self.run.phases()?;
        let Some(latency) = &self.latency else {
            return Some(run);
        };
        let sum = latency.phases()?.plus(&run);
        (sum.rates.len() <= MOST_STAGES).then_some(sum)
    }

    /// Returns `E[L] + E[S]` as a fraction, or `None` if one of them is bounded Pareto.
    pub fn exact_mean(&self) -> Option<BigRational> {
        let latency = self.latency.iter().map(SizeDistribution::exact_mean);
        latency.chain([self.run.exact_mean()]).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use synth_core::number::Decimal;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    fn decimals(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().map(|text| decimal(text)).collect()
    }

    fn phase_types() -> Vec<SizeDistribution> {
        vec![
            SizeDistribution::Exponential {
                mean: decimal(".7"),
            },
            SizeDistribution::Erlang {
                stages: 3,
                mean: decimal("2"),
            },
            SizeDistribution::Hyperexponential {
                probabilities: decimals(&[".3", ".7"]),
                means: decimals(&["2", ".5"]),
            },
            SizeDistribution::BalancedHyperexponential {
                mean: decimal("1"),
                scv: decimal("4"),
            },
            SizeDistribution::Coxian {
                means: decimals(&[".5", "1", "3"]),
                onward: decimals(&[".5", ".2"]),
            },
        ]
    }

    fn moments(law: &PhaseType) -> (f64, f64) {
        let (mut mean, mut square) = (0.0, 0.0);
        let (mut next, mut after) = (0.0, 0.0);
        for k in (0..law.rates.len()).rev() {
            let (stage, q) = (1.0 / law.rates[k], law.onward[k]);
            next = stage + q * next;
            after = 2.0 * stage * next + q * after;
            mean += law.initial[k] * next;
            square += law.initial[k] * after;
        }
        (mean, square)
    }

    #[test]
    fn means_and_variances_of_sums_add_up() {
        for latency in phase_types() {
            for run in phase_types() {
                let sum = HoldingTime::new(Some(latency.clone()), run.clone());
                let stages = sum.phases().unwrap();
                let (mean, square) = moments(&stages);
                let variance = |law: &SizeDistribution| law.scv() * law.mean().powi(2);
                let expected = variance(&latency) + variance(&run);
                let reported = format!("{latency:?} + {run:?}");
                assert!(
                    (mean - latency.mean() - run.mean()).abs() < 1e-12,
                    "{reported}"
                );
                assert!(
                    (square - mean * mean - expected).abs() < 1e-11,
                    "{reported}"
                );
                assert!((sum.mean() - mean).abs() < 1e-12, "{reported}");
                assert!(
                    (sum.scv() * mean * mean - expected).abs() < 1e-11,
                    "{reported}"
                );
                assert!((stages.initial.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                assert_eq!(stages.onward.last(), Some(&0.0));
                assert!(!sum.is_exponential());
            }
        }
    }

    /// For the means 1 and ½, `P(X > x) = 2 e^{-x} − e^{-2x}`.
    #[test]
    fn a_sum_of_two_exponentials_is_hypoexponential() {
        let [one, half] = ["1", ".5"].map(|mean| SizeDistribution::Exponential {
            mean: decimal(mean),
        });
        let stages = HoldingTime::new(Some(one), half).phases().unwrap();
        assert_eq!(
            (stages.rates.as_slice(), stages.rates.len()),
            (&[1.0, 2.0][..], 2)
        );
        let x: f64 = 0.8;
        let (mut alive, mut inside, mut poisson) = (0.0, [1.0, 0.0], (-2.0 * x).exp());
        for n in 1..60 {
            alive += poisson * (inside[0] + inside[1]);
            inside = [0.5 * inside[0], 0.5 * inside[0]];
            poisson *= 2.0 * x / f64::from(n);
        }
        let closed = 2.0 * (-x).exp() - (-2.0 * x).exp();
        assert!((alive - closed).abs() < 1e-12, "{alive} {closed}");
    }

    #[test]
    fn without_a_latency_the_run_is_unchanged() {
        for run in phase_types() {
            let alone = HoldingTime::new(None, run.clone());
            assert_eq!(alone.mean().to_bits(), run.mean().to_bits());
            assert_eq!(alone.scv().to_bits(), run.scv().to_bits());
            assert_eq!(alone.phases(), run.phases());
            assert_eq!(alone.exact_mean(), run.exact_mean());
            assert_eq!(alone.run_variance_share(), 1.0);
        }
    }

    #[test]
    fn sums_without_stages_have_mean_and_variation() {
        let latency = SizeDistribution::Deterministic {
            mean: decimal(".5"),
        };
        let run = SizeDistribution::Exponential { mean: decimal("2") };
        let sum = HoldingTime::new(Some(latency), run);
        assert_eq!(sum.phases(), None);
        assert_eq!(sum.mean(), 2.5);
        assert!((sum.scv() - 0.64).abs() < 1e-15);
        assert_eq!(sum.exact_mean(), Some(decimal("2.5").exact()));
        assert_eq!(sum.run_variance_share(), 1.0);
    }
}
