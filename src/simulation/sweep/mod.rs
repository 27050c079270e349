//! Policies × loads: the plan of a comparison, the journal of what is finished, and the document
//! of the results.
//!
//! Which workload arrives at a load, and how a policy runs on it, is the kind's own: see [`Cells`].

mod document;
mod journal;
mod plan;

pub use document::{
    AtLoad, Budgets, Cell, Comparison, Entrant, Exact, Header, Knows, OptimumAt, Outcome, Subject,
};
pub use journal::{Journal, JournalError};
pub use plan::{Cells, Comparing, Stage, Swept, sweep};

#[cfg(test)]
mod tests;
