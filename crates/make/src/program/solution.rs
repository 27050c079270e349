use std::time::Duration;

use num_rational::BigRational;
use num_traits::ToPrimitive;

pub use synth_multiresource::artifact::Mix;

use synth_multiresource::artifact::ShapeValue;
use synth_multiresource::schedule::Schedule;
use synth_multiresource::workload::JobType;

/// A certificate counts as a proof if its relative gap is at most this.
pub const PROOF_GAP: f64 = 1e-9;

/// A load this close to 1 cannot be distinguished from 1, so it is not called stabilizable.
pub const LOAD_MARGIN: f64 = 1e-11;

/// The relative gap at which the two sides of the certificate count as equal.
pub(super) const CLOSED_GAP: f64 = 1e-11;

/// The limits on the work of [`solve`](super::solve).
#[derive(Clone, Debug)]
pub struct SolveLimits {
    /// The maximum number of depth-first nodes of all searches, about 20 ns each. If it is reached,
    /// there is no proof, on any machine alike.
    pub work: u64,
    /// The wall-clock limit of the column generation. If it is reached, there is no proof.
    pub time: Duration,
    /// How many times a search without a result is repeated with a larger budget.
    pub longer: usize,
    /// The maximum number of schedules of the optimal face that are used to find a mix with few
    /// drains. If it is 0, any optimal mix is returned.
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

/// Upper and lower bound on the load.
#[derive(Clone, Debug)]
pub struct LoadCertificate {
    /// An upper bound on the load ρ, which is equal to `max_i ρ_i` of the mixes.
    pub load: f64,
    /// The prices `y ≥ 0` (K), whose sum is 1.
    pub prices: Vec<f64>,
    /// The worth of a server of each shape (H) at these prices, without the mixes. The prices of
    /// the resources are the dual solution of the relaxed knapsack.
    pub servers: Vec<ShapeValue>,
    /// A lower bound on the load of any policy: `1 / Σ_h n_h z_h`.
    pub bound: f64,
}

impl LoadCertificate {
    /// Returns the worth `y_i/b_i` of a running job of each type (K).
    pub fn values(&self, types: &[JobType]) -> Vec<f64> {
        let pairs = self.prices.iter().zip(types);
        pairs.map(|(y, t)| y / t.offered_load()).collect()
    }

    /// Returns the relative gap `load/bound − 1`, at least 0 despite rounding.
    pub fn gap(&self) -> f64 {
        (self.load / self.bound - 1.0).max(0.0)
    }

    /// Returns whether the gap is at most [`PROOF_GAP`].
    pub fn proven(&self) -> bool {
        self.gap() <= PROOF_GAP
    }
}

/// A solution of program (7).
#[derive(Clone, Debug)]
pub struct Solution {
    /// The best mix of each shape (H) over all types (K), with few drains if there is one server.
    pub mixes: Vec<Mix>,
    /// The proof of optimality, or the remaining gap.
    pub certificate: LoadCertificate,
    /// The optimum as exact fractions, if it was requested and found.
    pub exact: Option<ExactLoad>,
    /// The schedules that are used in any of the optimal mixes of a single server. The list is empty
    /// if it has not been computed.
    pub face: Vec<Schedule>,
    /// The number of master programs that have been solved.
    pub rounds: usize,
    /// The number of columns in the last master program.
    pub columns: usize,
}

/// The optimum of program (7) in the form of exact fractions.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLoad {
    /// The load of the mix, `ρ = max_i b_i / (πW)_i`.
    pub load: BigRational,
    /// The schedules of the mix, `W` (N × K).
    pub schedules: Vec<Schedule>,
    /// The weights of the schedules, `π` (N), which are positive and have the sum 1.
    pub weights: Vec<BigRational>,
    /// The prices `y ≥ 0` (K) with the sum 1, for which each schedule is worth at most `1/ρ`, or
    /// `None` if there is no exact proof.
    pub prices: Option<Vec<BigRational>>,
}

impl ExactLoad {
    /// Returns whether ρ is proven to be optimal.
    pub fn is_proven(&self) -> bool {
        self.prices.is_some()
    }
}

/// Returns the double nearest to a fraction, or infinity beyond the range of doubles.
pub fn nearest(fraction: &BigRational) -> f64 {
    fraction.to_f64().expect("a denominator is not 0")
}

/// The reason why there is no solution of program (7).
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// HiGHS did not find an optimal solution. Its result is not used.
    #[error(
        "the linear program could not be solved in double precision (solver status: {0}). Remove the types with the lowest load, or use demands of the same order of magnitude"
    )]
    Solver(String),
    /// A number outside the range that double precision can handle.
    #[error(
        "{0}, but the supported range is from 1e-100 to 1e100. Use a time unit such that the rates and the sizes are in this range, or remove the type if it never arrives"
    )]
    OutOfRange(String),
}
