use std::collections::BTreeMap;

use super::dispersion::RateModulation;
use super::report::short;
use synth_core::number::Decimal;
use synth_queues::distribution::{ArrivalProcess, CommonModulation};

/// Builds a modulated Poisson process with two states, the rate `λ` \[1/s\], the index of
/// dispersion `1 + κ`, and the relaxation rate `r` (`forgets`).
///
/// Both states have the same mean duration, and the rates are `λ ± √(κrλ/2)`. If the lower rate
/// would be negative, jobs only arrive in the shorter of the states.
pub(crate) fn modulated(rate: f64, kappa: f64, forgets: f64) -> ArrivalProcess {
    let half = (0.5 * kappa * forgets * rate).sqrt();
    let (rates, [up, down]) = if half <= rate {
        ([rate - half, rate + half], [0.5 * forgets; 2])
    } else {
        let busy = 2.0 * rate / (2.0 * rate + kappa * forgets);
        ([0.0, rate / busy], [forgets * busy, forgets * (1.0 - busy)])
    };
    let zero = Decimal::ZERO;
    ArrivalProcess::MarkovModulated {
        rates: rates.map(short).to_vec(),
        switching: vec![vec![zero, short(up)], vec![short(down), zero]],
    }
}

/// Returns `κ = A Σ λ_i E[X_i²] / Σ λ_i E[X_i]²` from the rates and moments of independent types.
pub(crate) fn kappa(types: impl Iterator<Item = (f64, (f64, f64))>, excess: RateModulation) -> f64 {
    let (mut squares, mut means) = (0.0, 0.0);
    for (rate, (mean, square)) in types {
        squares += rate * square;
        means += rate * mean * mean;
    }
    excess.amount * squares / means
}

/// Builds a modulation of all types with two states and this dispersion of work, from the total
/// rate `λ` \[1/s\] and the moments of the work of a job. If `v` is the variance of the factor of
/// the rate, `A = λ E[X]²/E[X²] · 2v/r`. The factors are `1 ± √v`, or 0 and `1 + v` if `v > 1`.
pub(crate) fn common(rate: f64, work: (f64, f64), excess: RateModulation) -> CommonModulation {
    let variance = excess.amount * excess.rate * work.1 / (2.0 * rate * work.0 * work.0);
    let (factors, busy) = if variance <= 1.0 {
        ([1.0 - variance.sqrt(), 1.0 + variance.sqrt()], 0.5)
    } else {
        ([0.0, 1.0 + variance], 1.0 / (1.0 + variance))
    };
    let zero = Decimal::ZERO;
    let [up, down] = [excess.rate * busy, excess.rate * (1.0 - busy)].map(short);
    CommonModulation {
        factors: factors.map(short).to_vec(),
        switching: vec![vec![zero, up], vec![down, zero]],
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BatchStatistics {
    counts: BTreeMap<u32, u64>,
    /// `Σ n(n − 1)`, `Σ (n − 1) Σx`, `Σ (n − 1) Σx²`, `Σ ((Σx)² − Σx²)` over batches of `n` sizes.
    sums: [f64; 4],
}

const NUMBERS: usize = 50;
/// Larger batches are counted as if they had this number of jobs.
const MAX_JOBS: u32 = 100_000;

impl BatchStatistics {
    pub(crate) fn add(&mut self, jobs: u32, sum: f64, squares: f64) {
        *self.counts.entry(jobs).or_default() += 1;
        let others = f64::from(jobs - 1);
        let [pairs, sums, all_squares, products] = &mut self.sums;
        *pairs += f64::from(jobs) * others;
        *sums += others * sum;
        *all_squares += others * squares;
        *products += sum * sum - squares;
    }

    /// Returns the correlation of the sizes of two jobs in the same batch, in \[0, 1\].
    pub(crate) fn size_correlation(&self) -> f64 {
        let [pairs, sum, squares, products] = self.sums;
        let mean = sum / pairs;
        let variance = squares / pairs - mean * mean;
        let correlation = (products / pairs - mean * mean) / variance;
        match pairs > 0.0 && variance > 0.0 {
            true => correlation.clamp(0.0, 1.0),
            false => 0.0,
        }
    }

    pub(crate) fn process(&self, rate: f64) -> ArrivalProcess {
        let (sizes, weights) = self.numbers();
        let pairs = sizes.into_iter().zip(millionths(&weights));
        let (sizes, probabilities): (Vec<u32>, Vec<u64>) = pairs.filter(|(_, p)| *p > 0).unzip();
        let pairs = sizes.iter().zip(&probabilities);
        let mean: f64 = pairs.map(|(n, p)| f64::from(*n) * *p as f64 / 1e6).sum();
        let decimal = |p: &u64| Decimal::parse(&format!("{p}e-6")).unwrap_or(Decimal::ZERO);
        ArrivalProcess::Batches {
            rate: short(rate / mean),
            sizes,
            probabilities: Some(probabilities.iter().map(decimal).collect()),
            alike: short(self.size_correlation()),
        }
    }

    /// Returns the numbers of jobs in a batch and their frequencies, merged after [`NUMBERS`].
    fn numbers(&self) -> (Vec<u32>, Vec<f64>) {
        let counts = self.counts.iter();
        let counts = counts.map(|(n, count)| ((*n).min(MAX_JOBS), *count));
        let counts: Vec<(u32, u64)> = counts.collect();
        let (few, many) = counts.split_at(counts.len().min(NUMBERS));
        let part = |part: &[(u32, u64)]| {
            let batches: u64 = part.iter().map(|(_, count)| count).sum();
            let jobs: u64 = part.iter().map(|(n, count)| u64::from(*n) * count).sum();
            ((jobs as f64 / batches as f64).round() as u32, batches)
        };
        let parts = many.chunks(many.len().div_ceil(NUMBERS).max(1)).map(part);
        let all = few.iter().copied().chain(parts);
        all.map(|(n, count)| (n, count as f64)).unzip()
    }
}

/// Returns the probabilities in millionths, whose sum is exactly 1.
fn millionths(weights: &[f64]) -> Vec<u64> {
    let total: f64 = weights.iter().sum();
    let part = |w: &f64| (1e6 * w / total).round() as u64;
    let mut parts: Vec<u64> = weights.iter().map(part).collect();
    let sum: u64 = parts.iter().sum();
    if let Some(largest) = parts.iter_mut().max() {
        *largest = (*largest + 1_000_000).saturating_sub(sum);
    }
    parts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn batches_preserve_rate_and_size_correlation() {
        let mut batched = BatchStatistics::default();
        for sizes in [vec![5.0], vec![9.0], vec![2.0, 2.0], vec![7.0, 7.0]] {
            let squares = sizes.iter().map(|x| x * x).sum();
            batched.add(sizes.len() as u32, sizes.iter().sum(), squares);
        }
        assert_eq!(batched.size_correlation(), 1.0);
        let process = batched.process(3.0);
        assert!((process.rate() - 3.0).abs() < 1e-8, "{process:?}");
        batched.add(2, 9.0, 2.0 * 2.0 + 7.0 * 7.0);
        assert!((batched.size_correlation() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn grouping_many_batch_sizes_preserves_the_rate() {
        let mut batched = BatchStatistics::default();
        (1..=3000).for_each(|n| batched.add(n, f64::from(n), f64::from(n)));
        let process = batched.process(0.5);
        assert!((process.rate() - 0.5).abs() < 1e-8);
        let ArrivalProcess::Batches { sizes, .. } = process else {
            unreachable!()
        };
        assert!(sizes.len() <= 100 && sizes.is_sorted());
    }

    #[test]
    fn common_modulation_has_the_requested_dispersion() {
        for (amount, rate) in [(3.0, 0.01), (400.0, 0.02)] {
            let excess = RateModulation { amount, rate };
            let (rate, work) = (0.5, (4.0, 40.0));
            let common = common(rate, work, excess);
            let [low, high] = [0, 1].map(|s| common.factors[s].value());
            let [up, down] = [0, 1].map(|s| common.switching[s][1 - s].value());
            let busy = up / (up + down);
            assert!((busy * high + (1.0 - busy) * low - 1.0).abs() < 1e-7);
            let variance = busy * (high - 1.0).powi(2) + (1.0 - busy) * (low - 1.0).powi(2);
            let found = rate * work.0 * work.0 / work.1 * 2.0 * variance / (up + down);
            assert!((found / amount - 1.0).abs() < 1e-6, "{common:?}");
        }
    }

    /// The solution for two states is `IDC(∞) − 1 = 2 p(1 − p)(λ₁ − λ₀)²/(r λ)`.
    #[test]
    fn modulation_has_the_requested_rate_and_dispersion() {
        for (rate, kappa, forgets) in [(2.0, 3.0, 0.01), (0.001, 50.0, 0.3), (5.0, 0.2, 7.0)] {
            let process = modulated(rate, kappa, forgets);
            assert!((process.rate() / rate - 1.0).abs() < 1e-7, "{process:?}");
            let ratio = process.dispersion() / (1.0 + kappa);
            assert!((ratio - 1.0).abs() < 1e-6, "{process:?}");
            let ArrivalProcess::MarkovModulated { switching, .. } = &process else {
                continue;
            };
            let forgotten = switching[0][1].value() + switching[1][0].value();
            assert!((forgotten / forgets - 1.0).abs() < 1e-7);
        }
    }
}
