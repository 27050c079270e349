//! This module defines exact decimal numbers and units of time, and converts amounts to integers.

mod decimal;
pub mod quantity;
mod time;
mod units;

pub use decimal::{Decimal, DecimalError, format_number};
pub use quantity::seconds_of;
pub use time::{clock, date, in_words, instant, is_epoch, seconds_in, stamp};
pub use units::{Units, in_units};
