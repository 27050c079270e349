/// A histogram of positive numbers with bins of constant relative width (1.6 % and less):
/// 64 bins an octave, by the leading bits of the double itself.
#[derive(Clone)]
pub(super) struct Histogram {
    bins: Vec<u64>,
}

/// Bits of the mantissa that are kept.
const KEPT: u32 = 6;
/// Exponents covered: 2^-32 to 2^48 of the time unit; the rest is clamped.
const OCTAVES: (i64, i64) = (-32, 48);
/// The leading bits of the lowest edge.
const FIRST: usize = ((1023 + OCTAVES.0) as usize) << KEPT;

impl Histogram {
    pub fn new() -> Self {
        let octaves = (OCTAVES.1 - OCTAVES.0) as usize;
        Histogram {
            bins: vec![0; octaves << KEPT],
        }
    }

    #[inline(always)]
    pub fn add(&mut self, value: f64) {
        let key = (value.to_bits() >> (52 - KEPT)) as usize;
        let last = self.bins.len() - 1;
        self.bins[key.saturating_sub(FIRST).min(last)] += 1;
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
                let (low, high) = (edge(key), edge(key + 1));
                return Some(low + (high - low) * left / here);
            }
            left -= here;
        }
        None
    }
}

/// Lower edge of a bin.
fn edge(key: usize) -> f64 {
    f64::from_bits(((key + FIRST) as u64) << (52 - KEPT))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quantiles_of_an_exponential_sample() {
        let mut histogram = Histogram::new();
        for n in 0..100_000 {
            histogram.add(-(1.0 - (f64::from(n) + 0.5) / 1e5).ln());
        }
        for probability in [0.01, 0.5, 0.95, 0.99] {
            let exact = -(1.0_f64 - probability).ln();
            let found = histogram.quantile(probability).unwrap();
            assert!(
                (found / exact - 1.0).abs() < 2e-3,
                "{probability}: {found} for {exact}"
            );
        }
        assert_eq!(Histogram::new().quantile(0.5), None);
    }
}
