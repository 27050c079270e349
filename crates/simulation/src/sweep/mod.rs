//! Comparisons of policies over loads: the plan, the journal of finished cells, parts run on other
//! machines, and the document of the results.
//!
//! A kind of workload defines how its policies run at a load: see [`Cells`].

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
