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
//! not know the sizes: the drift of V between two events is given by (drift), and V is not
//! decreased when a job is started. With preemption, V must be a function of Q alone and (drift)
//! must hold for every s, so that V is not changed by any action of the policy.
//!
//! *No moments are assumed.* Since the growth of V is at most quadratic, it can be replaced by
//! φ(|Q|/R) V, where φ is smooth, equal to 1 up to 1, and equal to 0 from 2 on. Its average drift
//! vanishes in the long run, and differs from φ times that of V by at most a constant times the
//! average of |Q| over R < |Q| < 2R. One of the n scales R = 2, 4, …, 2^n has at most 1/n of the
//! average of |Q| there. As n grows, the bound is B times the fraction of time below R up to a
//! vanishing term, if |Q| has a finite average.
//!
//! *The form of V.* [`Layout`] is the sum of a quadratic form of Q and an affine function of Q for
//! each schedule and for each *cell*: there is a cell for each number of jobs below `exact_i`, and
//! one for all others. Both conditions are affine in each cell, because the quadratic parts cancel.
//! It is therefore sufficient to check the corner and the unbounded directions of each cell
//! ([`Constraint`]).
//!
//! Source: the potential functions of Bertsimas, Paschalidis, Tsitsiklis (Annals of Applied
//! Probability 4, 1994) and Kumar, Kumar (IEEE Transactions on Automatic Control 39, 1994) are
//! quadratic forms; cells and schedules are our extension.
//!
//! The value of B is computed from V with integers by [`BoundCertificate::check`], so it is not
//! necessary to trust the solver that was used to find V.

mod certificate;
mod document;
mod layout;
mod prices;
mod sizes;

pub use certificate::{BoundCertificate, CertificateError, Costs, pooled};
pub use document::{BoundDocument, Proof};
pub use layout::{BoundState, Constraint, Layout, TypeRates};
pub use prices::{Inequality, PriceCut, check_prices, costs};
pub use sizes::{check_sizes, least_by_sizes};
