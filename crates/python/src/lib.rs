//! The extension module `synthsched._core` of the Python package.
//!
//! [`answer`] runs any command of the command line and returns its results as values. Only the
//! library offers policies written in Python ([`rule`], which act on a [`system`]), stepping from
//! outside ([`episode`]), and policies that run a cluster ([`scheduler`]).

mod answer;
mod episode;
mod rule;
mod scheduler;
mod system;
mod threads;

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
