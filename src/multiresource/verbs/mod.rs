//! The verbs that are specific to multiresource jobs.

pub(super) mod drive;
pub(super) mod export;
pub mod family;
pub(super) mod fit;
pub(super) mod limit;
pub(super) mod made;
pub(super) mod optimum;
mod program;
mod promise;
pub(super) mod replay;
pub mod resolve;
pub mod size;
pub mod solve;
pub(super) mod synthesize;

use crate::kind::{Format, schema_of};
use crate::multiresource::synthesis::SynthesisLog;

pub(crate) const FORMATS: &[Format] = &[
    ("synth-log", schema_of::<SynthesisLog>),
    ("synth-replay", schema_of::<replay::Replays>),
    ("synth-recorded-jobs", schema_of::<replay::Recorded>),
    ("synth-fit", schema_of::<super::fit::Report>),
    ("synth-optimum", schema_of::<super::report::LowerBounds>),
    ("synth-limits", schema_of::<limit::Limits>),
];
