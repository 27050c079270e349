//! This crate contains the program `synth-lab` ([`PROGRAM`]), which is used for research.
//!
//! - The module [`figures`] creates the figures of a paper again, and checks its claims.
//! - The module [`bench`] uses random systems to compare policies. You can add your own policies.
//! - The module [`sweep`] computes the cost of a policy for many switching rates.
//!
//! Since the simulations need a lot of time, this example only returns the help text of a verb.
//!
//! ```
//! use synth::cli::Embedding;
//! use synth_lab::PROGRAM;
//!
//! let command = ["bench".into(), "--help".into()];
//! let answer = PROGRAM.answer(&command, Embedding::new(Default::default(), None));
//! assert_eq!(answer.code, 0);
//! assert!(answer.printed.contains("--policies"));
//! ```
//!
//! The rules of the benchmark are in `docs/reference/bench.md`, and the figures and the results are in
//! `docs/explanation/section7.md` and `docs/explanation/quickswap.md`.

pub mod bench;
pub mod figures;
pub mod sweep;

use synth::cli::List;
use synth::kind::Verb;

/// The definition of the program `synth-lab`.
pub const PROGRAM: List = List {
    name: "synth-lab",
    about: "Tools for research: compute the figures of papers, and run a benchmark for scheduling policies",
    verbs: &[
        Verb::of::<bench::Arguments>("bench"),
        Verb::of::<figures::Arguments>("figures"),
        Verb::of::<sweep::Arguments>("sweep-alpha"),
    ],
};
