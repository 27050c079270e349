//! Computes the optimal mix of schedules: program (7) of the MSR paper, extended to `n_h` servers
//! of each shape h and solved by column generation with a certificate.
//!
//! ```text
//! maximize t   s.t.   Σ_h n_h Σ_{s∈S_h} π_hs u_hsi / b_i − t ≥ 0  (each type i),
//!                     Σ_s π_hs ≤ 1  (each shape h),   π ≥ 0;                        ρ = 1/t
//! ```
//!
//! Servers of one shape are identical and the constraints convex, so one mix per shape suffices.
//! *Any* prices `y ≥ 0, Σ y_i = 1` prove `t ≤ Σ_h n_h z_h`, with one knapsack per shape:
//! `z_h = max_{u∈S_h} Σ_i (y_i/b_i) u_i` (Farley, Operations Research 38, 1990). The certificate
//! consists of the mixes and the prices.
//!
//! A job that needs g servers (a gang) is relaxed to g independent tasks, which `b_i` counts. The
//! bound holds for every policy, but with gangs it may not be attainable.
//!
//! Correction to the paper: its `ρ_i = λ_i/(πW)_i` lacks the factor `μ_i`.

mod exchange;
mod fractions;
mod generation;
mod least_drain;
mod master;
mod pricing;
mod problem;
mod solution;
mod solve;

pub use fractions::exact;
pub use least_drain::most_even;
pub(crate) use pricing::{Knapsack, quiet};
pub use solution::{
    ExactLoad, LOAD_MARGIN, LoadCertificate, Mix, PROOF_GAP, ProgramError, Solution, SolveLimits,
    nearest,
};
pub use solve::{solve, solve_from};

#[cfg(test)]
mod tests;
