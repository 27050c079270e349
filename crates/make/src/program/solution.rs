use std::time::Duration;

use num_rational::BigRational;
use num_traits::ToPrimitive;

pub use synth_multiresource::artifact::Mix;

use synth_multiresource::artifact::ShapeWorth;
use synth_multiresource::schedule::Schedule;
use synth_multiresource::workload::JobType;

/// A certificate counts as a proof if its relative gap is at most this.
pub const PROOF_GAP: f64 = 1e-9;

/// Loads within this distance of 1 are indistinguishable from 1, hence not called stabilizable.
pub const LOAD_MARGIN: f64 = 1e-11;

/// The relative gap at which the two sides of the certificate count as equal.
pub(super) const MET: f64 = 1e-11;

/// The limits on the work of [`solve`](super::solve).
#[derive(Clone, Debug)]
pub struct SolveLimits {
    /// The budget of the searches in depth-first nodes of about 20 ns; beyond it nothing is proven.
    pub work: u64,
    /// The wall-clock limit of the column generation; beyond it nothing is proven.
    pub time: Duration,
    /// How many times a search without a result is repeated with a larger budget.
    pub longer: usize,
    /// The most schedules of the optimal face among which to look for the least draining; 0: any.
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
    /// An upper bound on the load ρ: `max_i ρ_i` of the mixes.
    pub load: f64,
    /// The prices `y` (K), nonnegative, with sum 1.
    pub prices: Vec<f64>,
    /// The worth of a server of each shape (H), and the resource prices that show what is scarce.
    pub servers: Vec<ShapeWorth>,
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
    /// The best mix of each shape (H) over all types (K); for one server, one with little draining.
    pub mixes: Vec<Mix>,
    /// The proof of optimality, or the remaining gap.
    pub certificate: LoadCertificate,
    /// The optimum as exact fractions, if it was requested and found.
    pub exact: Option<ExactLoad>,
    /// For one server, schedules that optimal mixes may use; empty if they were not searched for.
    pub face: Vec<Schedule>,
    /// The number of master programs solved.
    pub rounds: usize,
    /// The number of columns in the last master program.
    pub columns: usize,
}

/// The optimum of program (7) as exact fractions.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLoad {
    /// `ρ = max_i b_i / (πW)_i` of the mix.
    pub load: BigRational,
    /// The schedules `W` (N × K) of the mix.
    pub schedules: Vec<Schedule>,
    /// Their weights `π` (N), positive, with sum 1.
    pub weights: Vec<BigRational>,
    /// Prices `y` (K) with sum 1 at which no schedule is worth more than `1/ρ`; `None` if unproven.
    pub prices: Option<Vec<BigRational>>,
}

impl ExactLoad {
    /// Returns whether ρ is proven to be optimal.
    pub fn is_proven(&self) -> bool {
        self.prices.is_some()
    }

    /// Returns the mix in double precision.
    pub fn mix(&self) -> Mix {
        Mix {
            schedules: self.schedules.clone(),
            weights: self.weights.iter().map(nearest).collect(),
        }
    }
}

/// Returns the double nearest to a fraction, or infinity beyond the range of doubles.
pub fn nearest(fraction: &BigRational) -> f64 {
    fraction.to_f64().expect("a denominator is not 0")
}

/// Reasons why program (7) has no solution.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// HiGHS did not report an optimum; its answer is discarded.
    #[error(
        "the linear program could not be solved in double precision (solver status: {0}). Remove the types with the least load, or use demands of more similar magnitude"
    )]
    Solver(String),
    /// A number outside the range that double precision can handle.
    #[error(
        "{0}, outside the supported range 1e-100 to 1e100. Choose a time unit that brings rates and sizes into that range, or remove the type if it never arrives"
    )]
    OutOfRange(String),
}
