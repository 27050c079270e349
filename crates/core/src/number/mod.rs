//! Decimal numbers that mean what was written, and counting in whole units of them.

mod decimal;
pub mod quantity;
mod time;
mod units;

pub use decimal::shown;
pub use decimal::{Decimal, DecimalError};
pub use quantity::seconds_of;
pub use time::{clock, date, instant, is_epoch, stamp};
pub use time::{in_words, seconds_in};
pub use units::{Units, in_units};
