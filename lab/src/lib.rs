//! This crate contains tools that are used for research: the figures of papers, a benchmark of
//! policies, and the cost of switching.
//!
//! The tools are the verbs of the program `synth-lab` ([`PROGRAM`]).
//!
//! - The module [`figures`] can be used to create the figures of a paper again, and to compare the
//!   claims of the paper with the results.
//! - The module [`bench`] compares policies on random systems that are drawn from a seed. Other
//!   people can enter policies of their own.
//! - The module [`sweep`] computes the cost of a policy for many switching rates.
//!
//! The verbs simulate for a long time, so the example only asks for the help text of one of them.
//! It is answered in the same way as a command in a shell, but nothing is printed.
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
//! # Where to read next
//!
//! The rules of the benchmark are in `docs/bench.md`. The files `docs/section7.md` and
//! `docs/quickswap.md` show the figures and the findings. The tests in `tests/lab.rs` compute
//! some of the figures.

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
