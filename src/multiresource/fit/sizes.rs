//! How long jobs held their room: a sketch of the law whose mean is exact.

use std::collections::BTreeMap;

/// Sizes of jobs, each with a weight, of which memory does not grow with their number.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    count: u64,
    /// Sums of the weights and of their squares.
    weights: (f64, f64),
    kept: Kept,
}

/// Some thousand sizes are kept as they are, with their weights; of more, sums between bounds 1.6 % apart.
#[derive(Clone, Debug)]
enum Kept {
    Each(Vec<(u64, f64)>),
    Bins(BTreeMap<u64, Bin>),
}

impl Default for Kept {
    fn default() -> Self {
        Kept::Each(Vec::new())
    }
}

/// How many sizes there are, the sum of them, the sum of their weights, and of the weighted ones.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    count: f64,
    sum: f64,
    weight: f64,
    weighted: f64,
}

/// A size and the weight of the jobs that had it.
pub type Atom = (f64, f64);

/// Whether every job counts as one, or by its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighing {
    /// As one.
    Jobs,
    /// By its weight.
    Weights,
}

impl Sizes {
    /// The most that are kept one by one.
    const MOST: usize = 4096;

    /// Adds a job.
    pub fn add(&mut self, size: u64, weight: f64) {
        self.count += 1;
        self.weights.0 += weight;
        self.weights.1 += weight * weight;
        match &mut self.kept {
            Kept::Each(each) if each.len() < Self::MOST => each.push((size, weight)),
            Kept::Each(each) => {
                let mut bins = BTreeMap::new();
                each.iter().for_each(|known| enter(&mut bins, *known));
                enter(&mut bins, (size, weight));
                self.kept = Kept::Bins(bins);
            }
            Kept::Bins(bins) => enter(bins, (size, weight)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of their weights.
    pub fn weight(&self) -> f64 {
        self.weights.0
    }

    /// The sizes in ascending order, equal ones together; where they are kept between bounds, their means there.
    pub fn atoms(&self, by: Weighing) -> Vec<Atom> {
        match &self.kept {
            Kept::Each(each) => {
                let mut sorted = each.clone();
                sorted.sort_unstable_by_key(|(size, _)| *size);
                let equal = sorted.chunk_by(|a, b| a.0 == b.0);
                let atom = |same: &[(u64, f64)]| match by {
                    Weighing::Jobs => (same[0].0 as f64, same.len() as f64),
                    Weighing::Weights => (same[0].0 as f64, same.iter().map(|s| s.1).sum()),
                };
                equal.map(atom).collect()
            }
            Kept::Bins(bins) => {
                let atom = |bin: &Bin| match by {
                    Weighing::Jobs => (bin.sum / bin.count, bin.count),
                    Weighing::Weights => (bin.weighted / bin.weight, bin.weight),
                };
                bins.values().map(atom).collect()
            }
        }
    }
}

fn enter(bins: &mut BTreeMap<u64, Bin>, (size, weight): (u64, f64)) {
    let bin = bins.entry(bin(size)).or_default();
    let value = size as f64;
    bin.count += 1.0;
    bin.sum += value;
    bin.weight += weight;
    bin.weighted += weight * value;
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
    /// As how many jobs of equal weight they say: `(Σ w)²/Σ w²`.
    pub effective: f64,
}

impl Law {
    /// The law of these sizes, of which the `censored` ones are longer than they say: by the product-limit estimate, up
    /// to the longest time seen (Kaplan, Meier 1958, section 2).
    pub fn of(whole: &[&Sizes], censored: &[&Sizes], by: Weighing) -> Self {
        let (events, cuts) = (merged(whole, by), merged(censored, by));
        let all = || whole.iter().chain(censored);
        let count: u64 = all().map(|sizes| sizes.count).sum();
        let sum = |of: fn(&Sizes) -> f64| all().map(|sizes| of(sizes)).sum::<f64>();
        let effective = match by {
            Weighing::Jobs => count as f64,
            Weighing::Weights => sum(|s| s.weights.0).powi(2) / sum(|s| s.weights.1),
        };
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
        // Who is cut later than all ends.
        let longest = cuts.last().map(|cut| cut.0);
        // They are taken to end then.
        atoms.extend(longest.map(|longest| (longest, left)));
        Law {
            atoms,
            count,
            effective,
        }
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

    /// The share of the work that the longest 1 % of the jobs are.
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

    /// The means of so many equal parts of the jobs, in ascending order: the mean of all is kept, and the
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

/// All sizes of several in ascending order.
fn merged(all: &[&Sizes], by: Weighing) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = all.iter().flat_map(|sizes| sizes.atoms(by)).collect();
    atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(values: &[u64]) -> Sizes {
        let mut sizes = Sizes::default();
        values.iter().for_each(|value| sizes.add(*value, 1.0));
        sizes
    }

    /// Kaplan and Meier's own example (1958, section 2): deaths at .8, 3.1, 5.4, 9.2, losses at 1.0, 2.7, 7.0, 12.1.
    #[test]
    fn the_product_limit_estimate_is_that_of_its_paper() {
        let law = Law::of(
            &[&sizes(&[8, 31, 54, 92])],
            &[&sizes(&[10, 27, 70, 121])],
            Weighing::Jobs,
        );
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
        let law = Law::of(&[&binned], &[], Weighing::Jobs);
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
    fn weights_count_as_so_many_jobs() {
        let mut weighted = Sizes::default();
        [(1, 3.0), (5, 1.0), (9, 2.0)]
            .into_iter()
            .for_each(|(size, w)| weighted.add(size, w));
        let law = Law::of(&[&weighted], &[], Weighing::Weights);
        let same = Law::of(&[&sizes(&[1, 1, 1, 5, 9, 9])], &[], Weighing::Jobs);
        assert_eq!(law.atoms, same.atoms);
        assert!((law.effective - 36.0 / 14.0).abs() < 1e-12);
        assert!((Law::of(&[&weighted], &[], Weighing::Jobs).mean() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn equal_parts_keep_the_mean() {
        let law = Law::of(&[&sizes(&[1, 2, 3, 10, 84])], &[], Weighing::Jobs);
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
