//! A part of a comparison: what one shard has run, in a file of its own.
//!
//! Its first line is the [`Heading`], with the whole plan; a line a cell follows; the last line says
//! that it is whole. Each line has a check. While its cells run, it is the journal of its shard.

use serde::{Deserialize, Serialize};

use super::document::differing;
use super::{Header, Shard};
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
    /// The name of the format.
    pub const FORMAT: &'static str = "synth-part";
    /// The version of its shape.
    pub const VERSION: u32 = 1;

    /// The heading of this share of a comparison.
    #[must_use]
    pub fn new(comparison: &Header, share: &Share) -> Self {
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
    #[must_use]
    pub fn digest(&self) -> String {
        let plan = Heading {
            shard: 0,
            plan: String::new(),
            ..self.clone()
        };
        // Every field of a plan has a form in JSON.
        digest(&serde_json::to_string(&plan).unwrap_or_default())
    }

    /// What another part says differently, in words: which shard it is of, and its plan.
    pub(super) fn all_differences(&self, here: &Heading) -> Vec<String> {
        let shard = [("shard", self.shard.to_string())];
        let mut all = differing(shard, [("shard", here.shard.to_string())]);
        all.extend(self.differences(here));
        all
    }

    /// What another plan says differently, in words, each with its value there and here. Which shard of
    /// the plan a part is does not count.
    #[must_use]
    pub fn differences(&self, here: &Heading) -> Vec<String> {
        if self.plan == here.plan {
            return Vec::new();
        }
        let facts = |h: &Heading| {
            [
                ("kind", h.kind.clone()),
                ("part's version", h.version.to_string()),
                ("shards", h.shards.to_string()),
                ("workload's file", h.comparison.workload.file.clone()),
                ("text of the workload", digest(&h.document)),
            ]
        };
        let mut differences = differing(facts(self), facts(here));
        differences.extend(self.comparison.differences(&here.comparison));
        if differences.is_empty() {
            differences.push(format!("plan: {} there, {} here", self.plan, here.plan));
        }
        differences
    }

    /// The command that runs a shard of this plan, or what is left of it.
    #[must_use]
    pub fn command(&self, shard: usize, output: &str) -> String {
        format!(
            "{} --shard {shard}/{} --resume --output {}",
            self.comparison.command(),
            self.shards,
            quoted(output)
        )
    }
}

impl Header {
    /// The command that compares the same, with all settings.
    #[must_use]
    pub fn command(&self) -> String {
        let s = &self.settings;
        let names: Vec<&str> = self.policies.iter().map(|p| p.name.as_str()).collect();
        let loads: Vec<String> = self.loads.iter().map(f64::to_string).collect();
        let time = s.time_seconds;
        let time = time.map_or(String::new(), |t| format!(" --time {t}"));
        format!(
            "synth compare --workload {} --policies {} --loads {} --seed {} --replications {} --precision {} --events {}{time}",
            quoted(&self.workload.file),
            quoted(&names.join(",")),
            loads.join(","),
            s.seed,
            s.replications,
            s.precision,
            s.events,
        )
    }
}

/// As a shell takes it.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
