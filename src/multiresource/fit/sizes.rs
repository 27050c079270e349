//! How long jobs held their room: a sketch of the law whose mean is exact.

use std::collections::BTreeMap;

/// Sizes of jobs, of which memory does not grow with their number.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    count: u64,
    kept: Kept,
}

/// Some thousand sizes are kept as they are; of more, numbers and sums between bounds 1.6 % apart.
#[derive(Clone, Debug)]
enum Kept {
    Each(Vec<u64>),
    Bins(BTreeMap<u64, (f64, f64)>),
}

impl Default for Kept {
    fn default() -> Self {
        Kept::Each(Vec::new())
    }
}

/// A size, and how many jobs had it or which share of them.
pub type Atom = (f64, f64);

impl Sizes {
    /// The most that are kept one by one.
    const MOST: usize = 4096;

    /// Adds a job.
    pub fn add(&mut self, size: u64) {
        self.count += 1;
        match &mut self.kept {
            Kept::Each(each) if each.len() < Self::MOST => each.push(size),
            Kept::Each(each) => {
                let mut bins = BTreeMap::new();
                each.iter().for_each(|known| enter(&mut bins, *known));
                enter(&mut bins, size);
                self.kept = Kept::Bins(bins);
            }
            Kept::Bins(bins) => enter(bins, size),
        }
    }

    /// Returns how many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sizes in ascending order, equal ones together; where they are kept between bounds, their means there.
    pub fn atoms(&self) -> Vec<Atom> {
        match &self.kept {
            Kept::Each(each) => {
                let mut sorted = each.clone();
                sorted.sort_unstable();
                let equal = sorted.chunk_by(|a, b| a == b);
                equal
                    .map(|same| (same[0] as f64, same.len() as f64))
                    .collect()
            }
            Kept::Bins(bins) => bins
                .values()
                .map(|(count, sum)| (sum / count, *count))
                .collect(),
        }
    }
}

fn enter(bins: &mut BTreeMap<u64, (f64, f64)>, size: u64) {
    let (count, sum) = bins.entry(bin(size)).or_default();
    *count += 1.0;
    *sum += size as f64;
}

/// Sizes below 128 have a bin each; beyond, 64 bins halve the way to the next power of two.
fn bin(size: u64) -> u64 {
    const DIGITS: u32 = 6;
    let bits = u64::BITS - size.leading_zeros();
    let shift = bits.saturating_sub(DIGITS + 1);
    (u64::from(shift) << (DIGITS + 1)) + (size >> shift)
}

/// The law of sizes of which some are known in part.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// Sizes \[ticks\] in ascending order with their weights, > 0, of sum 1.
    pub atoms: Vec<Atom>,
    /// Jobs that it stands on.
    pub count: u64,
}

impl Law {
    /// The law of these sizes, of which the `censored` ones are longer than they say: by the product-limit estimate, up
    /// to the longest time seen (Kaplan, Meier 1958, section 2).
    pub fn of(whole: &[&Sizes], censored: &[&Sizes]) -> Self {
        let (events, cuts) = (merged(whole), merged(censored));
        let all = whole.iter().chain(censored);
        let count: u64 = all.map(|sizes| sizes.count).sum();
        let mut at_risk: f64 = events.iter().chain(&cuts).map(|atom| atom.1).sum();
        let mut left = 1.0;
        let mut atoms = Vec::with_capacity(events.len() + 1);
        let mut cuts = cuts.into_iter().peekable();
        for (size, ends) in events {
            // Who is cut at the time of an end is at risk there.
            while let Some((_, gone)) = cuts.next_if(|(cut, _)| *cut < size) {
                at_risk -= gone;
            }
            let ended = left * ends / at_risk;
            atoms.push((size, ended));
            left -= ended;
            at_risk -= ends;
        }
        // Those cut later than all ends are taken to end at the last cut.
        let longest = cuts.last().map(|cut| cut.0);
        atoms.extend(longest.map(|longest| (longest, left)));
        Law { atoms, count }
    }

    /// Mean size \[ticks\].
    pub fn mean(&self) -> f64 {
        self.moment(|x| x)
    }

    /// Mean of the squares.
    pub fn square(&self) -> f64 {
        self.moment(|x| x * x)
    }

    /// Squared coefficient of variation.
    pub fn scv(&self) -> f64 {
        (self.square() / self.mean().powi(2) - 1.0).max(0.0)
    }

    /// Returns the share of the work that the longest 1 % of the jobs are.
    pub fn longest_hundredth(&self) -> f64 {
        let (mut left, mut work) = (0.01, 0.0);
        for (size, weight) in self.atoms.iter().rev() {
            let taken = weight.min(left);
            work += size * taken;
            left -= taken;
        }
        work / self.mean()
    }

    fn moment(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.atoms.iter().map(|(x, weight)| of(*x) * weight).sum()
    }

    /// Returns the means of so many equal parts of the jobs, in ascending order: the mean of all is kept, and the
    /// variation within a part is lost.
    pub fn parts(&self, count: usize) -> Vec<f64> {
        let width = 1.0 / count as f64;
        let mut atoms = self.atoms.iter().copied();
        let mut atom = atoms.next().unwrap_or((0.0, 1.0));
        let part = |_| {
            let (mut need, mut sum) = (width, 0.0);
            while need > 0.0 {
                let taken = atom.1.min(need);
                sum += taken * atom.0;
                need -= taken;
                atom.1 -= taken;
                if need > 0.0 {
                    match atoms.next() {
                        Some(next) => atom = next,
                        // Rounding has left a little over.
                        None => {
                            sum += need * atom.0;
                            break;
                        }
                    }
                }
            }
            sum / width
        };
        (0..count).map(part).collect()
    }
}

/// Returns all sizes of several in ascending order.
fn merged(all: &[&Sizes]) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = all.iter().flat_map(|sizes| sizes.atoms()).collect();
    atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(values: &[u64]) -> Sizes {
        let mut sizes = Sizes::default();
        values.iter().for_each(|value| sizes.add(*value));
        sizes
    }

    /// Kaplan and Meier's own example (1958, section 2): deaths at .8, 3.1, 5.4, 9.2, losses at 1.0, 2.7, 7.0, 12.1.
    #[test]
    fn the_product_limit_estimate_is_that_of_its_paper() {
        let law = Law::of(&[&sizes(&[8, 31, 54, 92])], &[&sizes(&[10, 27, 70, 121])]);
        let mut left = 1.0;
        let survival: Vec<f64> = law
            .atoms
            .iter()
            .map(|(_, weight)| {
                left -= weight;
                left
            })
            .collect();
        for (found, expected) in survival.iter().zip([0.875, 0.70, 0.525, 0.2625, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{survival:?}");
        }
        assert_eq!(law.atoms[4].0, 121.0);
        assert!((law.atoms.last().unwrap().1 - 0.2625).abs() < 1e-12);
    }

    #[test]
    fn bins_keep_sums_and_are_narrow() {
        let values: Vec<u64> = (0..10_000).map(|n| 1 + n * n).collect();
        let binned = sizes(&values);
        let law = Law::of(&[&binned], &[]);
        let exact = values.iter().map(|x| *x as f64).sum::<f64>() / 1e4;
        assert!((law.mean() / exact - 1.0).abs() < 1e-12);
        let squares = values.iter().map(|x| (*x as f64).powi(2)).sum::<f64>() / 1e4;
        assert!((law.square() / squares - 1.0).abs() < 1e-4);
        for (size, next) in (1..100_000).map(|x| (x, x + 1)) {
            assert!(bin(size) <= bin(next) && bin(next) - bin(size) <= 65);
        }
        let edges = (1..u64::MAX / 3)
            .step_by(usize::MAX / 1000)
            .all(|x| bin(2 * x) > bin(x));
        assert!(edges);
    }

    #[test]
    fn equal_parts_keep_the_mean() {
        let law = Law::of(&[&sizes(&[1, 2, 3, 10, 84])], &[]);
        for count in [1, 2, 3, 5, 7, 1000] {
            let parts = law.parts(count);
            let mean = parts.iter().sum::<f64>() / count as f64;
            assert!((mean - 20.0).abs() < 1e-9, "{count}: {mean}");
            assert!(parts.is_sorted(), "{parts:?}");
        }
        let parts = law.parts(5).into_iter().zip([1.0, 2.0, 3.0, 10.0, 84.0]);
        assert!(
            parts
                .clone()
                .all(|(found, size)| (found - size).abs() < 1e-12),
            "{parts:?}"
        );
        assert!((law.longest_hundredth() - 0.01 * 84.0 / 20.0).abs() < 1e-12);
    }
}
