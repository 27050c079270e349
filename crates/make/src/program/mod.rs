//! Which schedules, and what fraction of time each: program (7) of the MSR paper for n_h servers of each
//! shape h, linear over the columns `u ∈ S_h`, solved by column generation with a certificate.
//!
//! ```text
//! maximize t   s.t.   Σ_h n_h Σ_{s∈S_h} π_hs u_hsi / b_i − t ≥ 0  (each type i),
//!                     Σ_s π_hs ≤ 1  (each shape h),   π ≥ 0;                        ρ = 1/t
//! ```
//!
//! Servers of one shape are alike and the constraints convex, so one mix for each shape is as good as
//! one for each server. A basic solution for one server has at most K schedules (theorem 2). Prices
//! `y ≥ 0, Σ y_i = 1` bound t from above by `Σ_h n_h z_h`, one knapsack a shape: `z_h = max_{u∈S_h} Σ_i (y_i/b_i) u_i`,
//! for *any* such y (Farley, Operations Research 38, 1990). The certificate is both sides: the mixes, and the
//! prices.
//!
//! *Gangs.* A job that takes g servers at once is g pieces here, which may be apart in time: `b_i` counts pieces.
//! So the bound holds of all policies; that some policy attains it is not said where there are gangs.
//!
//! Corrected against the paper: its `ρ_i = λ_i/(πW)_i` lacks `μ_i`.

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
