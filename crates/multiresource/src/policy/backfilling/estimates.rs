use super::estimator::finalized;
use crate::policy::{Information, Job, System};
use crate::workload::Workload;

/// The job sizes that are used by backfilling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimates {
    /// The "f-model" of Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. The estimate of a job of size
    /// `S` is `S·(1 + (f−1)·u)`, where `f ≥ 1`, and `u` is uniform in `[0, 1)`. It is a hash of the
    /// job number, so that all rules use the same estimates. If `f` is 1, sizes are known exactly.
    Inflated(f64),
    /// The mean size of the type of each job. A job may run longer than this.
    Means,
    /// The limits or sizes that the workload [declares](crate::workload::SizeInformation).
    Limits,
}

impl Estimates {
    /// Returns the information about jobs that is needed to compute the estimates.
    pub fn knows(self) -> Information {
        match self {
            Estimates::Inflated(_) => Information::Sizes,
            Estimates::Means => Information::Means,
            Estimates::Limits => Information::Estimates,
        }
    }
}

pub(in crate::policy) fn inflated(f: f64, job: Job, size: f64) -> f64 {
    if f > 1.0 {
        size * (1.0 + (f - 1.0) * uniform(job.number))
    } else {
        size
    }
}

/// Returns a number in the range `[0, 1)`, using SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn uniform(number: u64) -> f64 {
    let mixed = finalized(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

#[derive(Clone, Debug)]
pub(in crate::policy) struct SizeEstimates {
    pub estimates: Estimates,
    means: Vec<f64>,
}

impl SizeEstimates {
    pub(crate) fn new(estimates: Estimates, workload: &Workload) -> Self {
        let means = workload.types().iter().map(|t| t.mean_size());
        SizeEstimates {
            estimates,
            means: means.collect(),
        }
    }

    /// Returns the expected remaining size \[time\]. If it is a mean, the elapsed time is ignored.
    pub(crate) fn of(&self, job: Job, i: usize, system: &System) -> f64 {
        match self.estimates {
            Estimates::Inflated(f) => inflated(f, job, system.work_left(job)),
            Estimates::Means => self.means[i],
            // Finite, because a job without a limit also ends at some point.
            Estimates::Limits => system.limit_left(job).min(f64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_number_hashes_are_uniform() {
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
