//! Decimal numbers that mean what was written, and counting in whole units of them.

mod decimal;
pub(crate) mod quantity;
mod time;
mod units;

pub(crate) use decimal::shown;
pub use decimal::{Decimal, DecimalError};
pub use quantity::seconds_of;
#[cfg(feature = "cli")]
pub(crate) use time::civil;
pub use time::seconds_in;
pub(crate) use units::{Units, in_units};
