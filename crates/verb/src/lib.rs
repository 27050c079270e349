//! What a kind of workload is, and what its verbs take and return: the one interface between the kinds and their callers.
//!
//! A kind brings what stands in its policies ([`Content`](synth_core::artifact::Content)) and its verbs: read a document,
//! synthesize a policy, check it, show it, simulate it, compare it with others ([`Kind`]). Each verb returns values:
//! nothing is printed here, and a callback is notified of progress ([`Caller`]). [`report`] makes tables, pictures and
//! pages of them.

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
