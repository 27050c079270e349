//! The exact mean numbers of jobs under balanced fairness, for any law of sizes; and of first come, first served where
//! sizes are exponential.
//!
//! The aggregate state x has the stationary measure `Φ(x) Π λ_i^{x_i}` (paper, equation 3). Its sum G over all x is a sum
//! over sets: of servers that are idle, or of classes that have jobs ([`Recursion`]). Each recursion has a step for each set;
//! `E[x_i] = λ_i ∂ ln G/∂λ_i` is had for all classes at once, by going back over the same steps.

mod cluster;
mod graph;
mod margin;
mod sets;
#[cfg(test)]
mod tests;

pub use cluster::{Load, Means, load, means, random_assignment};
pub use graph::{Fair, Recursion, fair};
pub use margin::{Margin, margin};
pub use sets::Graph;
