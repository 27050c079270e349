//! Laws of sizes and processes of arrivals: their values, moments and checks.
//!
//! Both are read from documents and from artifacts by what `serde` derives. A document may write
//! a law as `{law: erlang, stages: 3, mean: 1}` or as `{erlang: {stages: 3, mean: 1}}`, and a
//! process accordingly.

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
pub use holding::Holding;
pub use process::ArrivalProcess;
pub use size::Size;
