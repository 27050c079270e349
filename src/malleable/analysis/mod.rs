//! What plans are worth: when their jobs end, and what no plan costs less than.

mod flow;
mod relaxation;
mod rents;
#[cfg(test)]
mod tests;

pub use flow::power_ends;
pub use relaxation::{Relaxed, relaxation};
pub use rents::{Dual, ascend};
