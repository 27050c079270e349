//! Decimal numbers that mean what was written, and counting in whole units of them.

mod decimal;
mod units;

pub use decimal::{Decimal, DecimalError};
pub(crate) use units::{Units, in_units};
