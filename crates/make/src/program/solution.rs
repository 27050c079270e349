//! The solved program: a mix with its certificate.

use std::time::Duration;

use num_rational::BigRational;
use num_traits::ToPrimitive;

pub use synth_multiresource::artifact::Mix;

use synth_multiresource::artifact::ShapeWorth;
use synth_multiresource::schedule::Schedule;
use synth_multiresource::workload::JobType;

/// A certificate is a proof when its relative gap is at most this.
pub const PROOF_GAP: f64 = 1e-9;

/// Loads within this of 1 cannot be distinguished from 1 in double precision: such a workload is
/// not called stabilizable.
pub const LOAD_MARGIN: f64 = 1e-11;

/// Relative distance at which both sides of the certificate are taken as met.
pub(super) const MET: f64 = 1e-11;

/// Limits on the work of [`solve`](super::solve).
#[derive(Clone, Debug)]
pub struct SolveLimits {
    /// Work of the searches for columns and proofs, in nodes of depth-first ones: some 20 ns each; past it the answer is "not
    /// proven", on each machine the same.
    pub work: u64,
    /// Wall-clock limit of the column generation; past it the answer is "not proven", too.
    pub time: Duration,
    /// How often a search that proves nothing is made longer, at most.
    pub longer: usize,
    /// The most schedules of the optimal face among which the optimum with the least to drain is
    /// sought; 0: any optimum is taken.
    pub face: usize,
}

impl Default for SolveLimits {
    fn default() -> Self {
        SolveLimits {
            work: 1_000_000_000,
            time: Duration::MAX,
            longer: usize::MAX,
            face: 20_000,
        }
    }
}

/// Two-sided evidence for the load.
#[derive(Clone, Debug)]
pub struct LoadCertificate {
    /// `max_i ρ_i` of the mixes: the load ρ from above.
    pub load: f64,
    /// Prices `y` (K), nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// What a server of each shape is worth at these prices (H), without the mixes. The prices of the resources are the dual
    /// of the priced knapsack's relaxation: they name what is scarce.
    pub servers: Vec<ShapeWorth>,
    /// No policy has a load below this: `1 / Σ_h n_h z_h`.
    pub bound: f64,
}

impl LoadCertificate {
    /// Returns `y_i/b_i` (K): what a running job of each type is worth.
    pub fn values(&self, types: &[JobType]) -> Vec<f64> {
        let pairs = self.prices.iter().zip(types);
        pairs.map(|(y, t)| y / t.offered_load()).collect()
    }

    /// Returns the relative gap `load/bound − 1`, at least 0: rounding may put the load below its bound.
    pub fn gap(&self) -> f64 {
        (self.load / self.bound - 1.0).max(0.0)
    }

    /// Returns whether the gap is small enough to be called a proof.
    pub fn proven(&self) -> bool {
        self.gap() <= PROOF_GAP
    }
}

/// The solved program.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The best mix of each shape (H), over all types of the fleet (K); none is empty. For one server, of the many optima
    /// one with little to drain.
    pub mixes: Vec<Mix>,
    /// The proof that they are best, or the gap that is left.
    pub certificate: LoadCertificate,
    /// The optimum in fractions, where it was sought and there is one.
    pub exact: Option<ExactLoad>,
    /// Of one server, schedules that optimal mixes may use, those of this mix among them; none where any optimum
    /// was taken.
    pub face: Vec<Schedule>,
    /// Work done: master programs solved.
    pub rounds: usize,
    /// Work done: columns in the last master.
    pub columns: usize,
}

/// The program's optimum in fractions.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLoad {
    /// `ρ = max_i b_i / (πW)_i` of the mix.
    pub load: BigRational,
    /// The schedules `W` (N × K) of the mix.
    pub schedules: Vec<Schedule>,
    /// Their weights `π` (N), positive, of sum 1.
    pub weights: Vec<BigRational>,
    /// The proof that no mix is better: prices `y` (K), nonnegative, of sum 1, at which no schedule is worth more than
    /// `1/ρ`. `None` where there is only the bound in double precision.
    pub prices: Option<Vec<BigRational>>,
}

impl ExactLoad {
    /// Returns whether ρ is proven from both sides.
    pub fn is_proven(&self) -> bool {
        self.prices.is_some()
    }

    /// Returns the mix in the nearest doubles.
    pub fn mix(&self) -> Mix {
        Mix {
            schedules: self.schedules.clone(),
            weights: self.weights.iter().map(nearest).collect(),
        }
    }
}

/// Returns the double nearest to a fraction; infinite beyond their range.
pub fn nearest(fraction: &BigRational) -> f64 {
    fraction.to_f64().expect("a denominator is not 0")
}

/// Why there is no solution.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// HiGHS did not end optimal: its answer is not used.
    #[error(
        "the linear program has no answer in double precision (the solver ends as {0}): leave out the types with the least load, or bring the demands closer together"
    )]
    Solver(String),
    /// Numbers beyond what double precision can compare with each other.
    #[error(
        "{0}; from 1e-100 to 1e100 can be handled. Choose a time unit in which rates and sizes are in that range, or leave out a type that never arrives"
    )]
    OutOfRange(String),
}
