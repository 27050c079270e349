//! Which schedules, and what fraction of time each: program (7) of the MSR paper, linear
//! over the columns `u ∈ S`, solved by column generation with a certificate.
//!
//! ```text
//! maximize t   s.t.   Σ_s π_s u_si / b_i − t ≥ 0  (each type i),   Σ_s π_s ≤ 1,   π ≥ 0;     ρ = 1/t
//! ```
//!
//! A basic solution has at most K schedules (theorem 2). Prices `y ≥ 0, Σ y_i = 1` bound it
//! from above: `t ≤ max_{u∈S} Σ_i (y_i/b_i) u_i` for *any* such y (Farley, Operations
//! Research 38, 1990). The certificate is both sides: the mix, and the prices.
//!
//! Corrected against the paper: its `ρ_i = λ_i/(πW)_i` lacks `μ_i`.

mod by_enumeration;
mod exact;
mod exchange;
mod fleet;
mod generation;
mod least_drain;
mod master;
mod pricing;
mod problem;
mod solution;
mod solve;

pub use by_enumeration::{most_even, solve_by_enumeration, solve_fleet_by_enumeration};
pub(crate) use exact::nearest;
pub use exact::{Exact, Inexact, Prices, Unproven, exact};
pub use fleet::{FleetCertificate, FleetSolution, ServerBound, solve_fleet, solve_fleet_from};
pub use pricing::{Branch, Knapsack, Node, Priced, Tree};
pub use solution::{Certificate, LOAD_MARGIN, Limits, Mix, PROOF_GAP, ProgramError, Solution};
pub use solve::{solve, solve_from};

#[cfg(test)]
mod tests;
