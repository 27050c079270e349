//! Lower bounds on the objective that hold for every policy, and their exact check.
//!
//! # Theory
//! The jobs of type i arrive as a Poisson process with rate λ_i, and their sizes are exponential
//! with rate μ_i. Let Q be the number of jobs of each type in the system, and s the number of
//! running jobs. Let V satisfy, in each state with s ≤ Q and `s ∈ S`,
//!
//! ```text
//! c·Q + Σ_i λ_i [V(Q+e_i, s) − V(Q, s)] + Σ_i μ_i s_i [V(Q−e_i, s−e_i) − V(Q, s)] ≥ B,    (drift)
//! V(Q, s+e_i) ≥ V(Q, s)   where s+e_i ∈ S and s+e_i ≤ Q.                                   (start)
//! ```
//!
//! Then the long-run average of c·Q is at least B for every policy that is not preemptive and does
//! not know the sizes, even if it has memory: the two sums in (drift) are the drift of V between
//! two events, and the only action of a policy is to start a job, which does not decrease V. With
//! preemption, V must be a function of Q alone and (drift) must hold for every s, so that no action
//! changes V.
//!
//! *No moments are assumed.* Since V grows at most quadratically, it can be replaced by φ(|Q|/R) V,
//! where φ is smooth, equal to 1 up to 1, and equal to 0 from 2 on. This function is bounded, so
//! its average drift vanishes in the long run. Its drift differs from φ times the drift of V by at
//! most a constant times the average of |Q| over R < |Q| < 2R, which is at most 1/n of the average
//! of |Q| for one of the n scales R = 2, 4, …, 2^n. As n grows, the long-run average of c·Q is at
//! least B times the fraction of time below R, up to a vanishing term, unless the average of |Q| is
//! infinite.
//!
//! *The form of V.* [`Layout`] is the sum of a symmetric quadratic form of Q and an affine function
//! of Q for each schedule and *cell*. For type i, each number of jobs below `exact_i` is a
//! coordinate of its own, and all larger numbers share one. Both conditions are affine in each
//! cell, because the differences of the quadratic form are affine, so it is sufficient to check its
//! corner and the directions in which it is unbounded ([`Constraint`]).
//!
//! Source: the potential functions of Bertsimas, Paschalidis, Tsitsiklis (Annals of Applied
//! Probability 4, 1994) and Kumar, Kumar (IEEE Transactions on Automatic Control 39, 1994) are only
//! quadratic forms; cells and schedules are our extension.
//!
//! `synth_make::bound` finds V with a linear program. [`BoundCertificate::check`] then computes B
//! from V with integers, so it is not necessary to trust the solver.

mod certificate;
mod document;
mod layout;
mod prices;
mod sizes;

pub use certificate::{BoundCertificate, CertificateError, exact_costs, pooled};
pub use document::{BoundDocument, Proof};
pub use layout::{Constraint, Layout, TypeRates};
pub use prices::{Inequality, PriceCut, check_prices, costs};
pub use sizes::{bound_by_sizes, check_sizes};
