#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    /// The size of a job \[ticks\], or if it is censored, the part of it that was observed.
    pub size: u64,
    pub weight: f64,
    pub censored: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizes {
    /// The sizes \[ticks\] in ascending order (the last two can be equal), with probabilities > 0.
    pub atoms: Vec<(f64, f64)>,
    pub count: u64,
    pub effective_sample_size: f64,
}

impl Sizes {
    /// Computes the product-limit estimate (Kaplan, Meier 1958, section 2) up to the longest job.
    pub(crate) fn of(sizes: impl Iterator<Item = Observation>) -> Self {
        let mut sizes: Vec<Observation> = sizes.collect();
        sizes.sort_by_key(|own| own.size);
        let weights = || sizes.iter().map(|own| own.weight);
        let effective = weights().sum::<f64>().powi(2) / weights().map(|w| w * w).sum::<f64>();
        // This starts with the longest jobs, because a difference of sums would lose small weights.
        let mut at_risk = 0.0;
        let equal = sizes.chunk_by(|a, b| a.size == b.size).rev().map(|same| {
            let sum = |censored| {
                let own = same.iter().filter(|own| own.censored == censored);
                own.map(|own| own.weight).sum::<f64>()
            };
            let [ended_weight, censored_weight] = [false, true].map(sum);
            at_risk += ended_weight + censored_weight;
            (same[0].size, ended_weight, censored_weight, at_risk)
        });
        let mut descending: Vec<_> = equal.collect();
        let (mut survival, mut atoms) = (1.0, Vec::new());
        while let Some((size, ended_weight, censored_weight, at_risk)) = descending.pop() {
            let probability = survival * ended_weight / at_risk;
            if probability > 0.0 {
                atoms.push((size as f64, probability));
                survival -= probability;
            }
            if censored_weight > 0.0 && survival > 0.0 && descending.is_empty() {
                // The longest jobs are assumed to end at this time if they are censored.
                atoms.push((size as f64, survival));
            }
        }
        Sizes {
            atoms,
            count: sizes.len() as u64,
            effective_sample_size: effective,
        }
    }

    pub(crate) fn mean(&self) -> f64 {
        self.moment(|x| x)
    }

    pub(crate) fn second_moment(&self) -> f64 {
        self.moment(|x| x * x)
    }

    pub(crate) fn scv(&self) -> f64 {
        (self.second_moment() / self.mean().powi(2) - 1.0).max(0.0)
    }

    pub(crate) fn work_share_of_longest_percent(&self) -> f64 {
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

    /// Splits the sizes into `count` parts of equal probability, and returns the mean of each.
    pub(crate) fn parts(&self, count: usize) -> Vec<f64> {
        let width = 1.0 / count as f64;
        let mut atoms = self.atoms.iter().copied();
        let mut atom = atoms.next().unwrap_or((0.0, 1.0));
        let part = |_| {
            let (mut need, mut sum) = (width, 0.0);
            loop {
                let taken = atom.1.min(need);
                sum += taken * atom.0;
                need -= taken;
                atom.1 -= taken;
                if need <= 0.0 {
                    return sum / width;
                }
                let Some(next) = atoms.next() else {
                    // Because of rounding errors, the last size fills the rest.
                    return (sum + need * atom.0) / width;
                };
                atom = next;
            }
        };
        (0..count).map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(values: &[u64], weight: impl Fn(u64) -> f64) -> Sizes {
        Sizes::of(values.iter().map(|size| Observation {
            size: *size,
            weight: weight(*size),
            censored: false,
        }))
    }

    /// The deaths are at 0.8, 3.1, 5.4 and 9.2, and the losses at 1.0, 2.7, 7.0 and 12.1.
    #[test]
    fn product_limit_estimate_matches_the_paper() {
        let sizes = [8, 31, 54, 92, 10, 27, 70, 121].into_iter().enumerate();
        let found = Sizes::of(sizes.map(|(n, size)| Observation {
            size,
            weight: 1.0,
            censored: n > 3,
        }));
        let mut left = 1.0;
        let survival = found.atoms.iter().map(|(_, weight)| {
            left -= weight;
            left
        });
        let survival: Vec<f64> = survival.collect();
        for (found, expected) in survival.iter().zip([0.875, 0.70, 0.525, 0.2625, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{survival:?}");
        }
        assert_eq!(found.atoms[4].0, 121.0);
        assert!((found.atoms[4].1 - 0.2625).abs() < 1e-12);
    }

    #[test]
    fn a_small_weight_next_to_a_large_one_is_kept_or_omitted() {
        let sizes = sizes(&[1, 2, 3], |size| {
            [f64::exp2(55.0), 1.0, 1.0][size as usize - 1]
        });
        let probabilities = || sizes.atoms.iter().map(|(_, probability)| *probability);
        assert!(
            probabilities().all(|probability| probability > 0.0),
            "{sizes:?}"
        );
        assert_eq!(probabilities().sum::<f64>(), 1.0);
        assert_eq!(sizes.mean(), 1.0);
    }

    #[test]
    fn integer_weights_equal_repeated_jobs() {
        let weighted = sizes(&[1, 5, 9], |size| [3.0, 1.0, 2.0][size as usize / 4]);
        let same = sizes(&[1, 1, 1, 5, 9, 9], |_| 1.0);
        assert_eq!(weighted.atoms, same.atoms);
        assert!((weighted.effective_sample_size - 36.0 / 14.0).abs() < 1e-12);
        assert!((sizes(&[1, 5, 9], |_| 1.0).mean() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn equal_parts_preserve_the_mean() {
        let sizes = sizes(&[1, 2, 3, 10, 84], |_| 1.0);
        for count in [1, 2, 3, 5, 7, 1000] {
            let parts = sizes.parts(count);
            let mean = parts.iter().sum::<f64>() / count as f64;
            assert!((mean - 20.0).abs() < 1e-9, "{count}: {mean}");
            assert!(parts.is_sorted(), "{parts:?}");
        }
        for (found, size) in sizes.parts(5).into_iter().zip([1.0, 2.0, 3.0, 10.0, 84.0]) {
            assert!((found - size).abs() < 1e-12, "{found}");
        }
        assert!((sizes.work_share_of_longest_percent() - 0.01 * 84.0 / 20.0).abs() < 1e-12);
    }
}
