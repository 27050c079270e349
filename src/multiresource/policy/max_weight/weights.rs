use crate::multiresource::artifact::MaxWeightPolicy;

/// What a job of type i weighs where so many of the type are in the system. Whole numbers, so that a sum that is
/// changed at each event never drifts, and branch and bound tells what is better by 1.
#[derive(Clone, Debug)]
pub(super) enum Weights {
    /// As much as there are jobs of its type.
    Jobs,
    /// `c_i Q_i^a`.
    Powers(Powers),
}

#[derive(Clone, Debug)]
pub(super) struct Powers {
    /// By type, the largest is [`UNIT`].
    worths: Vec<f64>,
    exponent: f64,
    /// By type, for few jobs.
    few: Vec<Vec<u64>>,
}

/// A weight of 1.
const UNIT: f64 = (1 << 20) as f64;

/// From here on a weight grows by 1 a job, so that sums of some thousand stay below 2^53: it still exceeds all bounds, as
/// the proof of stability needs it.
const MOST: f64 = (1_u64 << 42) as f64;

/// Weights of fewer jobs are looked up.
const FEW: u64 = 1024;

impl Weights {
    pub fn of_policy(policy: &MaxWeightPolicy) -> Self {
        let most = policy.worths.iter().copied().fold(0.0, f64::max);
        let worths = policy.worths.iter().map(|c| c / most * UNIT);
        let mut powers = Powers {
            worths: worths.collect(),
            exponent: policy.exponent,
            few: Vec::new(),
        };
        let of_type = |i: usize| (0..FEW).map(|jobs| powers.compute(i, jobs)).collect();
        powers.few = (0..powers.worths.len()).map(of_type).collect();
        Weights::Powers(powers)
    }

    pub fn of(&self, i: usize, jobs: u64) -> u64 {
        match self {
            Weights::Jobs => jobs,
            Weights::Powers(powers) => match powers.few[i].get(jobs as usize) {
                Some(weight) => *weight,
                None => powers.compute(i, jobs),
            },
        }
    }
}

impl Powers {
    /// At least 1 where there are jobs: none is worth nothing.
    fn compute(&self, i: usize, jobs: u64) -> u64 {
        let weight = self.worths[i] * (jobs as f64).powf(self.exponent);
        match weight <= MOST {
            true => (weight as u64).max(u64::from(jobs > 0)),
            false => MOST as u64 + jobs,
        }
    }
}
