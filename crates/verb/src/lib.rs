//! This crate defines the interface between the kinds of workload and their callers.
//!
//! A kind ([`Kind`]) defines the contents of its policies
//! ([`Content`](synth_core::artifact::Content)) and its verbs. A verb returns values and does not
//! print anything. [`Caller`] is notified about the progress, and [`report`] formats the results.

mod files;
mod kind;
mod loads;
mod output;
pub mod report;
#[cfg(test)]
mod tests;
mod verb;

pub use files::{Files, NamesFiles, NoArgs, files};
pub use kind::{
    FileOf, Kind, NamedPolicy, Rules, SynthesisAnswer, WorkloadOf, marked, no_rule, read_policy,
    simulate_policy, split_name, unchecked,
};
pub use loads::{Queueing, compare_over_loads, merge_over_loads, scaled_to};
pub use output::{Caller, FORMATS, Format, Notice, VerbError, VerbOutput, VerbResult};
pub use output::{document, folder_for_results, json, refuse, schema_of};
pub use verb::{RunVerb, Verb};
