//! This is the extension module `synthsched._core` of the Python package.
//!
//! [`answer`] runs any command of the command line and returns the same results as values. The
//! other modules are only available in the library: policies in Python ([`rule`], [`system`]),
//! environments ([`episode`]), and policies that control a cluster ([`scheduler`]).

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
