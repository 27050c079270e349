//! What the Python package calls: `synthsched._core`.
//!
//! One way in for everything that the command line does ([`answer`]): the same words, the same numbers, and the
//! results as values. Beside it stand what only a library can do: policies that are written in Python ([`rule`], which
//! see a [`system`]), one that is stepped from outside ([`episode`]), and a policy that runs a cluster
//! ([`scheduler`]).

mod answer;
mod episode;
mod rule;
mod scheduler;
mod system;
mod threads;

/// The module.
#[pyo3::pymodule(name = "_core")]
mod core {
    #[pymodule_export]
    use super::answer::{Answer, Flag, answer, main, models};
    #[pymodule_export]
    use super::episode::Episode;
    #[pymodule_export]
    use super::scheduler::Scheduler;
    #[pymodule_export]
    use super::system::{Event, Job, System};
}
