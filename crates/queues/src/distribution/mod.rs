//! This module contains size distributions and arrival processes, and validates them.

mod check_process;
mod check_size;
mod common_modulation;
mod continuous;
mod holding;
mod moments;
mod process;
mod size;
mod truncated;

pub use check_size::Part;
pub use common_modulation::CommonModulation;
pub use continuous::{lognormal, weibull};
pub use holding::HoldingTime;
pub use process::ArrivalProcess;
pub use size::SizeDistribution;
