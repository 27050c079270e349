//! What plans are worth: when their jobs end, and what no plan costs less than.

mod flow;
mod orders;
mod relaxation;
mod rents;
#[cfg(test)]
mod tests;

pub use flow::power_ends;
pub use orders::{MOST, over_orders};
pub use relaxation::{Relaxed, relaxation};
pub use rents::{Dual, ascend};
