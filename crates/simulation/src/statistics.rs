//! This module uses MSER-5 to detect the steady state, and batch means to compute the intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the median; `None` if there are no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    Some(values[(values.len() - 1) / 2].midpoint(upper))
}

/// Returns the mean of at least two independent replications.
pub fn over_replications(values: &[f64]) -> Estimate {
    let mean = mean(values);
    let deviations: Vec<f64> = values.iter().map(|x| x - mean).collect();
    Estimate::new(mean, &deviations, 1)
}

/// The minimum number of batches for an interval.
pub const BATCHES: usize = 32;

/// The estimate of a mean, with the half width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The point estimate.
    pub mean: f64,
    /// The half width of the 95 % confidence interval.
    pub half_width: f64,
    /// The standard error.
    pub standard_error: f64,
    /// The degrees of freedom of Student's t.
    pub freedom: f64,
}

impl Estimate {
    /// Creates an estimate from the deviations of the batches, `neighbours` for each replication.
    ///
    /// With a positive correlation `r` between neighboring batches, the width of the interval is
    /// multiplied by `√((1+r)/(1−r))`, as for an autoregressive series of first order, and the
    /// degrees of freedom are reduced likewise, at most to one batch for each replication.
    pub fn new(mean: f64, deviations: &[f64], neighbours: usize) -> Self {
        let n = deviations.len() as f64;
        let square = deviations.iter().map(|d| d * d).sum::<f64>();
        let runs = deviations.chunks(neighbours);
        let pairs = runs.flat_map(|run| run.windows(2)).map(|w| w[0] * w[1]);
        let count = n * (1.0 - 1.0 / neighbours as f64);
        let product: f64 = pairs.sum();
        let r = (product / count / (square / n)).clamp(0.0, 0.9);
        let r = if square > 0.0 && count > 0.0 { r } else { 0.0 };
        let widening = ((1.0 + r) / (1.0 - r)).min(neighbours as f64);
        let standard_error = (square / (n * (n - 1.0)) * widening).sqrt();
        Estimate::with_error(mean, standard_error, (n / widening - 1.0).max(1.0))
    }

    /// Creates an estimate without error.
    #[must_use]
    pub fn exact(mean: f64) -> Self {
        Estimate::with_error(mean, 0.0, 1.0)
    }

    /// Creates an estimate from a standard error and its degrees of freedom.
    pub fn with_error(mean: f64, standard_error: f64, freedom: f64) -> Self {
        Estimate {
            mean,
            half_width: student(0.975, freedom) * standard_error,
            standard_error,
            freedom,
        }
    }

    /// Scales the estimate.
    pub fn times(&self, factor: f64) -> Self {
        Estimate {
            mean: self.mean * factor,
            half_width: self.half_width * factor.abs(),
            standard_error: self.standard_error * factor.abs(),
            ..*self
        }
    }

    /// Widens the interval for the mean of a queue or of a time in it: a run that has seen few long
    /// queues has too small a mean and variance. In heavy traffic, the variance of the inverse of
    /// the mean does not depend on the mean. Its interval ends at `mean/(1 − d)` for the relative
    /// half width `d`, which is used on both sides, up to a factor of two.
    pub(super) fn of_queue(self) -> Self {
        let wider = 1.0 / (1.0 - self.relative()).max(0.5);
        Estimate {
            half_width: self.half_width * wider,
            standard_error: self.standard_error * wider,
            ..self
        }
    }

    pub(super) fn at_least(self, standard_error: f64) -> Self {
        if self.standard_error < standard_error {
            Estimate::with_error(self.mean, standard_error, self.freedom)
        } else {
            self
        }
    }

    /// Returns the relative half width, which is 0 if the value is exact.
    pub fn relative(&self) -> f64 {
        if self.half_width == 0.0 {
            0.0
        } else {
            self.half_width / self.mean.abs()
        }
    }

    /// Returns `true` if the two-sided interval contains the value, up to rounding errors of 1e-9.
    pub fn covers(&self, value: f64, confidence: f64) -> bool {
        let quantile = student(0.5 + confidence / 2.0, self.freedom);
        (value - self.mean).abs() <= quantile * self.standard_error + 1e-9 * value.abs()
    }
}

/// Returns the given quantile of Student's t distribution.
pub fn student(probability: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(probability))
}

/// Returns `true` if a series has reached a steady state according to MSER-5 (White, Simulation 69,
/// 1997): of all cuts in the first half, the one that minimizes the standard error of the rest must
/// be clearly before the middle. In the second half, a few observations may be close by chance.
pub(crate) fn has_level(series: &[f64]) -> bool {
    let group = (series.len() / 20).clamp(1, 5);
    let fives: Vec<f64> = series.chunks_exact(group).map(mean).collect();
    let (mut sum, mut square) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, value) in fives.iter().enumerate().rev() {
        sum += value;
        square += value * value;
        let n = (fives.len() - cut) as f64;
        let score = (square - sum * sum / n).max(0.0) / (n * n);
        if 2 * cut <= fives.len() && score <= best.0 {
            best = (score, cut);
        }
    }
    fives.len() >= 20 && 20 * best.1 < 9 * fives.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..n).map(|_| random.random::<f64>() - 0.5).collect()
    }

    #[test]
    fn detects_a_steady_state_only_after_a_short_transient() {
        let level_after = |memory: f64| {
            let mut series = noise(2000, 1);
            for (t, value) in series.iter_mut().enumerate() {
                *value += 20.0 * (-(t as f64) / memory).exp();
            }
            has_level(&series)
        };
        assert!(level_after(50.0));
        assert!(!level_after(500.0));
    }

    #[test]
    fn a_trend_has_no_steady_state() {
        let series: Vec<f64> = noise(2000, 2)
            .iter()
            .enumerate()
            .map(|(t, e)| e + t as f64)
            .collect();
        assert!(!has_level(&series));
    }

    /// With a probability of 0.999 (binomial), 926 to 972 of the intervals contain the mean.
    #[test]
    fn intervals_have_nominal_coverage() {
        let covered = (0..1000).filter(|seed| {
            let sample = noise(BATCHES, 1000 + seed);
            let mean = sample.iter().sum::<f64>() / BATCHES as f64;
            let deviations: Vec<f64> = sample.iter().map(|x| x - mean).collect();
            Estimate::new(mean, &deviations, 4).covers(0.0, 0.95)
        });
        let covered = covered.count();
        assert!((926..=985).contains(&covered), "{covered}");
    }
}
