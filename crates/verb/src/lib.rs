//! The interface between the kinds of workload, their verbs, and the programs that call them.
//!
//! A verb is a subcommand, such as `simulate`. It returns its results as values and prints nothing.
//!
//! - A kind of workload implements [`Rules`] and [`Kind`]: it creates and simulates policies.
//! - A [`Verb`] is registered with the type of its arguments, which implements [`RunVerb`]. It
//!   tells the [`Caller`] about its progress, and returns a [`VerbOutput`], whose
//!   [`Report`](report::Report) can be a table, an HTML page or a CSV file.
//!
//! ```
//! use clap::Args;
//! use synth_verb::{Caller, RunVerb, Verb, VerbOutput, VerbResult};
//!
//! /// Print a greeting
//! #[derive(Args)]
//! struct Greet {
//!     name: String,
//! }
//! impl RunVerb for Greet {
//!     fn run(&self, _: &mut Caller<'_>) -> VerbResult<VerbOutput> {
//!         Ok(VerbOutput::of_table(format!("hello {}", self.name)))
//!     }
//! }
//! const GREET: Verb = Verb::of::<Greet>("greet");
//! let matches = GREET.command().try_get_matches_from(["greet", "world"])?;
//! assert!(GREET.read(&matches).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The file `src/tests.rs` contains a small kind of workload with all of its verbs.

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
    FileOf, Kind, NamedPolicy, Rules, SynthesisAnswer, WorkloadOf, checker_error, no_rule,
    read_policy, simulate_policy, split_name,
};
pub use loads::{Queueing, compare_over_loads, merge_over_loads, scaled_to};
pub use output::{Caller, FORMATS, Format, Notice, VerbError, VerbOutput, VerbResult};
pub use output::{document, folder_for_results, json, refuse, schema_of};
pub use verb::{RunVerb, Verb};
