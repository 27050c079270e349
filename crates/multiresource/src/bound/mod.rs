//! Lower bounds on the objective that hold for every policy, and their exact check.
//!
//! # Theory
//! Arrivals of type i are Poisson with rate λ_i, sizes exponential with rate μ_i. Q counts the jobs
//! in the system and s the running ones. Let V satisfy, in each state with s ≤ Q and `s ∈ S`,
//!
//! ```text
//! c·Q + Σ_i λ_i [V(Q+e_i, s) − V(Q, s)] + Σ_i μ_i s_i [V(Q−e_i, s−e_i) − V(Q, s)] ≥ B,    (drift)
//! V(Q, s+e_i) ≥ V(Q, s)   where s+e_i ∈ S and s+e_i ≤ Q.                                   (start)
//! ```
//!
//! Then no non-preemptive policy without knowledge of sizes has a long-run average of c·Q below B:
//! between events V drifts as in (drift), and starting jobs does not decrease it. With preemption V
//! is a function of Q alone and (drift) holds for every s, so that no action changes V.
//!
//! *No moments are assumed.* V grows at most as |Q|². Replace it by φ(|Q|/R) V, where φ is smooth,
//! 1 up to 1, and 0 from 2 on. Its average drift vanishes in the long run, and differs from φ times
//! that of V by at most a constant times the average of |Q| over R < |Q| < 2R. One of the n scales
//! R = 2, 4, …, 2^n has at most 1/n of the average of |Q| there. As n grows, the bound is B times
//! the fraction of time below R up to a vanishing term, or |Q| has an infinite average.
//!
//! *The form of V.* [`Layout`] adds to one quadratic form of Q an affine function of Q per schedule
//! and *cell*: each count of type i below `exact_i` has its own cells, and higher ones share one.
//! Within a cell the quadratic parts of both conditions cancel to affine ones, so it suffices to
//! check its corner and its unbounded directions: finitely many rows ([`Constraint`]).
//!
//! Source: the potential functions of Bertsimas, Paschalidis, Tsitsiklis (Annals of Applied
//! Probability 4, 1994) and Kumar, Kumar (IEEE Transactions on Automatic Control 39, 1994) are
//! quadratic forms; cells and schedules are our extension.
//!
//! [`BoundCertificate::check`] computes B from V in integers, without trust in a solver.

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
