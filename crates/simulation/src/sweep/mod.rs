//! Compares policies over loads, possibly on several machines, with a journal of finished runs.

mod comparison;
mod header;
mod journal;
mod merge;
mod plan;

pub use comparison::{AtLoad, Cell, CellOutcome, Comparison, ExactMeans};
pub use header::{Budgets, Entrant, Knows, Shard, SweepHeader, SweepSubject, differences, quoted};
pub use journal::{Journal, JournalError, PartHeading, Share};
pub use merge::Whole;
pub use plan::{Cells, Comparing, SweepStage, sweep};

#[cfg(test)]
mod tests;
