//! This crate contains the exact analysis of Markov chains and queues, and the distributions that
//! are used for sizes and arrivals. It does not depend on the kind of workload.
//!
//! - A [`SizeDistribution`](distribution::SizeDistribution) of job sizes and an
//!   [`ArrivalProcess`](distribution::ArrivalProcess) are read from documents.
//! - A [`ModulatedQueue`](ctmc::ModulatedQueue) is a queue whose number of servers depends on the
//!   state of a Markov chain, its [`Environment`](ctmc::Environment).
//! - The queue is converted to a quasi-birth-death process ([`Qbd`](ctmc::Qbd)). Its solution has
//!   the mean number of jobs and the distribution of this number.
//!
//! In the example, a server breaks down and is repaired at rate 1. The mean number of jobs is equal
//! to `λ (4 + μ) / (2 (μ − 2λ))`, with the arrival rate `λ = 1/4` and the service rate `μ = 1`.
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

pub mod ctmc;
pub mod distribution;
