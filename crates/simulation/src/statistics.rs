//! Output analysis: levels by MSER-5, intervals by batch means of independent replications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the mean of some values.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the median of some values; none of none.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    // Both may be infinite.
    Some(values[(values.len() - 1) / 2].midpoint(upper))
}

/// Returns the mean of what independent replications, two at least, measured.
pub fn over_replications(values: &[f64]) -> Estimate {
    let mean = mean(values);
    let deviations: Vec<f64> = values.iter().map(|x| x - mean).collect();
    Estimate::new(mean, &deviations, 1)
}

/// Batches behind an interval, at least.
pub const BATCHES: usize = 32;

/// A mean with half the width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The point estimate.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval.
    pub half_width: f64,
    /// The standard error behind it.
    pub standard_error: f64,
    /// The degrees of freedom of Student's t behind it.
    pub freedom: f64,
}

impl Estimate {
    /// Returns the estimate `mean`, from what each batch deviates by; runs of `neighbours` of them come
    /// from one replication.
    ///
    /// Positive correlation r of neighbouring batches widens it by `√((1+r)/(1−r))`, as for an
    /// autoregressive series of order one, and takes from the degrees of freedom what it takes from
    /// the number of independent batches; at most as if all batches of a replication were one.
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

    /// Returns what is known without error.
    #[must_use]
    pub fn exact(mean: f64) -> Self {
        Estimate::with_error(mean, 0.0, 1.0)
    }

    /// Returns the estimate `mean` of this standard error, from so many degrees of freedom.
    pub fn with_error(mean: f64, standard_error: f64, freedom: f64) -> Self {
        Estimate {
            mean,
            half_width: student(0.975, freedom) * standard_error,
            standard_error,
            freedom,
        }
    }

    /// Returns the estimate of this multiple of it.
    pub fn times(&self, factor: f64) -> Self {
        Estimate {
            mean: self.mean * factor,
            half_width: self.half_width * factor.abs(),
            standard_error: self.standard_error * factor.abs(),
            ..*self
        }
    }

    /// Returns the estimate as that of the mean of a queue, or of a time in it.
    ///
    /// A run that by chance saw few long queues measures both too small a mean and too small a spread, and
    /// one that ends where its interval is narrow is such a run more often than not. In heavy traffic
    /// the spread goes with the square of the mean, so that 1/mean has one that does not depend on it:
    /// the interval in 1/mean ends at `mean/(1 − d)`, d the relative half-width, and so far it goes on
    /// both sides here; to twice the width at most.
    pub fn of_queue(self) -> Self {
        let wider = 1.0 / (1.0 - self.relative()).max(0.5);
        Estimate {
            half_width: self.half_width * wider,
            standard_error: self.standard_error * wider,
            ..self
        }
    }

    /// Returns the estimate with no less than this standard error.
    #[must_use]
    pub fn at_least(self, standard_error: f64) -> Self {
        if self.standard_error < standard_error {
            Estimate::with_error(self.mean, standard_error, self.freedom)
        } else {
            self
        }
    }

    /// Returns the relative half-width; 0 for what is known without error.
    pub fn relative(&self) -> f64 {
        let is_exact = self.half_width == 0.0;
        if is_exact {
            0.0
        } else {
            self.half_width / self.mean.abs()
        }
    }

    /// Returns whether the value lies in the interval of this two-sided confidence, or within 1e-9 of
    /// it relatively: a constant is measured without any spread but that of rounding.
    pub fn covers(&self, value: f64, confidence: f64) -> bool {
        let quantile = student(0.5 + confidence / 2.0, self.freedom);
        (value - self.mean).abs() <= quantile * self.standard_error + 1e-9 * value.abs()
    }
}

/// Returns the quantile of Student's t.
pub fn student(probability: f64, freedom: f64) -> f64 {
    // The parameters are in range: location 0, scale 1, positive freedom.
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(probability))
}

/// Returns whether a series has a level, by MSER-5 (White, Simulation 69, 1997): observations are averaged by
/// fives; dropping as many leading ones as makes the standard error of the rest least, in the first half,
/// leaves more than that half.
///
/// Cuts in the second half are not looked at: there few observations lie close together by chance.
pub(crate) fn has_level(series: &[f64]) -> bool {
    // By fewer where they are few.
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
    fn a_short_transient_leaves_a_level_and_a_long_one_none() {
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
    fn a_trend_never_settles() {
        let series: Vec<f64> = noise(2000, 2)
            .iter()
            .enumerate()
            .map(|(t, e)| e + t as f64)
            .collect();
        assert!(!has_level(&series));
    }

    /// Of 95 % intervals for the mean of independent noise, 95 % cover it: of 1000, between
    /// 926 and 972 with probability .999 (binomial).
    #[test]
    fn intervals_cover_as_often_as_they_say() {
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
