//! Policies × loads: the plan of a comparison, the journal of what is finished, parts of it that
//! other machines run, and the document of the results.
//!
//! Which workload arrives at a load, and how a policy runs on it, is the kind's own: see [`Cells`].

mod document;
mod journal;
mod merge;
mod part;
mod plan;
mod shard;

pub use document::{
    AtLoad, Budgets, Cell, Comparison, Entrant, Exact, Header, Knows, Outcome, Subject,
};
pub use journal::{Journal, JournalError};
pub use merge::Whole;
pub use part::{Heading, Share, quoted};
pub use plan::{Cells, Comparing, Stage, sweep};
pub use shard::Shard;
use shard::deal;

#[cfg(test)]
mod tests;
