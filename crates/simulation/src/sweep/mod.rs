//! This module compares policies at several loads, on one or several machines, with a journal of
//! the finished runs. A kind of workload passes functions to [`sweep`].

mod comparison;
mod header;
mod journal;
mod merge;
mod plan;

pub use comparison::{AtLoad, Cell, CellOutcome, Comparison, ExactMeans};
pub use header::{
    Information, PolicyEntry, Shard, StopConditions, SweepHeader, SweepWorkload, differences,
    quoted,
};
pub use journal::{Journal, PartHeading, Share};
pub use merge::Whole;
pub use plan::{Comparing, SweepProgress, sweep};

#[cfg(test)]
mod tests;
