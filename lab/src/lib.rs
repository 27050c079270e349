//! Research tools: the figures of papers, recomputed ([`figures`]), a benchmark on random systems
//! ([`bench`]), and the cost over the switching rate ([`sweep`]).

pub mod bench;
pub mod figures;
pub mod sweep;

use synth::cli::List;
use synth::kind::Verb;

/// The program `synth-lab`.
pub const PROGRAM: List = List {
    name: "synth-lab",
    about: "Research tools of synth: figures of papers, and a benchmark of scheduling policies",
    verbs: &[
        Verb::of::<bench::Arguments>("bench"),
        Verb::of::<figures::Arguments>("figures"),
        Verb::of::<sweep::Arguments>("sweep-alpha"),
    ],
};
