//! This crate contains tools for research, which compute the figures of papers ([`figures`]), run a
//! benchmark on random systems ([`bench`]), and show the cost of each switching rate ([`sweep`]).

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
