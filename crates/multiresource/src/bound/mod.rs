//! Lower bounds on what any policy can reach, and their check in fractions.
//!
//! # Theory
//! Poisson arrivals λ, exponential sizes of rate μ; Q counts the jobs of each type in the system, s those that run. Let V be a
//! function of (Q, s) for which, in every state with s ≤ Q and `s ∈ S`,
//!
//! ```text
//! c·Q + Σ_i λ_i [V(Q + e_i, s) − V(Q, s)] + Σ_i μ_i s_i [V(Q − e_i, s − e_i) − V(Q, s)] ≥ B,      (drift)
//! V(Q, s + e_i) ≥ V(Q, s)   where s + e_i ∈ S and s + e_i ≤ Q.                                    (start)
//! ```
//!
//! Then no policy without preemption has a long-run average of c·Q below B, whatever it remembers, if it does not know sizes.
//! Between events V changes at the rate in (drift), and a policy can do nothing but start jobs, which does not lower V. With
//! preemption V is a function of Q alone, and (drift) holds for every s: then nothing that a policy does changes V.
//!
//! *No moments are assumed.* V grows at most as |Q|². Take φ(|Q|/R) V in place of V, with φ = 1 up to 1, 0 from 2 on, and smooth:
//! it is bounded, so its average drift vanishes in the long run; it differs from that of φ V by at most a constant times the average of
//! |Q| over R < |Q| < 2R. Of n scales R = 2, 4, …, 2^n one has at most an n-th of the average of |Q| there. As n grows the bound is
//! B times the fraction of time below R less what vanishes, or the average of |Q| is infinite.
//!
//! *Which V.* [`Layout`]: one symmetric quadratic form of Q for all states, and an affine function of Q for each schedule and each
//! *cell*: the numbers of type i below `exact_i` are a coordinate of their own each, and all from there on are one. In a cell both
//! conditions are affine in Q, since the quadratic parts cancel to affine ones, and a cell is a corner and the directions in which it
//! is unbounded: so finitely many numbers are all that has to be looked at ([`Constraint`]).
//!
//! Source: potential functions of Bertsimas, Paschalidis, Tsitsiklis (Annals of Applied Probability 4, 1994) and Kumar, Kumar
//! (IEEE Transactions on Automatic Control 39, 1994), which are quadratic forms alone; cells and schedules are ours.
//!
//! # Practice
//! `synth_make::bound` finds V by a linear program; what its solver returns is believed in nothing: [`BoundCertificate::check`] computes B
//! from V, in whole numbers.

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
