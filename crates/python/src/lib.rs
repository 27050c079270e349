//! This is the extension module `synthsched._core` of the Python package.
//!
//! [`answer`] runs a command and returns its results as values. There are also policies in Python
//! ([`rule`], [`system`]), environments ([`episode`]), and policies that control a cluster
//! ([`scheduler`]).

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
