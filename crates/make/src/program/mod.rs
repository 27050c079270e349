//! This module computes the optimal mix of schedules by column generation, with a certificate. The
//! linear program is program (7) of the MSR paper, with `n_h` servers of each shape `h`:
//!
//! ```text
//! maximize t   s.t.   Σ_h n_h Σ_{s∈S_h} π_hs u_hsi / b_i − t ≥ 0  (each type i),
//!                     Σ_s π_hs ≤ 1  (each shape h),   π ≥ 0;                        ρ = 1/t
//! ```
//!
//! It is enough to have one mix for each shape, because all servers of a shape are identical and
//! the constraints are convex. A basic solution for one server has at most K schedules (theorem 2).
//! *Any* prices `y ≥ 0, Σ y_i = 1` are a proof of `t ≤ Σ_h n_h z_h`, where
//! `z_h = max_{u∈S_h} Σ_i (y_i/b_i) u_i` is the value of a knapsack for each shape (Farley,
//! Operations Research 38, 1990). The certificate is the set of mixes and prices.
//!
//! A job that needs `g` servers (a gang) is replaced by `g` independent tasks, which are included
//! in `b_i`. The bound is valid for every policy, but it may be impossible to reach it with gangs.

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
pub(crate) use least_drain::max_min_weights;
pub(crate) use pricing::{Knapsack, quiet};
pub use solution::{
    ExactLoad, LOAD_MARGIN, LoadCertificate, Mix, PROOF_GAP, ProgramError, Solution, SolveLimits,
    nearest,
};
pub use solve::solve;
pub(crate) use solve::solve_from;

#[cfg(test)]
mod tests;
