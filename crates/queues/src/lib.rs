//! This crate contains the exact analysis of Markov chains and queues, and the distributions that
//! are used for sizes and arrivals.
//!
//! It is used by the code that makes policies and by the code that checks them, and it does not
//! depend on the kind of workload.
//!
//! - A [`SizeDistribution`](distribution::SizeDistribution) is a distribution of job sizes, and an
//!   [`ArrivalProcess`](distribution::ArrivalProcess) describes when jobs arrive. Both are read
//!   from documents.
//! - An [`Environment`](ctmc::Environment) is a Markov chain, and a
//!   [`ModulatedQueue`](ctmc::ModulatedQueue) is a queue whose number of servers depends on the
//!   state of this chain.
//! - The queue is converted to a quasi-birth-death process ([`Qbd`](ctmc::Qbd)). Its solution has
//!   the mean number of jobs and the distribution of this number.
//!
//! In the example, the server of a queue can break down and is then repaired, both at rate 1. The
//! mean number of jobs is equal to `λ (4 + μ) / (2 (μ − 2λ))`, with an arrival rate of `λ = 1/4`
//! and a service rate of `μ = 1`.
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
//! The module [`ctmc`] has a table of all solvers and of the crates where they are used. The papers
//! that describe the algorithms are cited in each module.

pub mod ctmc;
pub mod distribution;
