//! Plans for jobs that are all present at the start, and what they cost at least.

mod prices;
#[cfg(test)]
mod tests;

pub use prices::{power_prices, prices};
