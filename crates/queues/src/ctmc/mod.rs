//! Markov chains and queues in random environments, with no word of scheduling: chains and their
//! stationary laws, quasi-birth-death processes, queues with a modulated number of servers.
//!
//! A queue under an MSR policy is solved twice, each time from a [`ModulatedQueue`]:
//!
//! | | maker (`analysis` in `synth-make`) | checker (`artifact::check::queues` in `synth-multiresource`) |
//! |---|---|---|
//! | with matrices of phases × phases | [`Qbd`]: the law, G by cyclic reduction | [`cycle::Levels`]: means, G by logarithmic reduction |
//! | with vectors of levels | [`rounds`]: the law | [`cycle::Stages`]: means |
//! | sizes of several stages | [`staged_qbd`] | `artifact::check::staged` |
//! | response times | [`Survival`] | `cycle::tagged` |
//! | ahead of the mean (theorem 8) | [`RelativeCompletions`] | `artifact::check`, from one round |

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
pub use chain::{ChainError, generator, stationary};
pub use modulated::{Edge, Environment, MEMORY, ModulatedQueue, matrix_numbers, matrix_work};
pub use qbd::{Block, Level, Qbd, QbdError, Stationary};
pub use relative::RelativeCompletions;
pub use response::Survival;
pub use staged::{PhaseType, staged_phases, staged_qbd};

#[cfg(test)]
mod tests;
