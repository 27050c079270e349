//! This module contains Markov chains, quasi-birth-death processes, and modulated queues.
//!
//! A queue under an MSR policy is solved in two different ways, starting from a [`ModulatedQueue`]:
//!
//! | | maker (`analysis` in `synth-make`) | checker (`artifact::check::queues` in `synth-multiresource`) |
//! |---|---|---|
//! | phases × phases matrices | [`Qbd`]: distribution, G by cyclic reduction | [`cycle::Levels`]: means, G by logarithmic reduction |
//! | vectors of levels | [`rounds`]: distribution | [`cycle::Stages`]: means |
//! | phase-type sizes | [`staged_qbd`] | `artifact::check::staged` |
//! | response times | [`ResponseTimes`] | `cycle::tagged` |
//! | relative completions (theorem 8) | [`RelativeCompletions`] | `artifact::check`, from one round |

mod bisection;
mod chain;
pub mod cycle;
mod gmres;
mod modulated;
mod qbd;
mod relative;
mod response;
pub mod rounds;
mod sojourn;
mod staged;

pub use bisection::bisected;
pub use chain::{SolverError, generator, stationary};
pub use modulated::{Edge, Environment, MEMORY_LIMIT, ModulatedQueue, matrix_numbers, matrix_work};
pub use qbd::{Block, Level, Qbd, Stationary};
pub use relative::RelativeCompletions;
pub use response::ResponseTimes;
pub use staged::{PhaseType, staged_phases, staged_qbd};

#[cfg(test)]
mod tests;
