//! Plans for jobs that are all present at the start, and what they cost at least.

mod flow;
mod makespan;
mod prices;
#[cfg(test)]
mod tests;

pub use flow::completions;
pub use makespan::makespan;
pub use prices::{power_prices, prices};
