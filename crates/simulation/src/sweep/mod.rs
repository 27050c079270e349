//! Policies × loads: the plan of a comparison, the journal of what is finished, parts of it that
//! other machines run, and the document of the results.
//!
//! Which workload arrives at a load, and how a policy runs on it, is the kind's own: see [`Cells`].

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
