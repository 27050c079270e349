//! Mixes that are best for something other than the load, each with a proof.
//!
//! # Theory
//! With `x = πW ∈ Conv(S)` and `c_i = x_i/b_i = 1/ρ_i` there are three aims beside the load
//! `max_i ρ_i`:
//!
//! ```text
//! headroom         maximize s     s.t.  c_i ≥ 1 + ω_i s                for each type i
//! worst response   minimize τ     s.t.  c_i ≥ 1/(1 − w_i/τ)            that is w_i/(1 − ρ_i) ≤ τ
//! total response   minimize Σ_i w_i/(1 − ρ_i) = Σ_i w_i (1 + 1/(c_i − 1))
//! ```
//!
//! The weights are those of the headroom, not of ρ_i: the least `max_i ω_i ρ_i` may need a ρ_i above
//! 1, and this s is positive wherever the workload can be stabilized at all. With all ω = 1 it is program (7).
//!
//! Prices `v ≥ 0` of running jobs bound each of them for *all* mixes, since `v·x ≤ Z = max_{u∈S} v·u`
//! (one knapsack). With `y_i = v_i b_i`:
//!
//! ```text
//! headroom         Σ y_i (1 + ω_i s) ≤ Z
//! worst response   Σ y_i/(1 − w_i/τ) ≤ Z, whose left side falls in τ
//! total response   Σ w_i/(c_i − 1) ≥ (Σ √(w_i y_i))² / Σ y_i (c_i − 1) ≥ (Σ √(w_i y_i))² / (Z − Σ y_i)
//! ```
//!
//! the last by Cauchy and Schwarz: the dual of the convex program with the scale of its prices
//! optimized away. None of the three depends on that scale.
//!
//! All three optima lie on the boundary of `Conv(S)`, where a face of dimension K − 1 at most
//! needs no more than K schedules: theorem 2 holds for them as it does for the load.
//!
//! # Practice
//! Headroom and worst response ask how far a curve of loads `b_i c_i(r)` stays in `Conv(S)`:
//! Newton's method on the load of a busier workload ([`target`]). The total response is
//! smooth, and its gradient prices schedules: simplicial decomposition ([`response`]). In all of
//! them the last step is program (7) for the workload with loads x, which finds a mix of at
//! most K schedules with little to drain.
//!
//! # Bibliography
//! - W. Dinkelbach: On nonlinear fractional programming. Management Science 13(7), 1967.
//! - B. von Hohenbalken: Simplicial decomposition in nonlinear programming algorithms.
//!   Mathematical Programming 13, 1977.

mod incumbent;
mod response;
mod target;

use super::{Limits, ProgramError, Solution};
use crate::multiresource::artifact::Balance;
use crate::multiresource::workload::Workload;
use incumbent::Incumbent;
pub use incumbent::{BALANCE_GAP, Balanced, Balancing, UnknownWeight};

/// The mix that is best for an aim, from the solution for the load, which must be below 1. Whether it
/// is proven best: [`Balanced::proven`].
///
/// # Errors
/// When HiGHS does not end optimal, or numbers leave the range of doubles.
pub fn balance(
    workload: &Workload,
    balancing: &Balancing,
    solution: &Solution,
    limits: &Limits,
) -> Result<Balanced, ProgramError> {
    let mut incumbent = Incumbent::new(workload, balancing, solution, limits);
    match balancing.aim {
        Balance::Headroom | Balance::WorstResponse => target::run(&mut incumbent)?,
        Balance::TotalResponse => response::run(&mut incumbent)?,
    }
    Ok(incumbent.best)
}

#[cfg(test)]
mod tests;
