//! This crate computes a scheduling policy for multiresource jobs, and a proof that no other policy
//! can sustain a higher load.
//!
//! - [`program::solve()`] computes the schedules to use, the fraction of time for each of them, and
//!   a certificate of the load, which is checked without this crate.
//! - A [`Modulation`](modulation::Modulation) is the Markov chain that switches between the
//!   schedules, and [`analysis`] computes the exact means of the queues under it.
//! - [`synthesize`](synthesis::synthesize) and [`choose`](synthesis::choose) do all of this for a
//!   workload and return the policy file. The latter also simulates other rules.
//!
//! ```text
//! ρ = 1 / max t : Σ_s π_s u_si ≥ t b_i, Σ_s π_s ≤ 1, π ≥ 0    program (7) of the MSR paper
//! ```
//!
//! | symbol | shape | meaning |
//! |---|---|---|
//! | `W`, `π` | N × K, N | the working schedules, and the fraction of time for each of them |
//! | `ρ`, `ρ_i = b_i/E[u_i]` | –, K | load of the workload, load of a type under a policy |
//! | `y`, `w` | K, R | dual prices of types and resources in the certificate |
//! | `α`, `γ` | – | switching rate, setup rate \[1/time\] |
//! | `θ`, `β_i` | n, K | distribution over the phases, maximum number of slots of a type |
//! | `Δ(s)` | n | lead of phase s over the mean number of completions |
//!
//! ```
//! use synth_make::program::{SolveLimits, solve};
//! use synth_multiresource::workload::Workload;
//!
//! // Two small jobs fit together, and a large job runs alone: ρ = 1/2 + 1/4.
//! let document = "
//!     {kind: multiresource, time_unit: s, server: {capacity: {cpu: 4, memory: 4}}, jobs: [
//!     {name: small, demand: {cpu: 2, memory: 1}, arrival_rate: 1, mean_size: 1},
//!     {name: large, demand: {cpu: 1, memory: 4}, arrival_rate: 0.25, mean_size: 1}]}";
//! let workload = Workload::parse(document, "example")?.workload;
//! let certificate = solve(&workload, &SolveLimits::default())?.certificate;
//! assert!(certificate.proven() && (certificate.load - 0.75).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Corrections to the MSR paper: In program (7), the factor `μ_i` is missing in
//! `ρ_i = λ_i/(μ_i (πW)_i)`. The quadratic program is not needed, because it can be solved as a
//! linear program over columns. Theorem 8 must use the distribution of the phases after a
//! completion. In equation (6) of the proof of lemma 9, there is one factor `μ_i` too many.

pub mod analysis;
pub mod bound;
pub mod modulation;
pub mod optimum;
pub mod program;
pub mod synthesis;

#[cfg(test)]
mod tests;
