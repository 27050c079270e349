//! What research needs beside the program `synth`: the figures of the papers, recomputed ([`figures`]), a benchmark of
//! systems that are drawn from seeds ([`bench`]), and the cost over the switching rate ([`sweep`]).

pub mod bench;
pub mod figures;
pub mod sweep;

use synth::cli::List;
use synth::kind::Verb;

/// The program `synth-lab`.
pub const PROGRAM: List = List {
    name: "synth-lab",
    about: "The laboratory of synth: the figures of the papers, and a benchmark that others can enter",
    verbs: &[
        Verb::of::<bench::Arguments>("bench"),
        Verb::of::<figures::Arguments>("figures"),
        Verb::of::<sweep::Arguments>("sweep-alpha"),
    ],
};
