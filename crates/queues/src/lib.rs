//! Exact analysis of Markov chains and queues, and the distributions of job sizes and arrivals.
//!
//! This crate is used by the code that makes policies and by the code that checks them. It is
//! independent of the kind of workload.
//!
//! - A [`Size`](law::Size) is a distribution of job sizes, and an
//!   [`ArrivalProcess`](law::ArrivalProcess) describes when jobs arrive. Both are read from
//!   documents.
//! - An [`Environment`](ctmc::Environment) is a Markov chain, and a
//!   [`ModulatedQueue`](ctmc::ModulatedQueue) is a queue whose number of servers depends on the
//!   state of this chain.
//! - The queue is converted to a quasi-birth-death process ([`Qbd`](ctmc::Qbd)). Its solution has
//!   the mean number of jobs and the distribution of this number.
//!
//! In the example, a server breaks down and is repaired with rate 1, jobs arrive with rate λ = 1/4,
//! and the service rate is μ = 1. With both rates equal to 1, the mean number of jobs is
//! `λ (4 + μ) / (2 (μ − 2λ))`.
//!
//! ```
//! use synth_queues::ctmc::{Edge, Environment, ModulatedQueue, rounds};
//!
//! let breaks = Edge { from: 0, to: 1, rate: 1.0 };
//! let is_repaired = Edge { from: 1, to: 0, rate: 1.0 };
//! let environment = Environment::new(2, vec![breaks, is_repaired])?;
//! let queue = ModulatedQueue::new(&environment, 0.25, 1.0, vec![1, 0], vec![false, false]);
//! let jobs = queue.qbd().solve()?.mean();
//! assert!((jobs - 1.25).abs() < 1e-9);
//! // A different algorithm returns the same mean.
//! assert!((rounds::mean(&queue)? - jobs).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to read next
//!
//! The documentation of [`ctmc`] has a table of the solvers and of the crates that use them. The
//! modules cite the papers from which the algorithms are taken.

pub mod ctmc;
pub mod law;
