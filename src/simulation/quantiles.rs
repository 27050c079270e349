/// A histogram of positive numbers with bins of constant relative width (1.6 % and less):
/// 64 bins an octave, by the leading bits of the double itself.
#[derive(Clone)]
pub(crate) struct Histogram {
    bins: Vec<u64>,
    /// The leading bits of the lowest edge.
    first: usize,
}

/// Bits of the mantissa that are kept.
const KEPT: u32 = 6;
/// Octaves covered below and above the unit; the rest is clamped.
const OCTAVES: (usize, usize) = (32, 48);

impl Histogram {
    /// For numbers from 2^-32 to 2^48 of this unit, which is positive.
    pub fn new(unit: f64) -> Self {
        Histogram {
            bins: vec![0; (OCTAVES.0 + OCTAVES.1) << KEPT],
            first: leading(unit).saturating_sub(OCTAVES.0 << KEPT),
        }
    }

    #[inline(always)]
    pub fn add(&mut self, value: f64) {
        let last = self.bins.len() - 1;
        self.bins[leading(value).saturating_sub(self.first).min(last)] += 1;
    }

    pub fn clear(&mut self) {
        self.bins.fill(0);
    }

    /// Adds the data of another.
    pub fn merge(&mut self, other: &Histogram) {
        self.bins
            .iter_mut()
            .zip(&other.bins)
            .for_each(|(b, o)| *b += o);
    }

    /// A quantile, linear within a bin; `None` without data.
    pub fn quantile(&self, probability: f64) -> Option<f64> {
        let mut left = probability * self.bins.iter().sum::<u64>() as f64;
        for (key, bin) in self.bins.iter().enumerate() {
            let here = *bin as f64;
            if here > 0.0 && here >= left {
                let edge = |key| f64::from_bits(((self.first + key) as u64) << (52 - KEPT));
                let (low, high) = (edge(key), edge(key + 1));
                return Some(low + (high - low) * left / here);
            }
            left -= here;
        }
        None
    }
}

/// The sign, which is +, the exponent, and what is kept of the mantissa.
#[inline(always)]
fn leading(value: f64) -> usize {
    (value.to_bits() >> (52 - KEPT)) as usize
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quantiles_of_an_exponential_sample() {
        for mean in [1e-100, 1.0, 1e100] {
            let mut histogram = Histogram::new(mean);
            for n in 0..100_000 {
                histogram.add(-mean * (1.0 - (f64::from(n) + 0.5) / 1e5).ln());
            }
            for probability in [0.01, 0.5, 0.95, 0.99] {
                let exact = -mean * (1.0_f64 - probability).ln();
                let found = histogram.quantile(probability).unwrap();
                assert!(
                    (found / exact - 1.0).abs() < 2e-3,
                    "{probability}: {found} for {exact}"
                );
            }
        }
        assert_eq!(Histogram::new(1.0).quantile(0.5), None);
    }
}
