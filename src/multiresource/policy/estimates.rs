use super::{Job, System};
use crate::multiresource::workload::Workload;

/// Users' estimates of their jobs' sizes.
///
/// The "f-model" of Mu'alem and Feitelson, IEEE TPDS 12(6), 2001: with an inflation f ≥ 1 a job
/// of size S is said to take `S·(1 + (f−1)·u)`, u uniform in \[0, 1); with f = 1 sizes are known
/// exactly. u is a hash of the job's number: rules draw no random numbers, and all rules get the same
/// estimates.
///
/// Where nothing is known of a job but its type, it is said to take that type's mean size; it may then run on.
#[derive(Clone, Debug)]
pub(super) enum Estimates {
    /// Sizes, times up to this.
    Inflated(f64),
    /// The types' mean sizes.
    Means(Vec<f64>),
    /// What came with the jobs.
    Limits,
}

impl Estimates {
    /// By mean sizes alone.
    pub fn by_mean(workload: &Workload) -> Self {
        let means = workload.types().iter().map(|t| t.mean_size());
        Estimates::Means(means.collect())
    }

    /// Whether they are made of sizes.
    pub fn need_sizes(&self) -> bool {
        matches!(self, Estimates::Inflated(_))
    }

    /// Whether they are limits that come with jobs.
    pub fn need_limits(&self) -> bool {
        matches!(self, Estimates::Limits)
    }

    /// The estimate of what is left of a job of type i \[time\]: by its mean of a whole one.
    pub fn of(&self, job: Job, i: usize, system: &System) -> f64 {
        match self {
            Estimates::Inflated(f) => inflated(*f, job, system.work_left(job)),
            Estimates::Means(means) => means[i],
            // Finite: of a job that came without a limit it is known that it ends.
            Estimates::Limits => system.limit_left(job).min(f64::MAX),
        }
    }
}

/// The estimate of a job of this size.
pub(super) fn inflated(f: f64, job: Job, size: f64) -> f64 {
    match f > 1.0 {
        true => size * (1.0 + (f - 1.0) * uniform(job.number)),
        false => size,
    }
}

/// A number in \[0, 1) for each job: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn uniform(number: u64) -> f64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of a million of them, within 4 standard errors.
    #[test]
    fn hashes_of_numbers_are_uniform() {
        let count = 1_000_000;
        let all = (0..count).map(uniform);
        let mean = all.clone().sum::<f64>() / count as f64;
        let square = all.clone().map(|u| u * u).sum::<f64>() / count as f64;
        assert!(
            (mean - 0.5).abs() < 4.0 * (1.0_f64 / 12.0 / 1e6).sqrt(),
            "{mean}"
        );
        assert!((square - 1.0 / 3.0).abs() < 4.0 * (4.0_f64 / 45.0 / 1e6).sqrt());
        assert!(all.into_iter().all(|u| (0.0..1.0).contains(&u)));
    }
}
