/// A histogram of positive numbers with 64 bins per octave, whose width is at most 1.6 %.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    bins: Vec<u64>,
    /// The [leading] bits of the first bin.
    first: usize,
    range: (usize, usize),
    seen: (f64, f64),
}

const NONE_SEEN: (f64, f64) = (f64::INFINITY, 0.0);

const KEPT: u32 = 6;
const OCTAVE: usize = 1 << KEPT;
/// The number of octaves below and above the unit. All other values are clamped to this range.
const OCTAVES: (usize, usize) = (32, 48);

impl Histogram {
    /// Creates a histogram for numbers from 2^-32 to 2^48 times `unit`, which must be > 0.
    pub(crate) fn new(unit: f64) -> Self {
        let lowest = leading(unit).saturating_sub(OCTAVES.0 * OCTAVE);
        let highest = lowest + (OCTAVES.0 + OCTAVES.1) * OCTAVE - 1;
        Histogram {
            bins: Vec::new(),
            first: lowest,
            range: (lowest, highest),
            seen: NONE_SEEN,
        }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, value: f64) {
        self.seen = (self.seen.0.min(value), self.seen.1.max(value));
        let key = leading(value);
        match self.bins.get_mut(key.wrapping_sub(self.first)) {
            Some(bin) => *bin += 1,
            None => self.add_beyond(key),
        }
    }

    #[cold]
    fn add_beyond(&mut self, key: usize) {
        let key = key.clamp(self.range.0, self.range.1);
        self.cover(key, key);
        self.bins[key - self.first] += 1;
    }

    fn cover(&mut self, low: usize, high: usize) {
        let octave = |key: usize| (key - self.range.0) / OCTAVE * OCTAVE + self.range.0;
        let (low, end) = (octave(low), octave(high) + OCTAVE);
        if self.bins.is_empty() {
            self.first = low;
        }
        if low < self.first {
            self.bins.splice(0..0, vec![0; self.first - low]);
            self.first = low;
        }
        let length = (end - self.first).max(self.bins.len());
        self.bins.resize(length, 0);
    }

    pub(crate) fn clear(&mut self) {
        self.bins.fill(0);
        self.seen = NONE_SEEN;
    }

    /// Adds the numbers of another histogram with the same unit.
    pub(crate) fn merge(&mut self, other: &Histogram) {
        if other.bins.is_empty() {
            return;
        }
        self.seen.0 = self.seen.0.min(other.seen.0);
        self.seen.1 = self.seen.1.max(other.seen.1);
        self.cover(other.first, other.first + other.bins.len() - 1);
        let own = &mut self.bins[other.first - self.first..];
        own.iter_mut().zip(&other.bins).for_each(|(b, o)| *b += o);
    }

    pub(crate) fn count(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Returns the variance of the numbers, with an error of at most 1.6 %, or 0 if there are none.
    pub(crate) fn variance(&self) -> f64 {
        let moment = |power: i32| {
            let bins = self.bins.iter().enumerate();
            let sum: f64 = bins
                .map(|(n, bin)| *bin as f64 * self.lower_edge(n).powi(power))
                .sum();
            sum / self.count().max(1) as f64
        };
        moment(2) - moment(1).powi(2)
    }

    fn lower_edge(&self, bin: usize) -> f64 {
        f64::from_bits(((self.first + bin) as u64) << (52 - KEPT))
    }

    /// Returns a quantile, interpolated within a bin and clamped to the range; `None` if empty.
    pub(crate) fn quantile(&self, probability: f64) -> Option<f64> {
        let mut left = probability * self.count() as f64;
        for (n, bin) in self.bins.iter().enumerate() {
            let here = *bin as f64;
            if here > 0.0 && here >= left {
                // The lowest bin also contains all values that are smaller.
                if n == 0 && self.first == self.range.0 {
                    return Some(self.seen.0);
                }
                let (low, high) = (self.lower_edge(n), self.lower_edge(n + 1));
                let inside = low + (high - low) * left / here;
                return Some(inside.max(self.seen.0).min(self.seen.1));
            }
            left -= here;
        }
        None
    }
}

/// Returns the sign (which is positive), the exponent, and the leading bits of the mantissa.
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
        let mut zeros = Histogram::new(1.0);
        [0.0, 0.0, 0.0, 2.0]
            .into_iter()
            .for_each(|value| zeros.add(value));
        assert_eq!(zeros.quantile(0.5), Some(0.0));
        assert!(zeros.quantile(0.99).unwrap() > 1.9);
    }

    #[test]
    fn stores_only_octaves_that_occur() {
        let numbers = [3.0, 1e-9, 7e12, 0.1, 3.1, 1e-300, 1e300, 40.0];
        let of = |numbers: &[f64]| {
            let mut histogram = Histogram::new(1.0);
            numbers.iter().for_each(|x| histogram.add(*x));
            histogram
        };
        let mut parts = of(&numbers[..3]);
        parts.merge(&of(&[]));
        parts.merge(&of(&numbers[3..]));
        let whole = of(&numbers);
        assert_eq!(whole.bins.iter().sum::<u64>(), 8);
        assert_eq!(whole.bins.len(), (OCTAVES.0 + OCTAVES.1) * OCTAVE);
        for eighth in 1..=8 {
            let probability = f64::from(eighth) / 8.0;
            assert_eq!(parts.quantile(probability), whole.quantile(probability));
        }
        let median = whole.quantile(0.5).unwrap();
        assert!((3.0..3.05).contains(&median), "{median}");
        assert_eq!(of(&[5.0, 6.0]).bins.len(), OCTAVE);
        for probability in [0.01, 0.5, 0.99] {
            assert_eq!(of(&[45.0; 7]).quantile(probability), Some(45.0));
        }
    }
}
