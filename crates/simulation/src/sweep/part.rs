//! A part of a comparison: what one shard has run, in a file of its own.
//!
//! Its first line is the [`Heading`], with the whole plan; a line a cell follows; the last line says
//! that it is whole. Each line has a check. While its cells run, it is the journal of its shard.

use serde::{Deserialize, Serialize};

use super::header::{Header, Shard, quoted};
use synth_core::document::digest;

/// What is shared out, and to whom, beside what every comparison says of itself.
#[derive(Clone, Debug)]
pub struct Share {
    /// Which part runs.
    pub shard: Shard,
    /// The kind of workload.
    pub kind: String,
    /// The text of the workload.
    pub document: String,
}

/// The first line of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heading {
    /// The kind of workload.
    pub kind: String,
    /// `synth-part`.
    pub format: String,
    /// Version of the shape of parts.
    pub version: u32,
    /// Which part it is, from 1.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    /// `sha256:…` of all that follows, of the kind and of the number of shards: the same in all parts
    /// of a comparison.
    pub plan: String,
    /// The comparison.
    pub comparison: Header,
    /// The text of the workload: whoever merges needs no other file.
    pub document: String,
}

/// The last line of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// Always true.
    pub complete: bool,
    /// Lines of cells before it.
    pub cells: usize,
}

impl Heading {
    pub(super) const FORMAT: &'static str = "synth-part";
    pub(super) const VERSION: u32 = 1;

    /// The heading of this share of a comparison.
    pub(super) fn new(comparison: &Header, share: &Share) -> Self {
        let mut heading = Heading {
            kind: share.kind.clone(),
            format: Heading::FORMAT.into(),
            version: Heading::VERSION,
            shard: share.shard.number,
            shards: share.shard.of,
            plan: String::new(),
            comparison: comparison.clone(),
            document: share.document.clone(),
        };
        heading.plan = heading.digest();
        heading
    }

    /// What identifies the plan.
    pub(super) fn digest(&self) -> String {
        let plan = Heading {
            shard: 0,
            plan: String::new(),
            ..self.clone()
        };
        // Every field of a plan has a form in JSON.
        digest(&serde_json::to_string(&plan).unwrap_or_default())
    }

    /// The command that runs a shard of this plan, or what is left of it.
    pub(super) fn command(&self, shard: usize, output: &str) -> String {
        format!(
            "{} --shard {shard}/{} --resume --output {}",
            self.comparison.command(),
            self.shards,
            quoted(output)
        )
    }
}
